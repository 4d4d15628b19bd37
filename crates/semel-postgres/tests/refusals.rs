//! What a store is refused for, and that the refusal says why and gives nothing away.

mod support;

use semel_core::{Expect, FindingLevel, Refusal, Store, StoreErrorKind, Swap};
use semel_postgres::{Migrations, PostgresStore};
use semel_testkit::PostgresServer;
use support::*;

const SECRET: &str = "s3cr3t-w0rd";

async fn refusal(url: &str) -> semel_core::StoreError {
    PostgresStore::open(url).await.expect_err("it must be refused")
}

/// A server that asks for passwords, with a role `app` that has one.
async fn locked_server() -> PostgresServer {
    let server = server().await;
    let make = format!("CREATE ROLE app LOGIN PASSWORD '{SECRET}'");
    server.sql(&make).await.expect("a role");
    let rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    std::fs::write(server.data().join("pg_hba.conf"), rules).expect("rules");
    server.sql("SELECT pg_reload_conf()").await.expect("a reload");
    server
}

fn url_as(server: &PostgresServer, who: &str, database: &str) -> String {
    format!("postgres://{who}@127.0.0.1:{}/{database}?sslmode=disable", server.port())
}

/// F-131.
#[tokio::test]
async fn a_standby_is_refused() {
    let server = PostgresServer::builder().standby().start().await.expect("a server");
    let error = refusal(&server.url()).await;
    assert_eq!(error.kind(), refused(Refusal::Unusable), "{error}");
    assert!(error.message().contains("standby"), "{error}");
}

#[tokio::test]
async fn wrong_or_missing_credentials_are_refused_and_not_repeated() {
    let server = locked_server().await;
    for who in [format!("app:not-{SECRET}"), "app".to_owned(), format!("nobody:{SECRET}")] {
        let error = refusal(&url_as(&server, &who, "postgres")).await;
        assert_eq!(error.kind(), refused(Refusal::Credentials), "{error}");
        assert!(!all_of(&error).contains(SECRET), "{}", all_of(&error));
    }
    let right = url_as(&server, &format!("app:{SECRET}"), "no_such_database");
    let error = refusal(&right).await;
    assert_eq!(error.kind(), refused(Refusal::Unusable), "{error}");
    assert!(!all_of(&error).contains(SECRET), "{}", all_of(&error));
}

/// Credentials that change while the store is open.
#[tokio::test]
async fn a_password_that_became_wrong_is_told_as_such() {
    let server = locked_server().await;
    server.sql("GRANT CREATE ON DATABASE postgres TO app").await.expect("a grant");
    let store = PostgresStore::open(&url_as(&server, &format!("app:{SECRET}"), "postgres")).await;
    let store = store.expect("a store");
    win(&store, "before", Expect::Absent, put("v")).await;
    server.sql("ALTER ROLE app PASSWORD 'another'").await.expect("a change");
    let end = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity \
               WHERE usename = 'app'";
    server.sql(end).await.expect("an answer");
    semel_testkit::eventually(PATIENCE, "the refusal", || async {
        let error = claim(&store, "after").await.err()?;
        assert!(!all_of(&error).contains(SECRET), "{}", all_of(&error));
        (error.kind() == refused(Refusal::Credentials)).then_some(())
    })
    .await
    .expect("it must be told");
}

#[tokio::test]
async fn nobody_there_is_not_applied_and_says_where() {
    let mut server = server().await;
    let url = server.url();
    server.stop().await.expect("its end");
    let error = refusal(&url).await;
    assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}");
    assert!(error.message().contains(&server.port().to_string()), "{error}");
}

#[tokio::test]
async fn a_database_that_can_not_hold_every_key_is_refused() {
    let server = server().await;
    let make = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 \
                LOCALE_PROVIDER libc";
    server.sql(make).await.expect("a database");
    let error = refusal(&server.url_of("latin")).await;
    assert_eq!(error.kind(), refused(Refusal::Unusable), "{error}");
    assert!(error.message().contains("LATIN1") && error.message().contains("UTF8"), "{error}");
}

// ===== tables =====

#[tokio::test]
async fn tables_of_a_newer_version_are_refused_and_left_alone() {
    let server = server().await;
    drop(open(&server).await);
    server.sql("UPDATE semel.semel_schema SET version = 99").await.expect("an update");
    let error = refusal(&server.url()).await;
    assert_eq!(error.kind(), refused(Refusal::Unusable), "{error}");
    assert!(error.message().contains("version 99"), "{error}");
    let there = server.sql("SELECT version FROM semel.semel_schema").await.expect("an answer");
    assert_eq!(there, "99");
}

