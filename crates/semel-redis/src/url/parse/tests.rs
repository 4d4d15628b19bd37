use std::time::Duration;

use proptest::prelude::*;
use secrecy::ExposeSecret;

use super::{Address, Login, Topology, parse, span};

fn login(login: &Login) -> (Option<&str>, Option<&str>) {
    (login.user.as_deref(), login.password.as_ref().map(|it| it.expose_secret()))
}

#[test]
fn a_single_server_needs_no_more_than_a_host() {
    let target = parse("redis://cache.example").expect("a URL");
    assert_eq!(target.topology, Topology::Single(Address::new("cache.example", 6379)));
    assert_eq!(login(&target.login), (None, None));
    assert_eq!((target.database, target.tls), (0, None));
}

#[test]
fn user_password_port_and_database_are_read() {
    let target = parse("rediss://app:p%40ss%2Fword@[::1]:7000/3").expect("a URL");
    assert_eq!(target.topology, Topology::Single(Address::new("::1", 7000)));
    assert_eq!(login(&target.login), (Some("app"), Some("p@ss/word")));
    assert_eq!(target.database, 3);
    assert!(target.tls.is_some(), "rediss is with TLS");
    // A password needs no user.
    let target = parse("redis://:secret@h").expect("a URL");
    assert_eq!(login(&target.login), (None, Some("secret")));
}

#[test]
fn sentinels_name_their_service_and_may_have_a_login_of_their_own() {
    let url = "redis-sentinel://:db@s1,s2:26380/orders/1?sentinel_password=w&tls=true&ack=all";
    let target = parse(url).expect("a URL");
    let Topology::Sentinel { sentinels, service, login: watch } = &target.topology else {
        panic!("{:?}", target.topology);
    };
    assert_eq!(sentinels, &[Address::new("s1", 26_379), Address::new("s2", 26_380)]);
    assert_eq!((service.as_str(), target.database), ("orders", 1));
    assert_eq!(login(watch), (None, Some("w")));
    assert_eq!(login(&target.login), (None, Some("db")));
    assert!(target.tls.is_some());
    assert_eq!(target.settings, [("ack".to_owned(), "all".to_owned())]);
}

#[test]
fn a_cluster_has_seeds() {
    let target = parse("redis-cluster://a:7000,b:7001,c").expect("a URL");
    let seeds = vec![Address::new("a", 7000), Address::new("b", 7001), Address::new("c", 6379)];
    assert_eq!(target.topology, Topology::Cluster { seeds });
}

#[test]
fn what_is_wrong_is_said_without_the_password() {
    for url in [
        "",
        "redis",
        "http://:s3cret@h",
        "redis://",
        "redis://:s3cret@",
        "redis://:s3cret@h:port",
        "redis://:s3cret@h:99999",
        "redis://:s3cret@h1,h2",
        "redis://:s3cret@h/x",
        "redis://:s3cret@h/1/2",
        "redis://:s3cret@[::1",
        "redis://:s3cret@[::1]x",
        "redis://:s3cret%zz@h",
        "redis-sentinel://:s3cret@h",
        "redis-cluster://:s3cret@h/1",
        "redis://:s3cret@h?tls_ca=/x",
        "redis://:s3cret@h?tls=maybe",
    ] {
        let error = parse(url).expect_err(url);
        assert!(!error.contains("s3cret"), "{url}: {error}");
    }
}

#[test]
fn a_login_is_never_shown() {
    let target = parse("redis://app:s3cret@h?sentinel_password=s3cret").expect("a URL");
    assert!(!format!("{target:?}").contains("s3cret"));
}

#[test]
fn spans_have_units() {
    for (text, expected) in [
        ("500ms", Some(Duration::from_millis(500))),
        ("2s", Some(Duration::from_secs(2))),
        ("5m", Some(Duration::from_secs(300))),
        ("5", None),
        ("", None),
        ("s", None),
        ("-1s", None),
        ("1h", None),
    ] {
        assert_eq!(span(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".*", tail in "[-a-z0-9:/@,?&=%\\[\\].]*") {
        let _ = parse(&text);
        for scheme in ["redis", "rediss", "redis-sentinel", "redis-cluster"] {
            let _ = parse(&format!("{scheme}://{tail}"));
        }
    }
}
