//! Section 10 of the contract: what is checked, what is said about it, and what bundles hold.

use std::time::Duration;

use semel::{
    BindOperation, DetectExpired, Guarantee, InDoubtPolicy, InFlight, KeyStorage, MissingKey,
    OnException, Policy, PolicyBuilder, PolicyError, Preset, RetryAfter, StoreDown,
};

use super::support::{millis, secs};

const TEN_YEARS: Duration = Duration::from_secs(315_576_000);

fn error(builder: PolicyBuilder) -> PolicyError {
    builder.build().map(drop).unwrap_err()
}

#[test]
fn the_defaults_are_those_of_the_settings_table() {
    let policy = Policy::default();
    assert_eq!(policy.time_to_live().as_secs(), 86_400);
    assert_eq!(policy.in_progress_time_to_live().as_secs(), 60);
    assert_eq!(policy.max_execution().as_secs(), 3_600);
    assert_eq!(policy.missing_key(), MissingKey::Require);
    assert_eq!(policy.bind_operation(), BindOperation::Reject);
    assert_eq!(policy.detect_expired(), DetectExpired::Off);
    assert_eq!(policy.in_flight(), InFlight::Wait(secs(5)));
    assert_eq!(policy.max_waiters_per_key(), 1_000);
    assert_eq!(policy.retry_after(), RetryAfter::AtMost(secs(5)));
    assert_eq!(policy.on_exception(), OnException::Release);
    assert!(matches!(policy.in_doubt(), InDoubtPolicy::Rerun));
    assert_eq!(policy.store_down(), StoreDown::Closed);
    assert_eq!(policy.guarantee(), Guarantee::Retryable);
    assert!(matches!(policy.key_storage(), KeyStorage::Plain));
    assert_eq!(policy.key_rule().max_chars().get(), 255);
}

/// Each names the setting, what it got, what it takes, and the default.
#[test]
fn a_time_of_nothing_is_refused_by_name() {
    type Set = fn(PolicyBuilder) -> PolicyBuilder;
    let zero: [(Set, &str); 5] = [
        (
            |policy| policy.in_progress_time_to_live(Duration::ZERO),
            "idempotency.in_progress_time_to_live_seconds = 0: it must be a positive number of \
             seconds; the default is 60",
        ),
        (
            |policy| policy.time_to_live(Duration::ZERO),
            "idempotency.time_to_live_seconds = 0: it must be a positive number of seconds; the \
             default is 86400",
        ),
        (
            |policy| policy.max_execution(Duration::ZERO),
            "idempotency.max_execution_seconds = 0: it must be a positive number of seconds; the \
             default is 3600",
        ),
        (
            |policy| policy.in_flight(InFlight::Wait(Duration::ZERO)),
            "idempotency.wait_seconds = 0: it must be a positive number of seconds; the default \
             is 5",
        ),
        (
            |policy| policy.retry_after(RetryAfter::AtMost(Duration::ZERO)),
            "idempotency.retry_after_seconds = 0: it must be a positive number of seconds; the \
             default is 5",
        ),
    ];
    for (set, message) in zero {
        assert_eq!(error(set(Policy::builder())).to_string(), message);
    }
}

#[test]
fn a_time_beyond_ten_years_is_refused_by_name() {
    let too_long = TEN_YEARS + millis(500);
    for (builder, setting) in [
        (Policy::builder().time_to_live(too_long), "time_to_live_seconds"),
        (
            Policy::builder().in_progress_time_to_live(Duration::MAX),
            "in_progress_time_to_live_seconds",
        ),
        (Policy::builder().max_execution(too_long), "max_execution_seconds"),
        (Policy::builder().in_flight(InFlight::Wait(too_long)), "wait_seconds"),
        (Policy::builder().retry_after(RetryAfter::AtMost(too_long)), "retry_after_seconds"),
    ] {
        let message = error(builder).to_string();
        assert!(message.starts_with(&format!("idempotency.{setting} = ")), "{message}");
        assert!(message.ends_with("it must be at most 315576000 (ten years)"), "{message}");
        // What it got is not what it takes, not even when rounded.
        assert!(!message.contains("= 315576000:"), "{message}");
    }
    let longest = Policy::builder().time_to_live(TEN_YEARS).max_execution(TEN_YEARS);
    assert_eq!(longest.build().unwrap().time_to_live(), TEN_YEARS);
}

