//! The harness itself, against a real broker.

use std::net::TcpStream;
use std::path::Path;

use super::RabbitServer;

fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn two_brokers_run_at_once_and_are_gone_when_dropped() {
    let (one, two) = tokio::join!(RabbitServer::launch(), RabbitServer::launch());
    let (one, two) = (one.expect("a broker"), two.expect("a second one"));
    assert_ne!(one.port(), two.port());
    let (pid, directory) = (one.pid().expect("it runs"), one.directory().to_owned());
    let port = one.port();
    drop(one);
    assert!(!is_there(pid) && !directory.exists(), "neither process nor data may be left");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "nobody listens any more");
    assert!(is_there(two.pid().expect("it runs")), "the other one goes on");
}

#[tokio::test]
async fn a_broker_starts_again_after_a_stop_and_after_a_kill() {
    let mut broker = RabbitServer::launch().await.expect("a broker");
    let port = broker.port();
    broker.kill();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "it is gone");
    broker.start().await.expect("it must start on what is there");
    broker.stop().await.expect("it must stop");
    assert!(broker.pid().is_none());
    broker.start().await.expect("it must start on what is there");
    assert_eq!(broker.port(), port);
}
