//! The presets of section 7 of the contract, row by row.

use std::time::Duration;

use http::{HeaderValue, Method, StatusCode};
use semel::timer::sleep;
use semel::{Code, InFlight, Preset};
use semel_http::{Failures, Fingerprint};

use crate::support::clocks::Passed;
use crate::support::door::created;
use crate::support::{Answer, Asked, BoxError, Door, Order, once, order};

const ALL: [Preset; 5] =
    [Preset::Default, Preset::Rest, Preset::Xihan, Preset::Stripe, Preset::Ietf];

fn door(preset: Preset) -> Door {
    Door::counting(once(), |layer| layer.preset(preset))
}

fn doing<F, W>(preset: Preset, handler: F) -> Door
where
    F: Fn(Asked) -> W + Send + Sync + 'static,
    W: Future<Output = Result<http::Response<axum::body::Body>, BoxError>> + Send + 'static,
{
    Door::with(once(), |layer| layer.preset(preset), handler)
}

/// A request whose key stands where this preset reads it.
fn keyed(preset: Preset, key: &str, body: &'static str) -> Order {
    match preset {
        Preset::Xihan => with_baggage(key, body),
        Preset::Ietf => order(&format!("\"{key}\""), body),
        _ => order(key, body),
    }
}

fn with_baggage(key: &str, body: &'static str) -> Order {
    let mut order = order("gone", body);
    order.headers_mut().remove("idempotency-key");
    let member = format!("xihan.idempotency-key={key}");
    order.headers_mut().insert("baggage", HeaderValue::from_str(&member).unwrap());
    order
}

/// Whether a key in this place is read: then the repeat does not run.
async fn is_read(preset: Preset, place: impl Fn() -> Order) -> bool {
    let door = door(preset);
    door.send(place()).await;
    door.send(place()).await;
    door.runs.count() == 1
}

#[tokio::test]
async fn key_source() {
    for preset in ALL {
        let header = is_read(preset, || order("k", "{}")).await;
        let quoted = is_read(preset, || order("\"k\"", "{}")).await;
        let baggage = is_read(preset, || with_baggage("k", "{}")).await;
        let expected = match preset {
            Preset::Default => (true, true, true),
            Preset::Rest | Preset::Stripe => (true, true, false),
            Preset::Xihan => (false, false, true),
            _ => (false, true, false),
        };
        assert_eq!((header, quoted, baggage), expected, "{preset}");
    }
    // Strict means that the bare form is an error, not no key.
    let refused = door(Preset::Ietf).send(order("k", "{}")).await;
    refused.assert_is(Code::KeyInvalid);
    assert_eq!(refused.json()["params"]["reason"], "not-quoted");
}

#[tokio::test]
async fn missing_key() {
    for preset in ALL {
        let answer = door(preset).send(crate::support::keyless("{}")).await;
        match preset {
            Preset::Xihan | Preset::Stripe => answer.assert_is_the_handlers(201, "order 1"),
            _ => answer.assert_is(Code::KeyMissing),
        }
    }
}

#[tokio::test]
async fn methods() {
    for preset in ALL {
        for method in [Method::POST, Method::PATCH, Method::PUT, Method::DELETE, Method::GET] {
            let is_protected = is_read(preset, || {
                let mut order = keyed(preset, "k", "{}");
                *order.method_mut() = method.clone();
                order
            })
            .await;
            let expected = match preset {
                Preset::Xihan => true,
                Preset::Stripe => method == Method::POST,
                Preset::Ietf => [Method::POST, Method::PATCH].contains(&method),
                _ => [Method::POST, Method::PATCH, Method::PUT].contains(&method),
            };
            assert_eq!(is_protected, expected, "{preset} {method}");
        }
    }
}

