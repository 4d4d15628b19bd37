//! What the preflight says of real servers.

use semel_core::FindingLevel;
use semel_redis::Check;
use semel_testkit::{AppendFsync, RedisCluster, RedisSentinel, RedisServer};

use crate::support::{hasty, open, patient};

fn level(report: &semel_core::Preflight, check: Check) -> FindingLevel {
    let found = report.findings().iter().find(|finding| finding.subject == check.name());
    found.unwrap_or_else(|| panic!("nothing about {check}: {report}")).level
}

#[tokio::test]
async fn a_durable_server_that_is_bounded_leaves_nothing_to_be_wished_for() {
    let server = RedisServer::builder().append_only(AppendFsync::Always).set("maxmemory", "100mb");
    let server = server.start().await.expect("a server");
    let report = patient(&server.url()).examine().await.expect("a report");
    assert_eq!(report.verdict(), FindingLevel::Fine, "{report}");
    assert!(report.store().contains(&server.address().to_string()), "{}", report.store());
}

#[tokio::test]
async fn what_a_server_does_not_promise_is_a_warning() {
    let server = RedisServer::builder().append_only(AppendFsync::EverySecond);
    let server = server.start().await.expect("a server");
    let report = open(patient(&server.url())).await.preflight().await.expect("a report");
    assert_eq!(level(&report, Check::Persistence), FindingLevel::Warning);
    assert_eq!(level(&report, Check::Memory), FindingLevel::Warning);
    assert_eq!(level(&report, Check::Scripts), FindingLevel::Fine);
    assert_eq!(report.verdict(), FindingLevel::Warning);
}

#[tokio::test]
async fn replicas_that_acknowledge_nothing_are_a_warning_and_all_that_do_are_fine() {
    let group = RedisSentinel::start(1).await.expect("servers");
    let report = patient(&group.url()).examine().await.expect("a report");
    assert_eq!(level(&report, Check::Replicas), FindingLevel::Warning);
    let report = patient(&format!("{}?ack=all", group.url())).examine().await.expect("a report");
    assert_eq!(level(&report, Check::Replicas), FindingLevel::Fine);
    let report = hasty(&format!("{}?ack=2", group.url())).examine().await.expect("a report");
    assert_eq!(level(&report, Check::Replicas), FindingLevel::Refused);
}

#[tokio::test]
async fn every_primary_of_a_cluster_is_looked_at() {
    let cluster = RedisCluster::start().await.expect("servers");
    let report = patient(&cluster.url()).examine().await.expect("a report");
    for node in &cluster.nodes {
        assert!(report.store().contains(&node.address().to_string()), "{}", report.store());
    }
    cluster.nodes[2].command(&["CONFIG", "SET", "maxmemory", "9mb"]).await.expect("a setting");
    cluster.nodes[2]
        .command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"])
        .await
        .expect("a setting");
    let refused = hasty(&cluster.url()).open().await.expect_err("one that evicts is enough");
    assert!(refused.to_string().contains(&cluster.nodes[2].address().to_string()), "{refused}");
}
