//! Claims with their outcomes, as the engine makes them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use semel::{Begun, Call, Extent, Finished, Form, Once, Operation, Outcome, Policy, Scope, Store};

/// How many a second so many callers get through.
pub(crate) async fn per_second(store: &Arc<dyn Store>, callers: usize, turn: Duration) -> f64 {
    let started = now();
    let once = Once::new(Arc::clone(store));
    let working: Vec<_> = (0..callers)
        .map(|caller| {
            let once = once.clone();
            tokio::spawn(async move { one_by_one(&once, caller, started + turn).await })
        })
        .collect();
    let mut pairs = 0_u32;
    for worker in working {
        pairs += worker.await.expect("no panic");
    }
    f64::from(pairs) / (now() - started).as_secs_f64()
}

async fn one_by_one(once: &Once, caller: usize, until: Instant) -> u32 {
    let policy: Arc<Policy> = Arc::default();
    let operation = Operation::new("orders.create").expect("a name");
    let mut pairs = 0;
    while now() < until {
        let key = format!("{caller}-{pairs}-{:?}", until);
        let scope = Scope::anonymous();
        let call = Call::new(&policy, &scope, &key, operation.clone()).expect("a key");
        let Begun::Fresh(mut claim) = once.begin(&call).await else { panic!("not fresh") };
        let payload = Bytes::from_static(&[7; 500]);
        let outcome = Outcome { form: Form::Bytes, extent: Extent::Whole, payload };
        assert!(matches!(claim.record(outcome).await, Finished::Recorded));
        pairs += 1;
    }
    pairs
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn now() -> Instant {
    Instant::now()
}
