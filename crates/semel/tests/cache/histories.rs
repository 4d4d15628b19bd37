//! Long random histories: the cache answers as a model in the plainest words does.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use semel::cache::{Lifetime, Refreshed, Removed, TryAdded, TryRemoved, TryReplaced};

use super::support::Bench;

const KEYS: [&str; 4] = ["a", "a:b", "a%", "漢"];
const PREFIXES: [&str; 5] = ["", "a", "a:", "%", "漢"];
const VALUES: [&str; 3] = ["", "v", "w"];

/// A lifetime, in the ticks of a clock: an end, and a sliding time.
type Ticks = (Option<u64>, Option<u64>);

#[derive(Debug, Clone)]
enum Step {
    Get(usize),
    Refresh(usize),
    Set(usize, usize, Ticks),
    TryAdd(usize, usize, Ticks),
    TryReplace(usize, usize, Ticks),
    Remove(usize),
    TryRemove(usize, usize),
    Keys(usize, usize),
    Pass(u64),
}

#[derive(Debug, Clone)]
struct Kept {
    value: &'static str,
    end: Option<u64>,
    sliding: Option<(u64, u64)>,
}

impl Kept {
    fn of(value: &'static str, (of, sliding): Ticks, now: u64) -> Self {
        // Five minutes, in ticks.
        let of = if sliding.is_some() { of } else { of.or(Some(300)) };
        Self {
            value,
            end: of.map(|of| now + of),
            sliding: sliding.map(|sliding| (sliding, now + sliding)),
        }
    }

    fn is_alive(&self, now: u64) -> bool {
        self.end.is_none_or(|end| now < end) && self.sliding.is_none_or(|(_, end)| now < end)
    }
}

#[derive(Debug, Default)]
struct Model {
    now: u64,
    kept: HashMap<&'static str, Kept>,
}

impl Model {
    fn alive(&self, key: &str) -> Option<&Kept> {
        self.kept.get(key).filter(|kept| kept.is_alive(self.now))
    }

    fn get(&mut self, key: &'static str) -> Option<&'static str> {
        let now = self.now;
        let kept = self.kept.get_mut(key).filter(|kept| kept.is_alive(now))?;
        if let Some((sliding, end)) = &mut kept.sliding {
            *end = now + *sliding;
        }
        Some(kept.value)
    }

    fn keys(&self, prefix: &str) -> Vec<String> {
        let alive = KEYS.iter().filter(|key| key.starts_with(prefix) && self.alive(key).is_some());
        let mut keys: Vec<_> = alive.map(|key| (*key).to_owned()).collect();
        keys.sort();
        keys
    }
}

fn ticks() -> impl Strategy<Value = Ticks> {
    (prop::option::of(1..7_u64), prop::option::of(1..5_u64))
}

fn step() -> impl Strategy<Value = Step> {
    let (key, value) = (0..KEYS.len(), 0..VALUES.len());
    prop_oneof![
        4 => key.clone().prop_map(Step::Get),
        1 => key.clone().prop_map(Step::Refresh),
        4 => (key.clone(), value.clone(), ticks()).prop_map(|(k, v, t)| Step::Set(k, v, t)),
        3 => (key.clone(), value.clone(), ticks()).prop_map(|(k, v, t)| Step::TryAdd(k, v, t)),
        2 => (key.clone(), value.clone(), ticks()).prop_map(|(k, v, t)| Step::TryReplace(k, v, t)),
        1 => key.clone().prop_map(Step::Remove),
        2 => (key, value).prop_map(|(k, v)| Step::TryRemove(k, v)),
        1 => (0..PREFIXES.len(), 1..4_usize).prop_map(|(p, limit)| Step::Keys(p, limit)),
        5 => prop_oneof![8 => 1..4_u64, 1 => Just(300)].prop_map(Step::Pass),
    ]
}

fn lifetime((of, sliding): Ticks) -> Lifetime {
    let secs = Duration::from_secs;
    match (of, sliding) {
        (None, None) => Lifetime::default(),
        (Some(of), None) => Lifetime::of(secs(of)),
        (None, Some(sliding)) => Lifetime::sliding(secs(sliding)),
        (Some(of), Some(sliding)) => Lifetime::sliding(secs(sliding)).at_most(secs(of)),
    }
}

async fn listed(bench: &Bench, prefix: &str, limit: usize) -> Vec<String> {
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let page = bench.cache.keys(prefix, after.as_deref(), limit).await.unwrap();
        keys.extend(page.keys.iter().map(|key| (**key).to_owned()));
        match page.next {
            Some(next) => after = Some(next),
            None => return keys,
        }
    }
}

