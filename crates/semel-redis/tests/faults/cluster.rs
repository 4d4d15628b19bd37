//! Slots that move, nodes that die: F-109.

use std::collections::HashMap;

use semel_core::{Expect, Key, Store, StoreErrorKind};
use semel_redis::RedisStore;
use semel_testkit::{RedisCluster, RedisReply, RedisServer};

use crate::support::{
    LIMIT, claim, hasty, key, kind, lasting, lost, millis, open, patient, recovered, value, won,
};

/// A key at this primary, and its slot.
pub(crate) async fn key_at(cluster: &RedisCluster, home: usize) -> (Key, u16) {
    for number in 0.. {
        let key = key(&format!("k{number}"));
        // The tag that the store gives it: an index of the key's own checksum.
        let tag = format!("{{{:03x}}}", crc16(key.as_str().as_bytes()) % 2048);
        let slot = cluster.nodes[0].command(&["CLUSTER", "KEYSLOT", &tag]).await.expect("a slot");
        let slot = u16::try_from(slot.number().expect("a number")).expect("a slot");
        if RedisCluster::home_of(slot) == home {
            return (key, slot);
        }
    }
    unreachable!("every primary has keys")
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc: u16, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_moves_is_followed_at_every_step() {
    let cluster = RedisCluster::start().await.expect("servers");
    let store = open(patient(&cluster.url())).await;
    let (key, slot) = key_at(&cluster, 1).await;
    let mut last = won(claim(&store, &key, "0").await);
    let next = async |last: semel_core::Stamp, value: &'static str| {
        let stamp = won(store.swap(&key, Expect::Version(last.version), lasting(value)).await);
        assert!(stamp.version > last.version, "versions rise wherever the slot is");
        stamp
    };
    cluster.begin_move(slot, 1, 2).await.expect("a move");
    last = next(last, "1: both keys still at home").await;
    cluster.move_keys(slot, 1, 2).await.expect("a move");
    last = next(last, "2: asked for where they went").await;
    assert_eq!(value(&store, &key).await.expect("it is there"), "2: asked for where they went");
    cluster.end_move(slot, 2).await.expect("a move");
    last = next(last, "3: moved").await;
    assert_eq!(lost(claim(&store, &key, "x").await).version, last.version);
    assert_eq!(store.stats().losses, 0, "a move is no loss");
}

/// The counter has moved and the entry has not: the nodes say TRYAGAIN until both have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_half_moved_is_waited_for_and_nothing_is_applied_meanwhile() {
    let cluster = RedisCluster::start().await.expect("servers");
    let (store, impatient) =
        (open(patient(&cluster.url())).await, open(hasty(&cluster.url())).await);
    let (key, slot) = key_at(&cluster, 1).await;
    let first = won(claim(&store, &key, "first").await);
    cluster.begin_move(slot, 1, 2).await.expect("a move");
    let names =
        cluster.nodes[1].command(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "9"]).await;
    let RedisReply::Many(names) = names.expect("names") else { panic!("no names") };
    let counter = names.iter().filter_map(RedisReply::text).find(|name| name.ends_with('}'));
    let port = cluster.nodes[2].address().port().to_string();
    let migrate = ["MIGRATE", "127.0.0.1", &port, counter.expect("a counter"), "0", "5000"];
    cluster.nodes[1].command(&migrate).await.expect("a move");
    let swap = impatient.swap(&key, Expect::Version(first.version), lasting("early")).await;
    assert_eq!(kind(swap), StoreErrorKind::NotApplied, "half of it can't be worked on");
    let waiting = {
        let (store, key) = (store.clone(), key.clone());
        tokio::spawn(async move {
            store.swap(&key, Expect::Version(first.version), lasting("second")).await
        })
    };
    semel_testkit::pass(millis(50)).await;
    cluster.move_keys(slot, 1, 2).await.expect("a move");
    cluster.end_move(slot, 2).await.expect("a move");
    won(waiting.await.expect("a task"));
    assert_eq!(value(&store, &key).await.expect("it is there"), "second");
}

async fn spread(store: &RedisStore, cluster: &RedisCluster) -> HashMap<usize, Key> {
    let mut keys = HashMap::new();
    for home in 0..3 {
        let (key, _) = key_at(cluster, home).await;
        won(claim(store, &key, "first").await);
        keys.insert(home, key);
    }
    keys
}

/// A primary dies and its replica takes over: its shards are waited for, the others go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loss_of_a_primary_concerns_its_shards_only_and_they_come_back() {
    let setup = RedisServer::builder().set("cluster-require-full-coverage", "no");
    let mut cluster = RedisCluster::start_with(true, setup).await.expect("servers");
    let store = open(patient(&cluster.url())).await;
    let keys = spread(&store, &cluster).await;
    cluster.in_step().await.expect("replicas in step");
    cluster.nodes[1].kill();
    for home in [0, 2] {
        assert_eq!(lost(claim(&store, &keys[&home], "second").await).value, "first");
    }
    // This one waits for the fail-over. It may have been on the wire when the node died.
    let waited = semel_testkit::eventually(LIMIT, "the shards of the lost primary", || async {
        claim(&store, &keys[&1], "second").await.ok()
    });
    assert_eq!(lost(Ok(waited.await.expect("it must come back"))).value, "first");
    assert_eq!(cluster.promoted(1).await.expect("a fail-over"), 4);
}

/// Without a replica the cluster is down: every call says so, and nothing is applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_is_down_applies_nothing_and_comes_back() {
    let mut cluster = RedisCluster::start().await.expect("servers");
    let store = open(hasty(&cluster.url())).await;
    let keys = spread(&store, &cluster).await;
    cluster.nodes[2].kill();
    semel_testkit::eventually(LIMIT, "a cluster that is down", || async {
        let info = cluster.nodes[0].command(&["CLUSTER", "INFO"]).await.ok()?;
        info.text()?.contains("cluster_state:fail").then_some(())
    })
    .await
    .expect("it must go down");
    for home in 0..3 {
        let swap = claim(&store, &keys[&home], "second").await;
        assert_eq!(kind(swap), StoreErrorKind::NotApplied, "of primary {home}");
    }
    cluster.nodes[2].restart().await.expect("a restart");
    cluster.healthy().await.expect("a cluster that is up");
    recovered(&store).await;
    for home in 0..2 {
        assert_eq!(lost(claim(&store, &keys[&home], "second").await).value, "first");
    }
}

#[tokio::test]
async fn a_single_server_is_no_cluster() {
    let server = RedisServer::start().await.expect("a server");
    let url = format!("redis-cluster://{}", server.address());
    let refused = hasty(&url).open().await.expect_err("it must be refused");
    assert!(!refused.to_string().is_empty());
}
