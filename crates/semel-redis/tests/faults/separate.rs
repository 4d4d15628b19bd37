//! What shares a server and must not meet: namespaces, databases, other programs.

use semel_core::{Namespace, Store};
use semel_testkit::{AppendFsync, RedisServer};

use crate::support::{claim, key, lost, open, patient, value, won};

#[tokio::test]
async fn namespaces_share_a_server_and_no_entries() {
    let server = RedisServer::start().await.expect("a server");
    let named =
        |name: &str| patient(&server.url()).namespace(Namespace::new(name).expect("a name"));
    let (first, second) = (open(named("first")).await, open(named("second")).await);
    won(claim(&first, &key("k"), "first").await);
    won(claim(&second, &key("k"), "second").await);
    assert_eq!(value(&first, &key("k")).await.expect("it is there"), "first");
    let page = first.scan("", None, 10).await.expect("a listing");
    assert_eq!(page.entries.len(), 1, "only its own are listed");
}

/// F-112: a connection that is made again is in the same database.
#[tokio::test]
async fn a_database_stays_the_same_through_a_reconnect() {
    let server = RedisServer::builder().append_only(AppendFsync::Always);
    let mut server = server.start().await.expect("a server");
    let store = open(patient(&format!("{}3", server.url()))).await;
    won(claim(&store, &key("k"), "third").await);
    let zero = open(patient(&server.url())).await;
    won(claim(&zero, &key("k"), "zeroth").await);
    server.restart().await.expect("a restart");
    assert_eq!(lost(claim(&store, &key("k"), "x").await).value, "third");
    assert_eq!(lost(claim(&zero, &key("k"), "x").await).value, "zeroth");
}

#[tokio::test]
async fn names_of_other_programs_are_neither_listed_nor_touched() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    won(claim(&store, &key("k"), "v").await);
    let others = ["semel:{000}:", "semel:{zzz}:k", "semel:other", "semel:{000}: b", "\u{fffd}"];
    for name in others {
        server.command(&["SET", name, "theirs"]).await.expect("a write");
    }
    let page = store.scan("", None, 10).await.expect("a listing");
    assert_eq!(page.entries.len(), 1);
    for name in others {
        let theirs = server.command(&["GET", name]).await.expect("a read");
        assert_eq!(theirs.text(), Some("theirs"), "{name}");
    }
}
