//! The gate on real servers: order, two holders at every step, names of all sorts, Cluster.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::time::Duration;

use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use semel_core::{Fence, GateAnswer, GateError, Namespace, StoreErrorKind};
use semel_redis::FenceGate;
use semel_testkit::{RedisCluster, RedisReply, RedisServer};

const RESOURCE: &str = "orders:42";
const TOTAL: &str = "{orders:42}:total";

async fn connect(server: &RedisServer) -> MultiplexedConnection {
    let client = redis::Client::open(server.url()).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

async fn set(connection: &mut MultiplexedConnection, fence: u64) -> GateAnswer {
    let (gate, fence, value) = (FenceGate::new(), Fence::new(fence), fence.to_string());
    gate.set(connection, RESOURCE, fence, TOTAL, value).await.unwrap()
}

async fn total(connection: &mut MultiplexedConnection) -> Option<String> {
    connection.get(TOTAL).await.unwrap()
}

const fn refused(seen: u64) -> GateAnswer {
    GateAnswer::Refused { seen: Fence::new(seen) }
}

fn kind(error: GateError) -> StoreErrorKind {
    let GateError::Store(error) = error else { panic!("{error:?}") };
    error.kind()
}

#[tokio::test]
async fn a_smaller_fence_is_refused_and_an_equal_or_larger_one_passes() {
    let server = RedisServer::start().await.unwrap();
    let mut connection = connect(&server).await;
    let gate = FenceGate::new();
    for (fence, answer) in [
        (0, GateAnswer::Passed),
        (7, GateAnswer::Passed),
        (7, GateAnswer::Passed),
        (9, GateAnswer::Passed),
        (8, refused(9)),
        (1 << 53, GateAnswer::Passed),
        ((1 << 53) + 1, GateAnswer::Passed),
        (1 << 53, refused((1 << 53) + 1)),
        (u64::MAX, GateAnswer::Passed),
        (u64::MAX - 1, refused(u64::MAX)),
        (u64::MAX, GateAnswer::Passed),
    ] {
        let told = gate.check(&mut connection, RESOURCE, Fence::new(fence)).await.unwrap();
        assert_eq!(told, answer, "{fence}");
    }
    let other = gate.check(&mut connection, "another", Fence::new(1)).await.unwrap();
    assert_eq!(other, GateAnswer::Passed);
}

#[tokio::test]
async fn what_is_guarded_is_written_with_a_fence_that_passes_and_untouched_by_one_that_does_not() {
    let server = RedisServer::start().await.unwrap();
    let mut connection = connect(&server).await;
    assert_eq!(set(&mut connection, 8).await, GateAnswer::Passed);
    assert_eq!(set(&mut connection, 7).await, refused(8));
    assert_eq!(total(&mut connection).await.as_deref(), Some("8"));
    let (gate, newer, older) = (FenceGate::new(), Fence::new(9), Fence::new(8));
    let value = b"a\0b\r\n\xff";
    let told = gate.set(&mut connection, RESOURCE, newer, TOTAL, value).await.unwrap();
    assert_eq!(told, GateAnswer::Passed);
    assert_eq!(connection.get::<_, Vec<u8>>(TOTAL).await.unwrap(), value);
    let told = gate.delete(&mut connection, RESOURCE, older, TOTAL).await.unwrap();
    assert_eq!(told, refused(9));
    assert!(connection.exists::<_, bool>(TOTAL).await.unwrap());
    let told = gate.delete(&mut connection, RESOURCE, newer, TOTAL).await.unwrap();
    assert_eq!(told, GateAnswer::Passed);
    assert_eq!(total(&mut connection).await, None);
}

/// One round trip, and two where the server has forgotten its scripts.
#[tokio::test]
async fn a_server_that_forgot_its_scripts_is_told_again() {
    let server = RedisServer::start().await.unwrap();
    let mut connection = connect(&server).await;
    for fence in 1..4 {
        assert_eq!(set(&mut connection, fence).await, GateAnswer::Passed);
        let flushed = server.command(&["SCRIPT", "FLUSH"]).await.unwrap();
        assert_eq!(flushed, RedisReply::Text("OK".into()));
    }
    assert_eq!(set(&mut connection, 2).await, refused(3));
}

#[tokio::test]
async fn names_are_taken_literally_and_those_no_lock_can_have_are_refused() {
    let server = RedisServer::start().await.unwrap();
    let mut connection = connect(&server).await;
    let gate = FenceGate::new();
    let names = [
        "{}", "}{", "{a}b", "a{b", "a}b", "%7B", "%257B", "{", "}", "*", "ключ", "Orders", "orders",
    ];
    for (fence, name) in (1..).zip(names).collect::<Vec<_>>().into_iter().rev() {
        for (fence, due) in [(fence, GateAnswer::Passed), (fence - 1, refused(fence))] {
            let told = gate.check(&mut connection, name, Fence::new(fence)).await.unwrap();
            assert_eq!(told, due, "{name}");
        }
    }
    for name in ["", " ", "a b", "a\0b", "a\nb", &"x".repeat(600)] {
        let error = gate.check(&mut connection, name, Fence::new(1)).await.unwrap_err();
        assert!(matches!(error, GateError::Resource(_)), "{name:?}: {error:?}");
    }
}

#[tokio::test]
async fn what_is_no_fence_under_the_gates_name_is_an_error_and_lets_nothing_pass() {
    let server = RedisServer::start().await.unwrap();
    let mut connection = connect(&server).await;
    let (gate, entry) = (FenceGate::new(), "semel:fence:{orders:42}");
    let most = Fence::new(u64::MAX);
    for bytes in ["", "7", "0000000000000000000x", "-0000000000000000001", "000000000000000000001"]
    {
        connection.set::<_, _, ()>(entry, bytes).await.unwrap();
        let error = gate.set(&mut connection, RESOURCE, most, TOTAL, "x").await.unwrap_err();
        assert_eq!(kind(error), StoreErrorKind::Damaged, "{bytes:?}");
    }
    connection.del::<_, ()>(entry).await.unwrap();
    connection.lpush::<_, _, ()>(entry, "7").await.unwrap();
    let error = gate.set(&mut connection, RESOURCE, most, TOTAL, "x").await.unwrap_err();
    assert_eq!(kind(error), StoreErrorKind::Damaged);
    let own = gate.set(&mut connection, RESOURCE, most, entry, "x").await.unwrap_err();
    assert!(matches!(kind(own), StoreErrorKind::Refused(_)), "its own entry can't be guarded");
    assert_eq!(total(&mut connection).await, None);
}

#[tokio::test]
async fn entries_are_kept_for_good_or_for_as_long_as_was_said_after_the_last_that_passed() {
    let server = RedisServer::start().await.unwrap();
    let mut connection = connect(&server).await;
    assert_eq!(set(&mut connection, 7).await, GateAnswer::Passed);
    assert_eq!(connection.pttl::<_, i64>("semel:fence:{orders:42}").await.unwrap(), -1);
    let shop = FenceGate::in_namespace(&Namespace::new("shop").unwrap());
    let gate = shop.keep(Duration::from_secs(3_600));
    for fence in [7, 7] {
        connection.persist::<_, ()>("shop:fence:{orders:42}").await.unwrap();
        let told = gate.check(&mut connection, RESOURCE, Fence::new(fence)).await.unwrap();
        assert_eq!(told, GateAnswer::Passed);
        let left = connection.pttl::<_, i64>("shop:fence:{orders:42}").await.unwrap();
        assert!((3_500_000..=3_600_000).contains(&left), "{left}");
    }
    for keep in [Duration::ZERO, Duration::MAX] {
        let gate = FenceGate::new().keep(keep);
        let told = gate.check(&mut connection, "edge", Fence::new(1)).await.unwrap();
        assert_eq!(told, GateAnswer::Passed, "{keep:?}");
    }
}

/// A guarded key of the same tag is in the same slot at whichever node; another is refused whole.
#[tokio::test]
async fn in_a_cluster_gate_and_guarded_key_share_a_slot_by_the_tag() {
    let cluster = RedisCluster::start().await.unwrap();
    let mut homes = [0; 3];
    for number in 0..24 {
        let resource = format!("r{{{number}}}");
        let tag = FenceGate::tag(&resource).unwrap();
        let slot = cluster.nodes[0].command(&["CLUSTER", "KEYSLOT", &tag]).await.unwrap();
        let home = RedisCluster::home_of(u16::try_from(slot.number().unwrap()).unwrap());
        homes[home] += 1;
        let mut connection = connect(&cluster.nodes[home]).await;
        let (gate, guarded) = (FenceGate::new(), format!("{tag}:total"));
        for (fence, due) in [(8, GateAnswer::Passed), (7, refused(8))] {
            let (fence, value) = (Fence::new(fence), fence.to_string());
            let told = gate.set(&mut connection, &resource, fence, &guarded, value).await;
            assert_eq!(told.unwrap(), due, "{resource}");
        }
        assert_eq!(connection.get::<_, String>(&guarded).await.unwrap(), "8");
        let fence = Fence::new(9);
        gate.set(&mut connection, &resource, fence, "elsewhere", "9").await.unwrap_err();
        let told = gate.check(&mut connection, &resource, Fence::new(8)).await.unwrap();
        assert_eq!(told, GateAnswer::Passed, "what was refused is not remembered");
    }
    assert!(homes.iter().all(|count| *count > 0), "{homes:?}");
}

/// The same by the driver's own client of Clusters, which finds the node by the keys of a command.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_drivers_own_client_of_clusters_finds_the_node_of_each_gate() {
    let cluster = RedisCluster::start().await.unwrap();
    let urls: Vec<String> = cluster.nodes.iter().map(RedisServer::url).collect();
    let client = redis::cluster::ClusterClient::new(urls).unwrap();
    let mut connection = client.get_async_connection().await.unwrap();
    let gate = FenceGate::new();
    for number in 0..24 {
        let resource = format!("r{{{number}}}");
        let guarded = format!("{}:total", FenceGate::tag(&resource).unwrap());
        for (fence, due) in [(8, GateAnswer::Passed), (7, refused(8)), (9, GateAnswer::Passed)] {
            if number % 5 == 0 {
                for node in &cluster.nodes {
                    node.command(&["SCRIPT", "FLUSH"]).await.unwrap();
                }
            }
            let (fence, value) = (Fence::new(fence), fence.to_string());
            let told = gate.set(&mut connection, &resource, fence, &guarded, value).await;
            assert_eq!(told.unwrap(), due, "{resource}, {fence}");
        }
        assert_eq!(connection.get::<_, String>(&guarded).await.unwrap(), "9");
        let late = gate.delete(&mut connection, &resource, Fence::new(8), &guarded).await;
        assert_eq!(late.unwrap(), refused(9));
        // Two slots in one step: refused whole, by the client or by the node.
        let fence = Fence::new(10);
        gate.set(&mut connection, &resource, fence, "elsewhere", "10").await.unwrap_err();
        let told = gate.check(&mut connection, &resource, Fence::new(9)).await.unwrap();
        assert_eq!(told, GateAnswer::Passed, "what was refused is not remembered");
    }
    // It was there, and not by chance at one node only.
    for node in &cluster.nodes {
        let names = node.command(&["KEYS", "semel:fence:*"]).await.unwrap();
        assert!(matches!(names, RedisReply::Many(names) if !names.is_empty()));
    }
}

