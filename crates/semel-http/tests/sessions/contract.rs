//! What the trait asks of a store, and what this one promises beyond it.

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::{Cache, Store};
use semel_http::CacheSessionStore;
use tower_sessions::cookie::time::{Date, Month, OffsetDateTime};
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::Error;
use tower_sessions::{CachingSessionStore, ExpiredDeletion, SessionStore};

use super::support::{Bench, in_seconds, record};

#[tokio::test]
async fn a_session_is_created_loaded_saved_and_deleted() {
    let Bench { sessions, .. } = Bench::new();
    let mut session = record(60);
    assert_eq!(sessions.load(&session.id).await.unwrap(), None);
    sessions.create(&mut session).await.unwrap();
    assert_eq!(sessions.load(&session.id).await.unwrap(), Some(session.clone()));
    session.data.insert("count".into(), 8.into());
    session.expiry_date = in_seconds(90);
    sessions.save(&session).await.unwrap();
    assert_eq!(sessions.load(&session.id).await.unwrap(), Some(session.clone()));
    sessions.delete(&session.id).await.unwrap();
    assert_eq!(sessions.load(&session.id).await.unwrap(), None);
    sessions.delete(&session.id).await.unwrap();
}

#[tokio::test]
async fn a_session_never_takes_the_place_of_another() {
    let Bench { sessions, .. } = Bench::new();
    let mut first = record(60);
    sessions.create(&mut first).await.unwrap();
    let mut second = Record { data: [("name".to_owned(), "bob".into())].into(), ..first.clone() };
    sessions.create(&mut second).await.unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(sessions.load(&first.id).await.unwrap(), Some(first));
    assert_eq!(sessions.load(&second.id).await.unwrap(), Some(second));
}

