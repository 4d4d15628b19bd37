//! The harness itself, against a real server.

use std::time::Duration;

use super::PostgresServer;
use super::processes::{are_gone, children, exists};
use crate::time::within;

#[tokio::test]
async fn a_server_takes_sql_and_is_gone_when_dropped() {
    let server = PostgresServer::launch().await.expect("a server");
    assert_eq!(server.sql("SELECT 6 * 7, 'x'").await.expect("an answer"), "42|x");
    let wrong = server.sql("SELECT nonsense").await.expect_err("it must be refused").to_string();
    assert!(wrong.contains("nonsense"), "{wrong}");
    let (data, pid) = (server.data(), server.pid().expect("it runs"));
    let backends = children(pid);
    assert!(!backends.is_empty(), "it is several processes");
    drop(server);
    assert!(!exists(pid) && !data.exists(), "neither process nor data may be left");
    let gone = crate::eventually(Duration::from_secs(10), "the end of the others", || {
        let gone = are_gone(&backends);
        async move { gone.then_some(()) }
    });
    gone.await.expect("they must go too");
}

#[tokio::test]
async fn what_a_killed_server_acknowledged_is_there_when_it_starts_again() {
    let mut server = PostgresServer::builder().setting("log_statement", "all").start().await;
    let server = server.as_mut().expect("a server");
    server.sql("CREATE TABLE t AS SELECT 7 AS n").await.expect("a table");
    for round in 0..3 {
        server.kill().await.expect("its end");
        assert!(server.sql("SELECT 1").await.is_err(), "round {round}: nobody may answer");
        server.start().await.expect("it must start on what is there");
        assert_eq!(server.sql("SELECT n FROM t").await.expect("an answer"), "7");
    }
    server.restart().await.expect("a stop and a start");
    assert_eq!(server.sql("SELECT n FROM t").await.expect("an answer"), "7");
    assert!(server.log().contains("SELECT n FROM t"), "settings outlive a restart");
}

#[tokio::test]
async fn a_halted_server_answers_once_it_goes_on() {
    let mut server = PostgresServer::launch().await.expect("a server");
    server.pause().expect("it must halt");
    let late = within(Duration::from_millis(300), "an answer", server.sql("SELECT 1")).await;
    assert!(late.is_err(), "a halted server must not answer");
    server.resume().expect("it must go on");
    assert_eq!(server.sql("SELECT 1").await.expect("an answer"), "1");
}

#[tokio::test]
async fn a_standby_reads_and_does_not_write() {
    let server = PostgresServer::builder().standby().start().await.expect("a server");
    assert_eq!(server.sql("SELECT pg_is_in_recovery()").await.expect("an answer"), "t");
    server.sql("CREATE TABLE t (n int)").await.expect_err("it must refuse to write");
    server.sql("SELECT pg_promote()").await.expect("it becomes a primary");
    server.sql("CREATE TABLE t (n int)").await.expect("a primary writes");
}

#[tokio::test]
async fn a_setting_that_the_server_does_not_know_is_shown_with_its_log() {
    let error = PostgresServer::builder().setting("no_such_setting", 1).start().await;
    let error = error.expect_err("it must not start").to_string();
    assert!(error.contains("no_such_setting"), "{error}");
}
