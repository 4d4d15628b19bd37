use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use metrics::{
    Counter, CounterFn, Gauge, Histogram, HistogramFn, KeyName, Metadata, Recorder, SharedString,
    Unit,
};
use parking_lot::Mutex;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

use super::Observe;
use crate::{
    Expect, Fault, FaultAction, Gate, Key, ManualClock, MemoryStore, Next, Refusal, Store,
    StoreErrorKind, StoreOp, StoreTime, Touch, Ttl,
};

// ===== a recorder that remembers =====

/// Counts and durations by metric and labels, as text.
#[derive(Default, Clone)]
struct Seen {
    counts: Arc<Mutex<BTreeMap<String, Arc<AtomicU64>>>>,
    durations: Arc<Mutex<Vec<(String, f64)>>>,
}

struct Durations {
    name: String,
    seen: Seen,
}

impl HistogramFn for Durations {
    fn record(&self, value: f64) {
        self.seen.durations.lock().push((self.name.clone(), value));
    }
}

struct Count(Arc<AtomicU64>);

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::SeqCst);
    }

    fn absolute(&self, value: u64) {
        self.0.store(value, Ordering::SeqCst);
    }
}

fn text(key: &metrics::Key) -> String {
    let labels = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
    format!("{}{{{}}}", key.name(), labels.collect::<Vec<_>>().join(","))
}

impl Recorder for Seen {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &metrics::Key, _: &Metadata<'_>) -> Counter {
        let count = Arc::clone(self.counts.lock().entry(text(key)).or_default());
        Counter::from_arc(Arc::new(Count(count)))
    }

    fn register_gauge(&self, key: &metrics::Key, _: &Metadata<'_>) -> Gauge {
        panic!("no gauge is due: {key}")
    }

    fn register_histogram(&self, key: &metrics::Key, _: &Metadata<'_>) -> Histogram {
        let seen = self.clone();
        Histogram::from_arc(Arc::new(Durations { name: text(key), seen }))
    }
}

impl Seen {
    fn count(&self, op: &str, outcome: &str) -> u64 {
        let name = format!("semel_store_calls_total{{op={op},outcome={outcome}}}");
        self.counts.lock().get(&name).map_or(0, |count| count.load(Ordering::SeqCst))
    }

    fn total(&self) -> u64 {
        self.counts.lock().values().map(|count| count.load(Ordering::SeqCst)).sum()
    }
}

// ===== the store =====

type Faulty = Fault<MemoryStore>;

fn observed() -> (Observe<Faulty>, Faulty, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_000_000)));
    let faulty = Fault::new(MemoryStore::new(Arc::clone(&clock)));
    (Observe::new(faulty.clone(), Arc::clone(&clock)), faulty, clock)
}

fn secret() -> Key {
    Key::new("idem:acme:alice:SECRET-KEY").unwrap()
}

fn put() -> Next {
    Next::Put { value: Bytes::from_static(b"SECRET-VALUE"), lease: Ttl::MAX, keep: Ttl::MAX }
}

fn now<T>(work: impl Future<Output = T>) -> T {
    work.now_or_never().expect("the memory store answers at once")
}

#[test]
fn every_call_is_counted_by_its_outcome() {
    let seen = Seen::default();
    metrics::with_local_recorder(&seen, || {
        let (store, ..) = observed();
        now(store.read(&secret(), Touch::No)).unwrap();
        let _ = now(store.swap(&secret(), Expect::Absent, put())).unwrap();
        let _ = now(store.swap(&secret(), Expect::Absent, put())).unwrap();
        now(store.read(&secret(), Touch::No)).unwrap();
        now(store.scan("", None, 1)).unwrap();
        now(store.sweep(1)).unwrap();
        drop(store.changed(&secret()));
    });
    for (op, outcome) in [
        ("read", "absent"),
        ("read", "present"),
        ("swap", "won"),
        ("swap", "lost"),
        ("scan", "done"),
        ("sweep", "done"),
        ("changed", "given"),
    ] {
        assert_eq!(seen.count(op, outcome), 1, "{op} {outcome}");
    }
    assert_eq!(seen.total(), 7, "nothing else may be counted");
}

#[test]
fn errors_are_counted_by_what_they_say() {
    let seen = Seen::default();
    metrics::with_local_recorder(&seen, || {
        let (store, faulty, _) = observed();
        for kind in [
            StoreErrorKind::NotApplied,
            StoreErrorKind::Unknown,
            StoreErrorKind::Refused(Refusal::Full),
            StoreErrorKind::Damaged,
        ] {
            faulty.next(StoreOp::Read, FaultAction::FailBefore(kind));
            assert_eq!(now(store.read(&secret(), Touch::No)).unwrap_err().kind(), kind);
        }
    });
    for outcome in ["not_applied", "unknown", "refused", "damaged"] {
        assert_eq!(seen.count("read", outcome), 1, "{outcome}");
    }
}

#[test]
fn a_call_whose_caller_went_away_is_counted_as_dropped() {
    let seen = Seen::default();
    metrics::with_local_recorder(&seen, || {
        let (store, faulty, _) = observed();
        faulty.next(StoreOp::Swap, FaultAction::HoldBefore(Gate::closed()));
        let given_up = store.swap(&secret(), Expect::Any, put()).now_or_never();
        assert!(given_up.is_none(), "the gate is closed");
    });
    assert_eq!(seen.count("swap", "dropped"), 1);
    assert_eq!(seen.total(), 1);
}

#[test]
fn durations_are_seconds_by_the_given_clock() {
    let seen = Seen::default();
    metrics::with_local_recorder(&seen, || {
        let (store, faulty, clock) = observed();
        let gate = Gate::closed();
        faulty.next(StoreOp::Read, FaultAction::HoldAfter(gate.clone()));
        let key = secret();
        let mut call = store.read(&key, Touch::No);
        assert!((&mut call).now_or_never().is_none());
        clock.advance(Duration::from_millis(1_500));
        gate.open();
        now(call).unwrap();
    });
    let due = "semel_store_call_duration_seconds{op=read,outcome=absent}".to_owned();
    assert_eq!(*seen.durations.lock(), [(due, 1.5)]);
}

// ===== traces =====

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[test]
fn traces_hold_digests_and_neither_keys_nor_values() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(FmtSpan::FULL)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        let (store, faulty, _) = observed();
        let _ = now(store.swap(&secret(), Expect::Any, put())).unwrap();
        let _ = now(store.swap(&secret(), Expect::Absent, put())).unwrap();
        now(store.read(&secret(), Touch::Lease(Ttl::MAX))).unwrap();
        now(store.scan("idem:acme:alice:SECRET", Some(&secret()), 5)).unwrap();
        now(store.sweep(5)).unwrap();
        faulty.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::Damaged));
        now(store.read(&secret(), Touch::No)).unwrap_err();
        faulty.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::Unknown));
        now(store.read(&secret(), Touch::No)).unwrap_err();
    });
    let shown = String::from_utf8(log.0.lock().clone()).unwrap();
    assert!(!shown.contains("SECRET") && !shown.contains("alice"), "{shown}");
    let digest = secret().digest().to_string();
    for due in [&*digest, "op=\"swap\"", "op=\"scan\"", "ERROR", "WARN", "damaged entry"] {
        assert!(shown.contains(due), "{due} is missing in {shown}");
    }
}