#[tokio::test]
async fn fingerprint() {
    for preset in ALL {
        let door = door(preset);
        door.send(keyed(preset, "k", "{}")).await;
        let other = door.send(keyed(preset, "k", "[]")).await;
        match preset {
            Preset::Xihan => other.assert_is_the_handlers(201, "order 1"),
            Preset::Stripe => other.assert_is_with_status(Code::PayloadMismatch, 400),
            _ => other.assert_is_with_status(Code::PayloadMismatch, 422),
        }
        if preset != Preset::Xihan {
            assert_eq!(other.json()["status"], other.status.as_u16(), "the body says the same");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn in_flight() {
    for preset in ALL {
        let door = doing(preset, |asked| async move {
            sleep(Duration::from_secs(20)).await;
            Ok(created(asked.run))
        });
        let first = {
            let (door, order) = (door.clone(), keyed(preset, "k", "{}"));
            tokio::spawn(async move { door.send(order).await })
        };
        crate::support::until(|| door.runs.count() == 1).await;
        let began = Passed::since_now();
        let told = door.send(keyed(preset, "k", "{}")).await;
        told.assert_is(Code::InProgress);
        assert_eq!(told.header("retry-after"), Some("5"), "{preset}");
        let waits = matches!(preset, Preset::Default | Preset::Rest);
        assert_eq!(began.time().as_secs(), if waits { 5 } else { 0 }, "{preset}");
        first.await.unwrap().assert_is_the_handlers(201, "order 1");
    }
}

#[tokio::test]
async fn failures() {
    for preset in ALL {
        for status in [400_u16, 409, 429, 500, 503] {
            let door = doing(preset, move |asked| async move {
                let mut answer = created(asked.run);
                *answer.status_mut() = StatusCode::from_u16(status)?;
                Ok(answer)
            });
            door.send(keyed(preset, "k", "{}")).await;
            door.send(keyed(preset, "k", "{}")).await;
            let is_final = match preset {
                Preset::Xihan | Preset::Stripe => true,
                _ => status < 500 && status != 429,
            };
            assert_eq!(door.runs.count(), if is_final { 1 } else { 2 }, "{preset} {status}");
        }
    }
}

#[tokio::test]
async fn exception() {
    for preset in ALL {
        let door = doing(preset, |asked| async move {
            if asked.run == 1 { Err("raised".into()) } else { Ok(created(asked.run)) }
        });
        let first = door.try_send(keyed(preset, "k", "{}")).await;
        let again = door.send(keyed(preset, "k", "{}")).await;
        if preset == Preset::Stripe {
            assert_eq!(first.unwrap().status.as_u16(), 500);
            assert_eq!((again.status.as_u16(), door.runs.count()), (500, 1));
            assert!(again.is_marked());
        } else {
            assert_eq!(first.unwrap_err().to_string(), "raised");
            again.assert_is_the_handlers(201, "order 2");
        }
    }
}

#[tokio::test]
async fn operation() {
    for preset in ALL {
        let door = door(preset);
        door.send(keyed(preset, "k", "{}")).await;
        let mut elsewhere = keyed(preset, "k", "{}");
        *elsewhere.uri_mut() = "/refunds".parse().unwrap();
        let answer = door.send(elsewhere).await;
        match preset {
            Preset::Rest => answer.assert_is_the_handlers(201, "order 2"),
            Preset::Stripe => answer.assert_is_with_status(Code::KeyReused, 400),
            Preset::Ietf => answer.assert_is_with_status(Code::KeyReused, 422),
            _ => answer.assert_is_with_status(Code::KeyReused, 409),
        }
    }
}

#[tokio::test]
async fn oversized() {
    for preset in ALL {
        let door = doing(preset, |asked| async move {
            let mut answer = created(asked.run);
            *answer.body_mut() = axum::body::Body::from(vec![b'x'; (256 << 10) + 1]);
            Ok(answer)
        });
        assert_eq!(door.send(keyed(preset, "k", "{}")).await.body.len(), (256 << 10) + 1);
        let again = door.send(keyed(preset, "k", "{}")).await;
        match preset {
            Preset::Rest => again.assert_is_the_handlers(201, ""),
            _ => again.assert_is_with_status(Code::ResponseUnavailable, 409),
        }
        assert_eq!(door.runs.count(), 1);
    }
}

fn marks(answer: &Answer) -> bool {
    answer.headers.keys().any(|name| name.as_str().contains("replay"))
}

#[tokio::test]
async fn replay_marker() {
    for preset in ALL {
        let door = door(preset);
        let first = door.send(keyed(preset, "k", "{}")).await;
        let again = door.send(keyed(preset, "k", "{}")).await;
        assert!(again.is_replayed);
        assert!(!marks(&first), "{preset}");
        let expected = !matches!(preset, Preset::Xihan | Preset::Ietf);
        assert_eq!((marks(&again), again.is_marked()), (expected, expected), "{preset}");
    }
}

/// Each policy of a preset can still be set on its own.
#[tokio::test]
async fn a_choice_after_the_preset_wins() {
    let door = Door::counting(once(), |layer| {
        layer
            .preset(Preset::Xihan)
            .fingerprint(Fingerprint::Body)
            .failures(Failures::SuccessOnly)
            .in_flight(InFlight::Wait(Duration::from_secs(1)))
            .missing_key(semel::MissingKey::Require)
    });
    door.send(keyed(Preset::Xihan, "k", "{}")).await;
    door.send(keyed(Preset::Xihan, "k", "[]")).await.assert_is(Code::PayloadMismatch);
    door.send(crate::support::keyless("{}")).await.assert_is(Code::KeyMissing);
}