#[tokio::test]
async fn missing_tables_are_refused_where_others_make_them() {
    let server = server().await;
    let expecting = PostgresStore::builder(&server.url()).migrations(Migrations::Expect);
    let error = expecting.open().await.expect_err("it must be refused");
    assert_eq!(error.kind(), refused(Refusal::Unusable), "{error}");
    assert!(error.message().contains("migrations/ from 0001 on"), "{error}");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'semel'";
    assert_eq!(server.sql(schemas).await.expect("an answer"), "0", "nothing may be made");
}

#[tokio::test]
async fn a_role_that_may_not_make_tables_is_told_what_to_run() {
    let server = locked_server().await;
    let error = refusal(&url_as(&server, &format!("app:{SECRET}"), "postgres")).await;
    assert_eq!(error.kind(), refused(Refusal::Credentials), "{error}");
    assert!(error.message().contains("migrations/"), "{error}");
}

/// The head of the file of migrations says what to grant: it must be enough, and no more is taken.
#[tokio::test]
async fn a_role_with_just_the_documented_grants_can_do_everything() {
    let server = locked_server().await;
    let file = include_str!("../migrations/0001_lease_rows.sql");
    let head = "CREATE SCHEMA semel; SET search_path = semel, pg_temp;";
    server.sql(&format!("{head} {file}")).await.expect("tables");
    let grants = file.lines().filter_map(|line| line.strip_prefix("--   GRANT "));
    let grants: Vec<String> = grants.map(|grant| format!("GRANT {grant}")).collect();
    assert_eq!(grants.len(), 3, "the head of the file must say what to grant");
    server
        .sql(&format!("{head} {}", grants.concat()).replace("CREATE SCHEMA semel;", ""))
        .await
        .expect("grants");
    let url = url_as(&server, &format!("app:{SECRET}"), "postgres");
    let store = PostgresStore::builder(&url).migrations(Migrations::Expect).open().await;
    let store = store.expect("a store");
    let claimed = win(&store, "a", Expect::Absent, put("v")).await;
    let touch = semel_core::Touch::Lease(ttl(SECOND));
    store.read(&key("a"), touch).await.expect("a touch");
    store.scan("", None, 10).await.expect("a listing");
    win(&store, "a", Expect::Version(claimed.version), semel_core::Next::Delete).await;
    store.sweep(10).await.expect("a sweep");
    // Wake-ups too.
    let other = PostgresStore::open(&server.url()).await.expect("a store");
    let hint = store.changed(&key("b"));
    semel_testkit::within(PATIENCE, "a hint", hint).await.expect("one when it is watched");
    let hint = store.changed(&key("b"));
    win(&other, "b", Expect::Absent, put("v")).await;
    semel_testkit::within(PATIENCE, "a hint", hint).await.expect("one for the change");
}

#[tokio::test]
async fn of_many_that_open_a_new_store_at_once_one_makes_the_tables() {
    let server = server().await;
    let opened = (0..8).map(|_| {
        let url = server.url();
        tokio::spawn(async move { PostgresStore::open(&url).await })
    });
    let opened: Vec<_> = opened.collect();
    for store in opened {
        let store = store.await.expect("no panic").expect("a store");
        win(&store, "a", Expect::Any, put("v")).await;
    }
}

#[tokio::test]
async fn stores_in_different_schemas_share_nothing() {
    let server = server().await;
    let named = |name: &str| PostgresStore::builder(&server.url()).schema(name);
    let odd = "Semel \"prod\"; DROP TABLE x; --";
    let first = named(odd).open().await.expect("a store");
    let second = named("second").open().await.expect("a store");
    win(&first, "a", Expect::Absent, put("v")).await;
    assert!(matches!(claim(&second, "a").await, Ok(Swap::Won(_))), "it is another store");
    let again = named(odd).open().await.expect("a store");
    assert!(matches!(claim(&again, "a").await, Ok(Swap::Lost(_))), "it is the same store");
}

// ===== preflight =====

#[tokio::test]
async fn the_preflight_says_what_is_promised_and_what_is_not() {
    let server = PostgresServer::builder().setting("fsync", "off").start().await;
    let server = server.expect("a server");
    let builder = PostgresStore::builder(&server.url());
    let preflight = builder.clone().preflight().await.expect("a look");
    let said = preflight.to_string();
    assert_eq!(preflight.verdict(), FindingLevel::Warning, "{said}");
    for subject in ["fsync", "replication", "tables"] {
        let warned = preflight.at_least(FindingLevel::Warning);
        assert!(warned.into_iter().any(|finding| finding.subject == subject), "{subject}: {said}");
    }
    assert!(preflight.store().contains("PostgreSQL 1"), "{said}");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'semel'";
    assert_eq!(server.sql(schemas).await.expect("an answer"), "0", "a look makes nothing");
    let store = builder.open().await.expect("a warning is no refusal");
    assert_eq!(store.preflight().verdict(), FindingLevel::Warning);
}
