//! What is counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, LocalRecorderGuard, Metadata, Recorder, SharedString,
    Unit,
};

type Counts = Arc<Mutex<BTreeMap<String, Arc<AtomicU64>>>>;

/// Everything that this thread counts while it lives.
pub(crate) struct Counted {
    counts: Counts,
    _guard: LocalRecorderGuard<'static>,
}

struct Counters(Counts);

impl Counted {
    pub(crate) fn captured() -> Self {
        let counts = Counts::default();
        // As long as the test runs, and no longer matters.
        let recorder: &'static Counters = Box::leak(Box::new(Counters(Arc::clone(&counts))));
        Self { counts, _guard: metrics::set_default_local_recorder(recorder) }
    }

    /// The sum over all labels.
    pub(crate) fn of(&self, name: &str) -> u64 {
        let counts = self.counts.lock().unwrap();
        let named = counts.iter().filter(|(key, _)| key.split('{').next() == Some(name));
        named.map(|(_, count)| count.load(Ordering::Relaxed)).sum()
    }

    /// Names and labels of all that was counted.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.counts.lock().unwrap().keys().cloned().collect()
    }
}

impl Recorder for Counters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let labels: Vec<_> =
            key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        let name = format!("{}{{{}}}", key.name(), labels.join(","));
        Counter::from_arc(Arc::clone(self.0.lock().unwrap().entry(name).or_default()))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
