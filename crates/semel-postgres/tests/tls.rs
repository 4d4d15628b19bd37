//! Encryption: who is trusted under which `sslmode`, and that nothing falls back.

mod support;

use semel_core::{FindingLevel, Refusal};
use semel_postgres::PostgresStore;
use semel_testkit::{Certificates, PostgresServer};
use support::*;

struct Encrypted {
    server: PostgresServer,
    certificates: Certificates,
}

/// A server whose certificate is for 127.0.0.1 and no other name.
async fn encrypted() -> Encrypted {
    let certificates = Certificates::make().expect("certificates");
    let server = PostgresServer::builder().tls(&certificates).start().await.expect("a server");
    server.sql("CREATE ROLE app LOGIN SUPERUSER").await.expect("a role");
    Encrypted { server, certificates }
}

impl Encrypted {
    fn url(&self, host: &str, options: &str) -> String {
        let root = self.certificates.authority();
        let options = options.replace("ROOT", &root.display().to_string().replace('/', "%2F"));
        format!("postgres://app@{host}:{}/postgres?{options}", self.server.port())
    }

    /// What the preflight says about encryption; none when there is no connection.
    async fn found(&self, host: &str, options: &str) -> Option<(FindingLevel, String)> {
        let store = PostgresStore::open(&self.url(host, options)).await.ok()?;
        win(&store, "a", semel_core::Expect::Any, put("v")).await;
        let mut findings = store.preflight().findings().iter();
        let finding = findings.find(|finding| finding.subject == "encryption")?;
        Some((finding.level, finding.found.clone()))
    }
}

#[tokio::test]
async fn each_mode_trusts_whom_it_says() {
    let encrypted = encrypted().await;
    let fine = |found: &Option<(FindingLevel, String)>| {
        found.as_ref().is_some_and(|(level, _)| *level == FindingLevel::Fine)
    };
    // The right host, by an authority that is named.
    for options in ["sslmode=verify-full&sslrootcert=ROOT", "sslmode=verify-ca&sslrootcert=ROOT"] {
        let found = encrypted.found("127.0.0.1", options).await;
        assert!(fine(&found), "{options}: {found:?}");
    }
    // Encrypted, whoever it is: that is told.
    for options in ["sslmode=require", "sslmode=prefer", ""] {
        let found = encrypted.found("127.0.0.1", options).await;
        let (level, found) = found.expect(options);
        assert_eq!(level, FindingLevel::Warning, "{options}: {found}");
        assert!(found.contains("in between"), "{options}: {found}");
    }
    // By another name, and by an authority that is not trusted.
    assert_eq!(encrypted.found("localhost", "sslmode=verify-full&sslrootcert=ROOT").await, None);
    assert!(fine(&encrypted.found("localhost", "sslmode=verify-ca&sslrootcert=ROOT").await));
    let (stranger, _) = encrypted.certificates.of("client");
    let stranger = stranger.display().to_string().replace('/', "%2F");
    for mode in ["verify-full", "verify-ca", "require"] {
        let options = format!("sslmode={mode}&sslrootcert={stranger}");
        assert_eq!(encrypted.found("127.0.0.1", &options).await, None, "{mode}");
    }
    // The server lets nobody but the superuser in without.
    assert_eq!(encrypted.found("127.0.0.1", "sslmode=disable").await, None);
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_not_used_without_it() {
    let server = server().await;
    for mode in ["require", "verify-ca", "verify-full"] {
        let url =
            format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode={mode}", server.port());
        let error = PostgresStore::open(&url).await.expect_err("it must be refused");
        assert_eq!(error.kind(), refused(Refusal::Unusable), "{mode}: {error}");
    }
}

#[tokio::test]
async fn a_file_of_authorities_that_is_none_is_refused_by_its_name() {
    for file in ["%2Fno%2Fsuch%2Ffile.pem", "%2Fetc%2Fpasswd"] {
        let url = format!("postgres://db/x?sslmode=verify-full&sslrootcert={file}");
        let error = PostgresStore::open(&url).await.expect_err("it must be refused");
        assert_eq!(error.kind(), refused(Refusal::Unusable), "{error}");
        assert!(error.message().contains("sslrootcert"), "{error}");
    }
}