async fn compare(bench: &Bench, model: &mut Model, step: &Step) {
    let cache = &bench.cache;
    match *step {
        Step::Get(key) => {
            let got = cache.get(KEYS[key]).await.unwrap();
            assert_eq!(got.as_deref(), model.get(KEYS[key]).map(str::as_bytes));
        }
        Step::Refresh(key) => {
            let due = model.get(KEYS[key]).map_or(Refreshed::Absent, |_| Refreshed::Refreshed);
            assert_eq!(cache.refresh(KEYS[key]).await.unwrap(), due);
        }
        Step::Set(key, value, ticks) => {
            cache.set(KEYS[key], VALUES[value], lifetime(ticks)).await.unwrap();
            model.kept.insert(KEYS[key], Kept::of(VALUES[value], ticks, model.now));
        }
        Step::TryAdd(key, value, ticks) => {
            let tried = cache.try_add(KEYS[key], VALUES[value], lifetime(ticks)).await.unwrap();
            match model.alive(KEYS[key]) {
                Some(kept) => assert_eq!(tried, TryAdded::Present(kept.value.into())),
                None => {
                    assert_eq!(tried, TryAdded::Added);
                    model.kept.insert(KEYS[key], Kept::of(VALUES[value], ticks, model.now));
                }
            }
        }
        Step::TryReplace(key, value, ticks) => {
            let lifetime = lifetime(ticks);
            let tried = cache.try_replace(KEYS[key], VALUES[value], lifetime).await.unwrap();
            if model.alive(KEYS[key]).is_some() {
                assert_eq!(tried, TryReplaced::Replaced);
                model.kept.insert(KEYS[key], Kept::of(VALUES[value], ticks, model.now));
            } else {
                assert_eq!(tried, TryReplaced::Absent);
            }
        }
        Step::Remove(key) => {
            let due = model.alive(KEYS[key]).map_or(Removed::Absent, |_| Removed::Removed);
            assert_eq!(cache.remove(KEYS[key]).await.unwrap(), due);
            model.kept.remove(KEYS[key]);
        }
        Step::TryRemove(key, value) => {
            let due = match model.alive(KEYS[key]) {
                None => TryRemoved::Absent,
                Some(kept) if kept.value == VALUES[value] => TryRemoved::Removed,
                Some(_) => TryRemoved::Differs,
            };
            let tried = cache.try_remove(KEYS[key], VALUES[value].as_bytes()).await.unwrap();
            assert_eq!(tried, due);
            if due == TryRemoved::Removed {
                model.kept.remove(KEYS[key]);
            }
        }
        Step::Keys(prefix, limit) => {
            let due = model.keys(PREFIXES[prefix]);
            assert_eq!(listed(bench, PREFIXES[prefix], limit).await, due);
        }
        Step::Pass(ticks) => {
            bench.pass(ticks);
            model.now += ticks;
        }
    }
}

/// What fails is made small and shown with the seed; `SEMEL_SEED=…` runs it again.
#[test]
fn the_cache_answers_as_the_model_does() {
    let seed = match std::env::var("SEMEL_SEED") {
        Ok(seed) => seed.parse().expect("SEMEL_SEED is a number"),
        Err(_) => rand::random::<u64>(),
    };
    let mut whole = [0; 32];
    whole[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &whole);
    let config = Config { cases: 256, failure_persistence: None, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let histories = prop::collection::vec(step(), 1..120);
    let checked = TestRunner::new_with_rng(config, rng).run(&histories, |steps| {
        let (bench, mut model) = (Bench::new(), Model::default());
        runtime.block_on(async {
            for step in &steps {
                compare(&bench, &mut model, step).await;
            }
        });
        Ok(())
    });
    if let Err(error) = checked {
        panic!("SEMEL_SEED={seed}: {error}");
    }
}