#[test]
fn a_lease_that_outlasts_what_it_is_for_is_refused() {
    let message = error(Policy::builder().time_to_live(secs(59))).to_string();
    assert_eq!(
        message,
        "idempotency.in_progress_time_to_live_seconds = 60: it must be at most \
         idempotency.time_to_live_seconds (59)"
    );
    let message = error(Policy::builder().max_execution(millis(59_500))).to_string();
    assert_eq!(
        message,
        "idempotency.max_execution_seconds = 59.5: it must be at least \
         idempotency.in_progress_time_to_live_seconds (60)"
    );
    Policy::builder().time_to_live(secs(60)).max_execution(secs(60)).build().unwrap();
}

/// Less than a microsecond, which is as fine as a store tells time, is not rounded to nothing.
#[test]
fn the_shortest_times_stay_positive() {
    let tiny = Duration::from_nanos(1);
    let policy = Policy::builder().in_progress_time_to_live(tiny).build().unwrap();
    assert!(!policy.in_progress_time_to_live().is_zero());
}

/// Section 7: what each preset holds of a policy.
#[test]
fn presets_hold_what_the_table_says() {
    let wait = InFlight::Wait(secs(5));
    for (preset, missing_key, in_flight, on_exception, bind_operation) in [
        (Preset::Default, MissingKey::Require, wait, OnException::Release, BindOperation::Reject),
        (Preset::Rest, MissingKey::Require, wait, OnException::Release, BindOperation::Separate),
        (
            Preset::Xihan,
            MissingKey::Optional,
            InFlight::Reject,
            OnException::Release,
            BindOperation::Reject,
        ),
        (
            Preset::Stripe,
            MissingKey::Optional,
            InFlight::Reject,
            OnException::Record,
            BindOperation::Reject,
        ),
        (
            Preset::Ietf,
            MissingKey::Require,
            InFlight::Reject,
            OnException::Release,
            BindOperation::Reject,
        ),
    ] {
        let bundle = Policy::builder().preset(preset);
        // The last preset holds, whichever came before it.
        let over = [Preset::Default, Preset::Rest, Preset::Xihan, Preset::Stripe, Preset::Ietf]
            .map(|before| Policy::builder().preset(before).preset(preset));
        for policy in over.into_iter().chain([bundle]) {
            let policy = policy.build().unwrap();
            assert_eq!(policy.missing_key(), missing_key, "{preset}");
            assert_eq!(policy.in_flight(), in_flight, "{preset}");
            assert_eq!(policy.on_exception(), on_exception, "{preset}");
            assert_eq!(policy.bind_operation(), bind_operation, "{preset}");
        }
    }
}

/// Section 3: what each guarantee holds, with its promise and its condition.
#[test]
fn guarantees_hold_what_the_table_says() {
    for (guarantee, takes_over, on_exception, freezes) in [
        (Guarantee::Retryable, true, OnException::Release, false),
        (Guarantee::AtMostOnce, false, OnException::Doubt, true),
        (Guarantee::Cooperative, true, OnException::Release, false),
        (Guarantee::Transactional, true, OnException::Release, false),
    ] {
        for before in [Guarantee::Retryable, Guarantee::AtMostOnce, Guarantee::Cooperative] {
            let policy = Policy::builder().guarantee(before).guarantee(guarantee).build().unwrap();
            assert_eq!(policy.guarantee(), guarantee);
            assert_eq!(policy.on_exception(), on_exception, "{guarantee}");
            let reruns = matches!(policy.in_doubt(), InDoubtPolicy::Rerun);
            assert_eq!(reruns, takes_over, "{guarantee}");
            assert_eq!(guarantee.freezes_failures(), freezes, "{guarantee}");
        }
        assert!(guarantee.promise().contains("effect"), "{guarantee}");
        assert!(!guarantee.promise().contains("exactly once"));
        assert!(!guarantee.condition().is_empty());
    }
}

