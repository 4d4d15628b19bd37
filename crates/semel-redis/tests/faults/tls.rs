//! Connections with TLS: `rediss://`.

use std::path::Path;

use semel_core::StoreErrorKind;
use semel_testkit::{Certificates, RedisServer};

use crate::support::{claim, hasty, key, kind, lost, open, patient, won};

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