/// HZ-10: two holders that look, think and write: however their steps fall, the older one's value
/// never stands after the newer one has looked.
#[tokio::test]
async fn hz10_two_holders_interleaved_at_every_step_never_land_in_the_wrong_order() {
    let server = RedisServer::start().await.unwrap();
    let (mut older, mut newer) = (connect(&server).await, connect(&server).await);
    let mut refusals = 0;
    let orders = (0_u32..1 << 4).filter(|bits| bits.count_ones() == 2);
    for bits in orders {
        server.command(&["FLUSHALL"]).await.unwrap();
        let mut steps = [0, 0];
        let mut newer_looked = false;
        for at in 0..4 {
            let is_older = bits >> at & 1 == 1;
            let (connection, fence, step) = if is_older {
                (&mut older, 7, &mut steps[0])
            } else {
                (&mut newer, 8, &mut steps[1])
            };
            *step += 1;
            let told = if *step == 1 {
                let gate = FenceGate::new();
                gate.check(connection, RESOURCE, Fence::new(fence)).await.unwrap()
            } else {
                set(connection, fence).await
            };
            let due = if is_older && newer_looked { refused(8) } else { GateAnswer::Passed };
            assert_eq!(told, due, "{bits:04b}");
            newer_looked |= !is_older;
            refusals += u32::from(told != GateAnswer::Passed);
        }
        assert_eq!(total(&mut newer).await.as_deref(), Some("8"), "{bits:04b}");
    }
    assert!(refusals > 0, "nobody came late, and this shows nothing");
}
