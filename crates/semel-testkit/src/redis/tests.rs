//! The harness itself: a fault that does not happen proves nothing.

use std::time::Duration;

use super::{AppendFsync, RedisCluster, RedisReply, RedisSentinel, RedisServer};
use crate::time::within;

async fn set(server: &RedisServer, value: &str) {
    server.command(&["SET", "k", value]).await.expect("a write");
}

async fn get(server: &RedisServer) -> RedisReply {
    server.command(&["GET", "k"]).await.expect("a read")
}

fn text(text: &str) -> RedisReply {
    RedisReply::Text(text.to_owned())
}

#[tokio::test]
async fn a_restart_finds_what_is_on_the_disk_and_nothing_else() {
    let durable = RedisServer::builder().append_only(AppendFsync::Always);
    let mut durable = durable.start().await.expect("a server");
    let mut forgetful = RedisServer::start().await.expect("a server");
    for server in [&mut durable, &mut forgetful] {
        set(server, "v").await;
        server.restart().await.expect("a restart");
    }
    assert_eq!(get(&durable).await, text("v"));
    assert_eq!(get(&forgetful).await, RedisReply::Nil);
    durable.restart_empty().await.expect("a restart");
    assert_eq!(get(&durable).await, RedisReply::Nil);
}

#[tokio::test]
async fn a_paused_server_answers_nobody_until_it_goes_on() {
    let mut server = RedisServer::start().await.expect("a server");
    server.pause().expect("a pause");
    let asked = within(Duration::from_millis(100), "nothing", server.command(&["PING"])).await;
    assert!(asked.is_err(), "it must not answer");
    server.resume().expect("an end of the pause");
    assert_eq!(server.command(&["PING"]).await.expect("an answer"), text("PONG"));
}

#[tokio::test]
async fn a_password_is_asked_for() {
    let server = RedisServer::builder().password("s3cret").start().await.expect("a server");
    set(&server, "v").await;
    assert!(server.url().contains("s3cret"));
    assert!(server.calls("set").await.expect("a count") >= 1);
}

#[tokio::test]
async fn a_sentinel_promotes_the_replica_of_a_killed_primary() {
    let mut group = RedisSentinel::start(1).await.expect("servers");
    set(&group.nodes[0], "v").await;
    group.in_step(0).await.expect("a replica in step");
    group.nodes[0].kill();
    let promoted = group.promoted(0).await.expect("a fail-over");
    assert_eq!(get(&group.nodes[promoted]).await, text("v"));
}

#[tokio::test]
async fn a_cluster_shares_its_slots_and_moves_them() {
    let cluster = RedisCluster::start().await.expect("servers");
    // The slot of `foo` is 12182.
    let (slot, home) = (12_182, RedisCluster::home_of(12_182));
    let nodes = &cluster.nodes;
    nodes[home].command(&["SET", "foo", "bar"]).await.expect("a write at home");
    nodes[0].command(&["SET", "foo", "bar"]).await.expect_err("elsewhere it has moved");
    cluster.begin_move(slot, home, 0).await.expect("a move");
    cluster.move_keys(slot, home, 0).await.expect("a move");
    cluster.end_move(slot, 0).await.expect("a move");
    assert_eq!(nodes[0].command(&["GET", "foo"]).await.expect("a read"), text("bar"));
}

#[tokio::test]
async fn a_replica_in_a_cluster_takes_over() {
    let mut cluster =
        RedisCluster::start_with(true, RedisServer::builder()).await.expect("servers");
    cluster.nodes[1].kill();
    assert_eq!(cluster.promoted(1).await.expect("a fail-over"), 4);
}