/// Single choices win over bundles that come before them, and bundles over what came before.
#[test]
fn what_is_chosen_later_wins() {
    let policy = Policy::builder()
        .in_flight(InFlight::Reject)
        .preset(Preset::Rest)
        .guarantee(Guarantee::AtMostOnce)
        .in_doubt(InDoubtPolicy::Rerun)
        .bind_operation(BindOperation::Reject)
        .build()
        .unwrap();
    assert_eq!(policy.in_flight(), InFlight::Wait(secs(5)), "the preset's");
    assert_eq!(policy.bind_operation(), BindOperation::Reject, "chosen after it");
    assert_eq!(policy.on_exception(), OnException::Doubt, "the guarantee's");
    assert!(matches!(policy.in_doubt(), InDoubtPolicy::Rerun), "chosen after it");
}

/// A preset says how one talks, not what is promised: it weakens no guarantee named before it.
#[test]
fn a_preset_leaves_the_guarantee_alone() {
    for preset in [Preset::Default, Preset::Rest, Preset::Xihan, Preset::Ietf] {
        let builder = Policy::builder().guarantee(Guarantee::AtMostOnce).preset(preset);
        let policy = builder.build().unwrap();
        assert_eq!(policy.on_exception(), OnException::Doubt, "{preset}");
        assert!(matches!(policy.in_doubt(), InDoubtPolicy::Reject), "{preset}");
    }
}

#[test]
fn a_policy_can_be_changed_and_keeps_the_rest() {
    let policy = Policy::builder()
        .preset(Preset::Stripe)
        .guarantee(Guarantee::AtMostOnce)
        .key_storage(KeyStorage::digest([1; 32]))
        .time_to_live(secs(1_000))
        .max_execution(secs(500))
        .in_progress_time_to_live(secs(7))
        .max_waiters_per_key(3)
        .retry_after(RetryAfter::Off)
        .store_down(StoreDown::Open)
        .detect_expired(DetectExpired::On)
        .build()
        .unwrap();
    let same = policy.to_builder().build().unwrap();
    assert_eq!(format!("{same:?}"), format!("{policy:?}"));
    let changed = policy.to_builder().max_waiters_per_key(4).build().unwrap();
    assert_ne!(format!("{changed:?}"), format!("{policy:?}"));
    assert_eq!(changed.time_to_live(), secs(1_000));
}

macro_rules! words_of {
    ($type:ident: $($word:literal),+) => {{
        assert_eq!($type::WORDS, [$($word),+]);
        $(
            let value: $type = $word.parse().unwrap();
            assert_eq!((value.word(), value.to_string().as_str()), ($word, $word));
        )+
        for wrong in ["", " ", "no such word", concat!(" ", stringify!($type))] {
            let error = wrong.parse::<$type>().unwrap_err();
            assert_eq!(error.takes(), $type::WORDS);
            let message = error.to_string();
            assert!(message.contains(&format!("`{wrong}`")), "{message}");
            assert!($type::WORDS.iter().all(|word| message.contains(word)), "{message}");
        }
        // Words are taken as they are written, no other case and no white space around.
        $(
            assert!($word.to_uppercase().parse::<$type>().is_err());
            assert!(format!("{} ", $word).parse::<$type>().is_err());
        )+
    }};
}

#[test]
fn every_choice_has_its_words() {
    words_of!(MissingKey: "require", "optional");
    words_of!(BindOperation: "reject", "separate");
    words_of!(DetectExpired: "false", "true");
    words_of!(OnException: "release", "record", "doubt");
    words_of!(StoreDown: "closed", "open");
    words_of!(Preset: "default", "rest", "xihan", "stripe", "ietf");
    words_of!(Guarantee: "retryable", "at_most_once", "cooperative", "transactional");
}

/// S-62: a wrong word is shown on one line, and not at any length.
#[test]
fn a_wrong_word_is_shown_cut_short_and_on_one_line() {
    let error = format!("x\n\u{1b}[2J{}", "y".repeat(10_000)).parse::<Preset>().unwrap_err();
    let message = error.to_string();
    assert!(message.len() < 300, "{}", message.len());
    assert!(!message.contains(['\n', '\u{1b}']), "{message:?}");
}
