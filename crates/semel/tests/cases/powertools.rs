//! The tracker of AWS Lambda Powertools, over every store.

use std::sync::atomic::{AtomicU32, Ordering};

use semel::{CallError, Code, Finality, Once, ProblemKind};

use crate::support::{Place, code};

async fn charge(once: &Once, runs: &AtomicU32, input: &str) -> Result<u32, CallError<String>> {
    let call = once.call("k").operation("charge").input(&input);
    let failures = |error: &String| match error.as_str() {
        "declined" => Finality::Final,
        _ => Finality::Transient,
    };
    call.failures(failures).run(async |_| Ok(runs.fetch_add(1, Ordering::SeqCst))).await
}

/// Writing the result down lost the digest of the request, and an honest retry was told that its
/// payload did not match.
async fn the_fingerprint_survives(place: Place) {
    let (ours, theirs) = (place.engine().await, place.engine().await);
    let runs = AtomicU32::new(0);
    assert_eq!(charge(&ours, &runs, "20 EUR").await.unwrap(), 0);
    for once in [&ours, &theirs] {
        assert_eq!(charge(once, &runs, "20 EUR").await.unwrap(), 0);
        let other = charge(once, &runs, "21 EUR").await;
        let Err(CallError::Refused(problem)) = other else { panic!("{other:?}") };
        let differs = vec!["input".into()];
        assert_eq!(problem.kind(), &ProblemKind::PayloadMismatch { differs });
        let attached = once.call("k").operation("charge").input(&"21 EUR").attach::<u32>().await;
        assert_eq!(code(attached), Code::PayloadMismatch);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    // An error that stands has been written down as well.
    let refund = |once: &Once, input: u8| {
        let once = once.clone();
        async move {
            let call = once.call("refund").operation("refund").input(&input);
            call.failures(|_: &String| Finality::Final)
                .run(async |_| Err::<u8, _>("declined".to_owned()))
                .await
        }
    };
    for once in [&ours, &theirs] {
        let failed = refund(once, 1).await;
        assert!(
            matches!(&failed, Err(CallError::Work(error)) if error == "declined"),
            "{failed:?}"
        );
        assert_eq!(code(refund(once, 2).await), Code::PayloadMismatch);
    }
}

macro_rules! over {
    ($store:ident, $place:expr) => {
        mod $store {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn p2_the_fingerprint_survives_completion() {
                the_fingerprint_survives($place).await;
            }
        }
    };
}

over!(memory, Place::memory());
over!(sqlite, Place::file());
over!(redis, Place::redis().await);
over!(postgres, Place::postgres().await);
