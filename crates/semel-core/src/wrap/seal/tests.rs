use bytes::Bytes;
use secrecy::SecretBox;

use super::{Seal, SealKey, SealKeyId, SealKeys};
use crate::{
    Entry, Expect, Fault, FaultAction, Key, ManualClock, MemoryStore, Next, Stamp, Store,
    StoreErrorKind, StoreOp, StoreTime, Swap, Touch, Ttl,
};

const PLAIN: &[u8] = b"4111 1111 1111 1111";

fn memory() -> MemoryStore {
    MemoryStore::new(ManualClock::at(StoreTime::from_micros(1_000_000)))
}

fn seal_key(id: u8) -> SealKey {
    SealKey::new(SealKeyId::new(id), SecretBox::new(Box::new([id ^ 0xa5; 32])))
}

fn keys(current: u8, older: &[u8]) -> SealKeys {
    SealKeys::new(seal_key(current), older.iter().map(|id| seal_key(*id))).unwrap()
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

async fn put(store: &impl Store, text: &str, value: &[u8]) -> Stamp {
    let value = Bytes::copy_from_slice(value);
    let next = Next::Put { value, lease: Ttl::MAX, keep: Ttl::MAX };
    match store.swap(&key(text), Expect::Any, next).await.unwrap() {
        Swap::Won(stamp) => stamp,
        Swap::Lost(there) => panic!("lost to {there:?}"),
    }
}

async fn get(store: &impl Store, text: &str) -> Entry {
    store.read(&key(text), Touch::No).await.unwrap().entry.unwrap()
}

/// What every way of getting a value says about this key.
async fn assert_damaged(store: &impl Store, text: &str) {
    let key = key(text);
    let read = store.read(&key, Touch::No).await.unwrap_err();
    let put = Next::Put { value: Bytes::new(), lease: Ttl::MAX, keep: Ttl::MAX };
    let swap = store.swap(&key, Expect::Absent, put).await.unwrap_err();
    let scan = store.scan(text, None, 10).await.unwrap_err();
    for error in [read, swap, scan] {
        assert_eq!(error.kind(), StoreErrorKind::Damaged, "{error}");
        assert!(error.to_string().contains(&key.digest().to_string()), "{error}");
        assert!(!error.to_string().contains(text), "{error}");
    }
}

#[tokio::test]
async fn nothing_of_the_value_can_be_seen_beneath() {
    let memory = memory();
    let store = Seal::new(memory.clone(), keys(1, &[]));
    put(&store, "card", PLAIN).await;
    let sealed = get(&memory, "card").await.value;
    assert_eq!(sealed.len(), PLAIN.len() + Seal::<MemoryStore>::OVERHEAD);
    for part in PLAIN.windows(4) {
        assert!(!sealed.windows(4).any(|seen| seen == part), "plain text beneath the seal");
    }
    assert_eq!(get(&store, "card").await.value, PLAIN);
}

#[tokio::test]
async fn no_two_sealed_values_are_alike() {
    let memory = memory();
    let store = Seal::new(memory.clone(), keys(1, &[]));
    let mut seen = std::collections::HashSet::new();
    for _ in 0..100 {
        put(&store, "k", PLAIN).await;
        let sealed = get(&memory, "k").await.value;
        assert!(seen.insert(sealed.slice(2..26)), "a nonce was used twice");
        assert!(seen.insert(sealed.slice(26..)), "a ciphertext came twice");
    }
}

#[tokio::test]
async fn every_altered_bit_is_damage() {
    let memory = memory();
    let store = Seal::new(memory.clone(), keys(1, &[]));
    put(&store, "k", b"v").await;
    let sealed = get(&memory, "k").await.value;
    for at in 0..sealed.len() {
        for bit in 0..8 {
            let mut altered = sealed.to_vec();
            altered[at] ^= 1 << bit;
            put(&memory, "k", &altered).await;
            let error = store.read(&key("k"), Touch::No).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Damaged, "bit {bit} of byte {at}");
        }
    }
}

#[tokio::test]
async fn every_truncation_and_every_surplus_is_damage() {
    let memory = memory();
    let store = Seal::new(memory.clone(), keys(1, &[]));
    put(&store, "k:short", PLAIN).await;
    let sealed = get(&memory, "k:short").await.value;
    for len in 0..sealed.len() {
        put(&memory, "k:short", &sealed[..len]).await;
        assert_damaged(&store, "k:short").await;
    }
    put(&memory, "k:short", &[&sealed[..], b"x"].concat()).await;
    assert_damaged(&store, "k:short").await;
}

