use std::num::NonZeroU8;

use super::{Ack, Check, Expected, Facts, FindingLevel, NOT_LONG_AGO, Probe, SECOND, findings};

/// A server that leaves nothing to be wished for.
fn good() -> Facts {
    let now = NOT_LONG_AGO + 1_000 * SECOND;
    Facts {
        product: "Redis".to_owned(),
        version: (7, 0),
        bits: 64,
        run_id: "a".to_owned(),
        is_primary: true,
        maxmemory: 1 << 30,
        policy: "noeviction".to_owned(),
        appends: true,
        append_fsync: Some("always".to_owned()),
        clock: now,
        our_clock: now,
        tells_in_shards: true,
        may_publish: true,
        probe: Probe::Ran,
        ..Facts::default()
    }
}

fn expected() -> Expected {
    Expected {
        ack: Ack::None,
        in_cluster: false,
        fails_over: false,
        in_the_clear: false,
        has_password: false,
        last_clock: 0,
        lost_data: false,
    }
}

fn level(check: Check, facts: &Facts, expected: &Expected) -> Option<FindingLevel> {
    findings(facts, expected).into_iter().find(|said| said.check == check).map(|said| said.level)
}

fn assert_level(check: Check, due: FindingLevel, change: impl FnOnce(&mut Facts, &mut Expected)) {
    let (mut facts, mut expected) = (good(), expected());
    change(&mut facts, &mut expected);
    assert_eq!(level(check, &facts, &expected), Some(due), "{check}");
}

#[test]
fn a_good_server_leaves_nothing_to_be_wished_for() {
    for said in findings(&good(), &expected()) {
        assert_eq!(said.level, FindingLevel::Fine, "{}: {}", said.check, said.says);
        assert_eq!(said.change, None, "{}", said.check);
    }
}

#[test]
fn whatever_is_not_ok_says_what_to_change() {
    for said in findings(&Facts { is_primary: true, ..Facts::default() }, &expected()) {
        assert_eq!(said.change.is_some(), said.level != FindingLevel::Fine, "{}", said.check);
    }
}

#[test]
fn a_server_that_evicts_is_refused_once_it_can_be_full() {
    for policy in ["allkeys-lru", "volatile-lru", "volatile-ttl", "allkeys-random", ""] {
        assert_level(Check::Eviction, FindingLevel::Refused, |facts, _| {
            facts.policy = policy.to_owned()
        });
        assert_level(Check::Eviction, FindingLevel::Warning, |facts, _| {
            facts.policy = policy.to_owned();
            facts.maxmemory = 0;
        });
    }
}

#[test]
fn old_servers_and_replicas_are_refused() {
    assert_level(Check::Version, FindingLevel::Refused, |facts, _| facts.version = (6, 0));
    assert_level(Check::Version, FindingLevel::Refused, |facts, _| facts.bits = 32);
    assert_level(Check::Version, FindingLevel::Fine, |facts, _| facts.version = (6, 2));
    assert_level(Check::Role, FindingLevel::Refused, |facts, _| facts.is_primary = false);
}

#[test]
fn replicas_are_held_against_what_must_acknowledge() {
    let two = Ack::Replicas(NonZeroU8::new(2).expect("not zero"));
    for (replicas, ack, due) in [
        (0, Ack::None, FindingLevel::Fine),
        (1, Ack::None, FindingLevel::Warning),
        (0, Ack::All, FindingLevel::Refused),
        (2, Ack::All, FindingLevel::Fine),
        (1, two, FindingLevel::Refused),
        (2, two, FindingLevel::Fine),
        (3, two, FindingLevel::Warning),
    ] {
        assert_level(Check::Replicas, due, |facts, expected| {
            facts.replicas = replicas;
            expected.ack = ack;
        });
    }
}

#[test]
fn what_a_restart_may_lose_is_told() {
    assert_level(Check::Persistence, FindingLevel::Warning, |facts, _| facts.appends = false);
    for fsync in [Some("everysec".to_owned()), Some("no".to_owned()), None] {
        assert_level(Check::Persistence, FindingLevel::Warning, |facts, _| {
            facts.append_fsync = fsync
        });
    }
}

#[test]
fn clocks_that_make_no_sense_are_told() {
    assert_level(Check::Clock, FindingLevel::Warning, |facts, _| facts.clock = 0);
    assert_level(Check::Clock, FindingLevel::Warning, |facts, expected| {
        expected.last_clock = facts.clock + 2 * SECOND;
    });
    assert_level(Check::Clock, FindingLevel::Warning, |facts, _| facts.our_clock += 60 * SECOND);
}

#[test]
fn scripts_that_fail_are_refused_and_a_full_server_is_not() {
    assert_level(Check::Scripts, FindingLevel::Refused, |facts, _| {
        facts.probe = Probe::Failed("no".to_owned());
    });
    assert_level(Check::Scripts, FindingLevel::Fine, |facts, _| facts.probe = Probe::Full);
    assert_level(Check::Memory, FindingLevel::Warning, |facts, _| facts.probe = Probe::Full);
}

#[test]
fn lost_data_and_open_wires_are_told() {
    assert_level(Check::Data, FindingLevel::Warning, |_, expected| expected.lost_data = true);
    assert_level(Check::Transport, FindingLevel::Warning, |_, expected| {
        expected.in_the_clear = true
    });
    assert_level(Check::Hints, FindingLevel::Warning, |facts, _| facts.may_publish = false);
    assert_level(Check::Hints, FindingLevel::Warning, |facts, expected| {
        expected.in_cluster = true;
        facts.tells_in_shards = false;
    });
}