#[tokio::test]
async fn a_session_ends_when_its_record_says_so() {
    let bench = Bench::new();
    let mut session = record(60);
    bench.sessions.create(&mut session).await.unwrap();
    bench.pass(55);
    assert!(bench.sessions.load(&session.id).await.unwrap().is_some());
    bench.pass(6);
    assert_eq!(bench.sessions.load(&session.id).await.unwrap(), None);
    // Saved anew, it ends anew.
    let mut session = record(60);
    bench.sessions.create(&mut session).await.unwrap();
    bench.pass(55);
    session.expiry_date = in_seconds(60);
    bench.sessions.save(&session).await.unwrap();
    bench.pass(55);
    assert!(bench.sessions.load(&session.id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_session_that_has_ended_already_is_none() {
    let Bench { sessions, .. } = Bench::new();
    let epoch = OffsetDateTime::UNIX_EPOCH;
    for past in [in_seconds(0), in_seconds(-60), epoch, epoch - (in_seconds(0) - epoch)] {
        let mut session = record(60);
        sessions.create(&mut session).await.unwrap();
        session.expiry_date = past;
        sessions.save(&session).await.unwrap();
        assert_eq!(sessions.load(&session.id).await.unwrap(), None, "{past}");
        sessions.create(&mut session).await.unwrap();
        assert_eq!(sessions.load(&session.id).await.unwrap(), None, "{past}");
    }
}

#[tokio::test]
async fn a_session_without_an_end_is_kept_as_long_as_a_store_keeps_anything() {
    let bench = Bench::new();
    let never =
        Date::from_calendar_date(9999, Month::December, 31).unwrap().midnight().assume_utc();
    let mut session = Record { expiry_date: never, ..record(60) };
    bench.sessions.create(&mut session).await.unwrap();
    bench.pass(9 * 365 * 86_400);
    assert_eq!(bench.sessions.load(&session.id).await.unwrap(), Some(session.clone()));
    bench.pass(2 * 365 * 86_400);
    assert_eq!(bench.sessions.load(&session.id).await.unwrap(), None);
}

/// A request that began before a logout ends after it.
#[tokio::test]
async fn a_session_that_was_deleted_does_not_come_back_when_it_is_saved() {
    let Bench { sessions, .. } = Bench::new();
    let mut session = record(60);
    sessions.create(&mut session).await.unwrap();
    sessions.delete(&session.id).await.unwrap();
    sessions.save(&session).await.unwrap();
    assert_eq!(sessions.load(&session.id).await.unwrap(), None);
    // Nor is there one under an id that its user chose.
    let chosen = Record { id: Id(42), ..record(60) };
    sessions.save(&chosen).await.unwrap();
    assert_eq!(sessions.load(&Id(42)).await.unwrap(), None);
}

#[tokio::test]
async fn in_front_of_another_store_it_keeps_what_that_one_has() {
    let (front, back) = (Bench::new(), Bench::new());
    let both = CachingSessionStore::new(front.sessions.clone().as_front(), back.sessions.clone());
    let mut session = record(60);
    back.sessions.create(&mut session).await.unwrap();
    assert_eq!(both.load(&session.id).await.unwrap(), Some(session.clone()));
    assert_eq!(front.sessions.load(&session.id).await.unwrap(), Some(session.clone()));
    session.data.insert("count".into(), 8.into());
    both.save(&session).await.unwrap();
    assert_eq!(back.sessions.load(&session.id).await.unwrap(), Some(session.clone()));
    both.delete(&session.id).await.unwrap();
    for store in [&front, &back] {
        assert_eq!(store.sessions.load(&session.id).await.unwrap(), None);
    }
    // As the one behind, it is made through both.
    let mut session = record(60);
    both.create(&mut session).await.unwrap();
    assert_eq!(back.sessions.load(&session.id).await.unwrap(), Some(session));
}

#[tokio::test]
async fn neither_keys_nor_bytes_of_the_store_show_an_id() {
    let Bench { store, sessions, .. } = Bench::new();
    let mut session = record(60);
    sessions.create(&mut session).await.unwrap();
    let page = store.scan("", None, 10).await.unwrap();
    let [(key, entry)] = &page.entries[..] else { panic!("{page:?}") };
    assert!(key.as_str().starts_with("cache:sessions:"), "{key}");
    let ids = [
        session.id.to_string(),
        session.id.0.to_string(),
        format!("{:032x}", session.id.0.cast_unsigned()),
        format!("{:032x}", u128::from_be_bytes(session.id.0.to_le_bytes())),
    ];
    for id in ids {
        assert!(!key.as_str().contains(&id));
        assert!(!entry.value.windows(id.len()).any(|bytes| bytes == id.as_bytes()));
    }
    assert!(!entry.value.windows(16).any(|bytes| bytes == session.id.0.to_le_bytes()));
}

#[tokio::test]
async fn what_can_not_be_known_is_an_error_and_never_no_session() {
    let Bench { store, sessions, .. } = Bench::new();
    let mut session = record(60);
    sessions.create(&mut session).await.unwrap();
    for (op, kind) in
        [(StoreOp::Read, StoreErrorKind::NotApplied), (StoreOp::Read, StoreErrorKind::Unknown)]
    {
        store.next(op, FaultAction::FailBefore(kind));
        assert!(matches!(sessions.load(&session.id).await, Err(Error::Backend(_))));
    }
    store.next(StoreOp::Read, FaultAction::Corrupt { at: 60 });
    let error = sessions.load(&session.id).await.unwrap_err();
    assert!(matches!(error, Error::Decode(_)), "{error}");
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    assert!(sessions.save(&session).await.is_err());
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    assert!(sessions.create(&mut record(60)).await.is_err());
    store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    assert!(sessions.delete(&session.id).await.is_err());
    assert_eq!(sessions.load(&session.id).await.unwrap(), Some(session));
}

#[tokio::test]
async fn bytes_that_are_no_session_are_an_error() {
    let Bench { store, sessions, .. } = Bench::new();
    let mut session = record(60);
    sessions.create(&mut session).await.unwrap();
    let cache = Cache::builder(std::sync::Arc::new(store)).namespace("sessions").build().unwrap();
    let page = cache.keys("", None, 9).await.unwrap();
    let minute = std::time::Duration::from_secs(60);
    cache.set(&page.keys[0], "SECRET", minute).await.unwrap();
    let error = sessions.load(&session.id).await.unwrap_err();
    assert!(matches!(&error, Error::Decode(why) if !why.contains("SECRET")), "{error}");
}

#[tokio::test]
async fn what_has_expired_can_be_removed_on_demand() {
    let bench = Bench::new();
    for _ in 0..1_200 {
        bench.sessions.create(&mut record(60)).await.unwrap();
    }
    let mut lives = record(600);
    bench.sessions.create(&mut lives).await.unwrap();
    bench.pass(61);
    bench.sessions.delete_expired().await.unwrap();
    assert_eq!(bench.store.sweep(10).await.unwrap(), 0);
    assert!(bench.sessions.load(&lives.id).await.unwrap().is_some());
}

#[tokio::test]
async fn sessions_of_two_caches_do_not_meet() {
    let bench = Bench::new();
    let store = std::sync::Arc::new(bench.store.clone());
    let other = Cache::builder(store).namespace("admins").build().unwrap();
    let other = CacheSessionStore::over(other);
    let mut session = record(60);
    bench.sessions.create(&mut session).await.unwrap();
    assert_eq!(other.load(&session.id).await.unwrap(), None);
}