#[tokio::test]
async fn a_value_that_was_never_sealed_is_damage() {
    let memory = memory();
    let store = Seal::new(memory.clone(), keys(1, &[]));
    for plain in [&b""[..], b"{}", &[1; 100], &[0; 100]] {
        put(&memory, "plain", plain).await;
        assert_damaged(&store, "plain").await;
    }
}

#[tokio::test]
async fn a_value_moved_to_another_key_is_damage() {
    let memory = memory();
    let store = Seal::new(memory.clone(), keys(1, &[]));
    put(&store, "alice", PLAIN).await;
    let sealed = get(&memory, "alice").await.value;
    put(&memory, "bobby", &sealed).await;
    assert_damaged(&store, "bobby").await;
}

#[tokio::test]
async fn a_reply_meant_for_another_key_is_damage() {
    let faulty = Fault::new(memory());
    let store = Seal::new(faulty.clone(), keys(1, &[]));
    put(&store, "alice", PLAIN).await;
    put(&store, "bobby", b"x").await;
    for op in [StoreOp::Read, StoreOp::Swap] {
        faulty.next(op, FaultAction::Crossed(key("alice")));
    }
    faulty.next(StoreOp::Scan, FaultAction::Corrupt { at: 0 });
    assert_damaged(&store, "bobby").await;
    for op in [StoreOp::Read, StoreOp::Swap, StoreOp::Scan] {
        assert_eq!(faulty.left(op), 0, "{op:?}");
    }
    assert_eq!(get(&store, "bobby").await.value, "x");
}

#[tokio::test]
async fn keys_can_be_rotated_while_values_are_there() {
    let memory = memory();
    let first = Seal::new(memory.clone(), keys(1, &[]));
    let both = Seal::new(memory.clone(), keys(1, &[2]));
    let second = Seal::new(memory.clone(), keys(2, &[1]));
    put(&first, "old", PLAIN).await;
    put(&second, "new", PLAIN).await;
    for store in [&both, &second] {
        assert_eq!(get(store, "old").await.value, PLAIN);
        assert_eq!(get(store, "new").await.value, PLAIN);
    }
    // Who was left out reads nothing, and takes nothing for absent.
    assert_damaged(&first, "new").await;
    let after = Seal::new(memory, keys(2, &[]));
    assert_damaged(&after, "old").await;
    assert_eq!(get(&after, "new").await.value, PLAIN);
}

#[tokio::test]
async fn another_key_under_the_same_name_opens_nothing() {
    let memory = memory();
    put(&Seal::new(memory.clone(), keys(1, &[])), "k:same", PLAIN).await;
    let wrong = SealKey::new(SealKeyId::new(1), SecretBox::new(Box::new([9; 32])));
    let store = Seal::new(memory, SealKeys::new(wrong, []).unwrap());
    assert_damaged(&store, "k:same").await;
}

#[tokio::test]
async fn a_damaged_entry_can_be_replaced_renewed_and_deleted() {
    let memory = memory();
    let store = Seal::new(memory.clone(), keys(1, &[]));
    let stamp = put(&memory, "k", b"junk").await;
    let renew = Next::Renew { lease: Ttl::MAX, keep: Ttl::MAX };
    let renewed = store.swap(&key("k"), Expect::Version(stamp.version), renew).await.unwrap();
    assert!(matches!(renewed, Swap::Won(_)));
    assert!(matches!(store.swap(&key("k"), Expect::Any, Next::Delete).await, Ok(Swap::Won(_))));
    put(&memory, "k", b"junk").await;
    put(&store, "k", PLAIN).await;
    assert_eq!(get(&store, "k").await.value, PLAIN);
}

#[test]
fn two_keys_may_not_have_one_name() {
    let twice = SealKeys::new(seal_key(1), [seal_key(2), seal_key(1)]);
    assert!(twice.unwrap_err().to_string().contains("named 1"));
    assert!(SealKeys::new(seal_key(1), [seal_key(2), seal_key(2)]).is_err());
}

#[test]
fn debug_shows_names_of_keys_and_nothing_else() {
    let secret = [0xab; 32];
    let key = SealKey::new(SealKeyId::new(7), SecretBox::new(Box::new(secret)));
    let store = Seal::new(memory(), SealKeys::new(key, [seal_key(3)]).unwrap());
    let shown = format!("{store:?}");
    assert!(shown.contains("SealKey(7)") && shown.contains("SealKey(3)"), "{shown}");
    assert!(!shown.contains("171") && !shown.to_lowercase().contains("ab, ab"), "{shown}");
}
