use bytes::Bytes;

use super::{Namespace, NamespaceError, Prefix};
use crate::{
    Expect, Key, ManualClock, MemoryStore, Next, Refusal, Store, StoreErrorKind, StoreTime, Swap,
    Touch, Ttl,
};

fn memory() -> MemoryStore {
    MemoryStore::new(ManualClock::at(StoreTime::from_micros(1_000_000)))
}

fn space(name: &str) -> Namespace {
    Namespace::new(name).unwrap()
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// Claims a key that must be free.
async fn claim(store: &impl Store, text: &str) {
    let value = Bytes::copy_from_slice(text.as_bytes());
    let next = Next::Put { value, lease: Ttl::MAX, keep: Ttl::MAX };
    let swap = store.swap(&key(text), Expect::Absent, next).await.unwrap();
    assert!(matches!(swap, Swap::Won(_)), "{text:?} must be free: {swap:?}");
}

async fn listed(store: &impl Store, prefix: &str) -> Vec<String> {
    let page = store.scan(prefix, None, 100).await.unwrap();
    page.entries.into_iter().map(|(key, _)| key.as_str().to_owned()).collect()
}

#[tokio::test]
async fn two_namespaces_share_no_key() {
    let memory = memory();
    let (a, b) = (Prefix::new(memory.clone(), space("a")), Prefix::new(memory.clone(), space("b")));
    claim(&a, "k").await;
    claim(&b, "k").await;
    assert_eq!(listed(&a, "").await, ["k"]);
    assert_eq!(listed(&memory, "").await, ["a/k", "b/k"]);
}

#[tokio::test]
async fn no_key_reaches_from_one_namespace_into_another() {
    let memory = memory();
    // `a` with the key `b/k`, and `a.b`, `a-b`, whose names begin alike.
    for name in ["a", "ab", "a.b", "a-b", "a_b", "A"] {
        let store = Prefix::new(memory.clone(), space(name));
        for text in ["k", "/k", "a/k", "ab/k", "b/k", "../k", "%2F", "a:k"] {
            claim(&store, text).await;
        }
        assert_eq!(listed(&store, "").await.len(), 8, "in {name:?}");
    }
}

#[tokio::test]
async fn namespaces_nest() {
    let memory = memory();
    let nested = Prefix::new(Prefix::new(memory.clone(), space("outer")), space("inner"));
    claim(&nested, "k").await;
    assert_eq!(listed(&memory, "").await, ["outer/inner/k"]);
    assert_eq!(listed(&nested, "").await, ["k"]);
}

#[tokio::test]
async fn a_scan_neither_shows_nor_stops_at_keys_of_others() {
    let memory = memory();
    for text in ["a/", "a/1", "a/2", "a0", "a.b/1", "b/1", "a"] {
        claim(&memory, text).await;
    }
    let store = Prefix::new(memory, space("a"));
    let first = store.scan("", None, 1).await.unwrap();
    assert_eq!(first.entries[0].0.as_str(), "1");
    let second = store.scan("", first.next.as_ref(), 1).await.unwrap();
    assert_eq!(second.entries[0].0.as_str(), "2");
    assert_eq!(second.next, Some(key("2")));
    let end = store.scan("", second.next.as_ref(), 1).await.unwrap();
    assert!(end.entries.is_empty());
    assert_eq!(end.next, None);
}

#[tokio::test]
async fn a_key_that_no_longer_fits_never_reaches_the_inner_store() {
    let memory = memory();
    let store = Prefix::new(memory.clone(), space("ns"));
    let fits = "k".repeat(Key::MAX_CHARS - 3);
    claim(&store, &fits).await;
    let over = key(&"k".repeat(Key::MAX_CHARS - 2));
    let next = Next::Put { value: Bytes::new(), lease: Ttl::MAX, keep: Ttl::MAX };
    let refused = store.swap(&over, Expect::Any, next).await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Refused(Refusal::Unusable));
    assert!(!refused.to_string().contains("kkk"), "{refused}");
    assert!(store.read(&over, Touch::No).await.is_err());
    assert!(store.scan("", Some(&over), 10).await.is_err());
    assert_eq!(listed(&memory, "").await, [format!("ns/{fits}")]);
}

#[test]
fn a_namespace_takes_only_what_can_not_end_it() {
    assert!(Namespace::new(&"n".repeat(64)).is_ok());
    for (name, due) in [
        ("", NamespaceError::Length { chars: 0 }),
        ("a/b", NamespaceError::Character { at: 1 }),
        ("a b", NamespaceError::Character { at: 1 }),
        ("a:b", NamespaceError::Character { at: 1 }),
        ("ab\0", NamespaceError::Character { at: 2 }),
        ("é", NamespaceError::Character { at: 0 }),
    ] {
        assert_eq!(Namespace::new(name), Err(due), "{name:?}");
    }
    let long = Namespace::new(&"n".repeat(65));
    assert_eq!(long, Err(NamespaceError::Length { chars: 65 }));
    assert_eq!(space("orders.v2").to_string(), "orders.v2");
}
