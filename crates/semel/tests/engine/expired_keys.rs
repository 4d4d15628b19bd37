//! I10, F-10: keys that say how old they are, and are older than anything is remembered.

use std::sync::Arc;
use std::time::Duration;

use semel::timer::unix_time;
use semel::{Call, Code, DetectExpired, Policy, ProblemKind, Scope};

use super::support::{operation, policy, secs};

const DAY: Duration = Duration::from_secs(86_400);

fn detecting() -> Arc<Policy> {
    policy(|policy| policy.detect_expired(DetectExpired::On))
}

fn uuid_v7(born: Duration) -> String {
    let millis = u64::try_from(born.as_millis()).unwrap();
    let (high, low) = (millis >> 16, millis & 0xffff);
    format!("{high:08x}-{low:04x}-7abc-8def-0123456789ab")
}

fn ulid(born: Duration) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let millis = u64::try_from(born.as_millis()).unwrap();
    let time = (0..10).rev().map(|place| {
        let digit = usize::try_from((millis >> (5 * place)) & 31).unwrap();
        char::from(ALPHABET[digit])
    });
    time.chain("0123456789ABCDEF".chars()).collect()
}

fn called(policy: &Arc<Policy>, key: &str) -> Result<Call, semel::Problem> {
    Call::new(policy, &Scope::anonymous(), key, operation("o"))
}

#[test]
fn a_key_older_than_the_retention_is_refused_and_not_run() {
    for key in [uuid_v7(unix_time() - 2 * DAY), ulid(unix_time() - 2 * DAY)] {
        let problem = called(&detecting(), &key).unwrap_err();
        assert_eq!(problem.code(), Code::KeyExpired);
        let ProblemKind::KeyExpired { age, limit } = problem.kind() else { panic!("{problem:?}") };
        assert_eq!(*limit, DAY);
        assert!((2 * DAY..2 * DAY + secs(60)).contains(age), "{age:?}");
    }
}

#[test]
fn a_younger_key_and_one_that_says_nothing_of_its_age_pass() {
    let young = unix_time() - DAY + secs(60);
    let keys = [
        uuid_v7(young),
        ulid(young),
        // Made by a clock that is ahead of ours.
        uuid_v7(unix_time() + DAY),
        "2f1e4fc0-81fd-4b3b-9f2c-0123456789ab".to_owned(),
        "order-1".to_owned(),
    ];
    for key in keys {
        called(&detecting(), &key).unwrap();
    }
}

#[test]
fn nobody_asks_for_a_keys_age_unless_the_policy_does() {
    called(&policy(|policy| policy), &uuid_v7(Duration::ZERO)).unwrap();
    let remembers = policy(|policy| {
        policy.detect_expired(DetectExpired::On).time_to_live(secs(40 * 365 * 86_400 / 10))
    });
    called(&remembers, &uuid_v7(unix_time() - 3 * DAY)).unwrap();
}
