//! Connections with TLS: `rediss://`.

use std::path::Path;

use semel_core::StoreErrorKind;
use semel_testkit::{Certificates, RedisCluster, RedisReply, RedisServer};

use crate::support::{LIMIT, claim, hasty, key, kind, lost, open, patient, won};

fn parameter(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

struct WithTls {
    server: RedisServer,
    certificates: Certificates,
}

impl WithTls {
    async fn start(asks_clients: bool) -> Self {
        let certificates = Certificates::make().expect("certificates");
        let server = RedisServer::builder().tls(&certificates, asks_clients).password("s3cret");
        Self { server: server.start().await.expect("a server"), certificates }
    }

    fn url(&self, host: &str, authority: &Path) -> String {
        let port = self.server.tls_address().expect("a port").port();
        format!("rediss://:s3cret@{host}:{port}?{}", parameter("tls_ca", authority))
    }
}

#[tokio::test]
async fn a_server_is_trusted_by_its_authority_and_its_name() {
    let it = WithTls::start(false).await;
    let authority = it.certificates.authority();
    let store = open(patient(&it.url("127.0.0.1", &authority))).await;
    won(claim(&store, &key("k"), "v").await);
    lost(claim(&store, &key("k"), "w").await);
    // Another authority, another name, or no trust but the system's.
    let other = Certificates::make().expect("certificates");
    let plain = format!("rediss://127.0.0.1:{}", it.server.tls_address().expect("a port").port());
    for url in [it.url("127.0.0.1", &other.authority()), it.url("localhost", &authority), plain] {
        let refused = hasty(&url).open().await.expect_err("it must be refused");
        assert_eq!(refused.kind(), StoreErrorKind::NotApplied, "{refused}");
        assert!(refused.to_string().contains("certificate"), "{refused}");
        assert!(!refused.to_string().contains("s3cret"), "{refused}");
    }
}

#[tokio::test]
async fn a_server_may_ask_for_a_certificate_of_ours() {
    let it = WithTls::start(true).await;
    let without = it.url("127.0.0.1", &it.certificates.authority());
    assert_eq!(kind(hasty(&without).open().await), StoreErrorKind::NotApplied);
    let (certificate, own_key) = it.certificates.of("client");
    let (certificate, own_key) =
        (parameter("tls_cert", &certificate), parameter("tls_key", &own_key));
    let store = open(patient(&format!("{without}&{certificate}&{own_key}"))).await;
    won(claim(&store, &key("k"), "v").await);
    let refused = kind(hasty(&format!("{without}&{certificate}")).open().await);
    assert!(matches!(refused, StoreErrorKind::Refused(_)), "{refused:?}");
}

/// Neither side goes on in the clear with one that does not.
#[tokio::test]
async fn there_is_no_falling_back_to_a_connection_in_the_clear() {
    let it = WithTls::start(false).await;
    let tls_port = it.server.tls_address().expect("a port").port();
    let plain = format!("redis://:s3cret@127.0.0.1:{tls_port}");
    assert_eq!(kind(hasty(&plain).open().await), StoreErrorKind::NotApplied);
    let authority = parameter("tls_ca", &it.certificates.authority());
    let secure = format!("rediss://:s3cret@{}?{authority}", it.server.address());
    assert_eq!(kind(hasty(&secure).open().await), StoreErrorKind::NotApplied);
}

/// S-70: nodes that are discovered are held to the same as the one that was named. One of them comes
/// up with another authority's certificate: nothing is told to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_of_a_cluster_is_trusted_by_the_same_authority() {
    let (ours, other) = (Certificates::make().expect("some"), Certificates::make().expect("more"));
    let setup = RedisServer::builder().tls(&ours, false).password("s3cret");
    let cluster = RedisCluster::start_with(false, setup).await.expect("servers");
    let port = cluster.nodes[0].tls_address().expect("a port").port();
    let url = format!("redis-cluster://:s3cret@127.0.0.1:{port}?tls=true");
    let url = format!("{url}&{}", parameter("tls_ca", &ours.authority()));
    let store = open(patient(&url)).await;
    for number in 0..20 {
        won(claim(&store, &key(&format!("k:{number}")), "v").await);
    }
    let size = async |node: &RedisServer| node.command(&["DBSIZE"]).await.expect("a number");
    let mut sizes = Vec::new();
    for node in &cluster.nodes {
        sizes.push(size(node).await);
    }
    assert!(!sizes.contains(&RedisReply::Number(0)), "each node has some: {sizes:?}");

    let rogue = &cluster.nodes[2];
    let (certificate, own_key) = other.of("server");
    let (certificate, own_key) = (certificate.to_string_lossy(), own_key.to_string_lossy());
    let change = ["CONFIG", "SET", "tls-cert-file", &certificate, "tls-key-file", &own_key];
    rogue.command(&change).await.expect("a setting");
    drop(store);
    let refused = semel_testkit::within(LIMIT, "an answer", hasty(&url).open()).await;
    match refused.expect("in time") {
        Err(refused) => assert_eq!(refused.kind(), StoreErrorKind::NotApplied, "{refused}"),
        Ok(store) => {
            let mut refusals = 0;
            for number in 20..60 {
                let claimed = claim(&store, &key(&format!("k:{number}")), "v").await;
                refusals += usize::from(claimed.is_err());
            }
            assert!(refusals > 5, "{refusals} of 40");
        }
    }
    assert_eq!(size(rogue).await, sizes[2], "it was told something");
}
