//! Broken variants: each must break a law, or the check is blind to it.

use semel_core::protocol::{
    Ask, Begin, Begun, Complete, Completed, InDoubt, MarkDoubt, Marked, Release, Released, Renew,
    Renewed, Seen, SeenRecord, Verdict, Write, decide,
};
use semel_core::{Claim, Expect, Record, State, Ttl};

use crate::checks::breaks;
use crate::laws::Law;
use crate::rules::{Production, Rules};
use crate::settings::{Guarantee, OnFailure, Owner, Settings, Upstream};

fn put<A>(expect: Expect, claim: &Claim, state: State, answer: A) -> Verdict<A> {
    let lease = if state == State::Held { Ttl::MAX } else { Ttl::ZERO };
    let record = Record { claim: claim.clone(), state };
    Verdict::Write { expect, write: Write::Put { record, lease, keep: Ttl::MAX }, answer }
}

fn same(there: &SeenRecord) -> Expect {
    Expect::Version(there.version)
}

/// Takes what is there for the asker's own, and decides on that.
fn as_if_ours<A: Ask>(seen: &Seen, ask: &A, ours: semel_core::Token) -> Verdict<A::Answer> {
    let mut seen = seen.clone();
    if let Some(there) = &mut seen.record {
        there.record.claim.token = ours;
    }
    decide(&seen, ask)
}

// ===== release =====

struct ReleasesAnybodys;

impl Rules for ReleasesAnybodys {
    fn release(&self, seen: &Seen, ask: &Release) -> Verdict<Released> {
        as_if_ours(seen, ask, ask.token)
    }
}

#[test]
fn a_delete_without_a_look_at_the_token_is_caught() {
    for set in [Settings::retryable(), Settings::cooperative()] {
        breaks("deletes without the token", ReleasesAnybodys, set, &[Law::I5]);
    }
}

struct ReleasesWhatIsDone;

impl Rules for ReleasesWhatIsDone {
    fn release(&self, seen: &Seen, ask: &Release) -> Verdict<Released> {
        match &seen.record {
            Some(there) if matches!(there.record.state, State::Done(_)) => Verdict::Write {
                expect: same(there),
                write: Write::Delete,
                answer: Released::Released,
            },
            _ => decide(seen, ask),
        }
    }
}

#[test]
fn a_release_after_the_outcome_is_caught() {
    breaks("releases what is done", ReleasesWhatIsDone, Settings::retryable(), &[Law::I2]);
}

struct ReleasesItsDoubt;

impl Rules for ReleasesItsDoubt {
    fn mark_doubt(&self, seen: &Seen, ask: &MarkDoubt) -> Verdict<Marked> {
        match seen.owned_by(ask.token) {
            Some(there) if matches!(there.record.state, State::Doubt(_)) => Verdict::Write {
                expect: same(there),
                write: Write::Delete,
                answer: Marked::InDoubt,
            },
            _ => decide(seen, ask),
        }
    }
}

#[test]
fn a_doubt_that_is_taken_back_is_caught() {
    breaks("takes its doubt back", ReleasesItsDoubt, Settings::at_most_once(), &[Law::I9]);
}

// ===== complete =====

struct CompletesBlindly;

impl Rules for CompletesBlindly {
    fn complete(&self, _: &Seen, ask: &Complete) -> Verdict<Completed> {
        let done = State::Done(ask.outcome.clone());
        put(Expect::Any, &ask.claim, done, Completed::Recorded)
    }
}

#[test]
fn a_completion_without_the_version_is_caught() {
    for set in [Settings::retryable(), Settings::cooperative()] {
        breaks("completes blindly", CompletesBlindly, set, &[Law::I2, Law::I5]);
    }
}

struct CompletesAnybodys;

impl Rules for CompletesAnybodys {
    fn complete(&self, seen: &Seen, ask: &Complete) -> Verdict<Completed> {
        as_if_ours(seen, ask, ask.claim.token)
    }
}

#[test]
fn a_completion_without_the_token_is_caught() {
    breaks("completes anybody's", CompletesAnybodys, Settings::retryable(), &[Law::I2, Law::I5]);
}

struct LosesTheFingerprint;

impl Rules for LosesTheFingerprint {
    fn complete(&self, seen: &Seen, ask: &Complete) -> Verdict<Completed> {
        let mut verdict = decide(seen, ask);
        if let Verdict::Write { write: Write::Put { record, .. }, .. } = &mut verdict {
            record.claim.fingerprint = None;
        }
        verdict
    }
}

/// P2.
#[test]
#[should_panic(expected = "the fingerprint survives")]
fn a_completion_that_loses_the_fingerprint_is_caught() {
    breaks("loses the fingerprint", LosesTheFingerprint, Settings::retryable(), &[]);
}

// ===== begin =====

struct TakesOver(fn(&mut SeenRecord));

impl Rules for TakesOver {
    fn begin(&self, seen: &Seen, ask: &Begin) -> Verdict<Begun> {
        let mut seen = seen.clone();
        if let Some(there) = &mut seen.record {
            self.0(there);
        }
        decide(&seen, &Begin { in_doubt: InDoubt::Rerun, ..ask.clone() })
    }
}

#[test]
fn a_take_over_in_spite_of_reject_is_caught() {
    let takes_over = TakesOver(|_| {});
    breaks("takes over", takes_over, Settings::at_most_once(), &[Law::I5, Law::I9, Law::I11]);
}

#[test]
fn a_take_over_under_a_live_lease_is_caught() {
    let takes_over = TakesOver(|there| there.lease_left = Ttl::ZERO);
    breaks("takes over a live lease", takes_over, Settings::retryable(), &[Law::I5]);
}

struct BeginsBlindly;

impl Rules for BeginsBlindly {
    fn begin(&self, seen: &Seen, ask: &Begin) -> Verdict<Begun> {
        match decide(seen, ask) {
            Verdict::Write { write, answer, .. } => {
                Verdict::Write { expect: Expect::Any, write, answer }
            }
            answer @ Verdict::Answer(_) => answer,
        }
    }
}

#[test]
fn a_claim_that_reads_and_then_writes_is_caught() {
    breaks("begins blindly", BeginsBlindly, Settings::retryable(), &[Law::I2, Law::I5]);
}

struct TakesAnyClaimForItsOwn;

impl Rules for TakesAnyClaimForItsOwn {
    fn begin(&self, seen: &Seen, ask: &Begin) -> Verdict<Begun> {
        as_if_ours(seen, ask, ask.claim.token)
    }
}

#[test]
fn a_claim_whose_result_is_not_looked_at_is_caught() {
    breaks("takes any claim", TakesAnyClaimForItsOwn, Settings::retryable(), &[Law::I5, Law::I8]);
}

struct WorksUnderADeadLease;

impl Rules for WorksUnderADeadLease {
    fn begin(&self, seen: &Seen, ask: &Begin) -> Verdict<Begun> {
        match seen.owned_by(ask.claim.token) {
            Some(ours) if ours.record.state == State::Held => {
                Verdict::Answer(Begun::Fresh { attempt: ours.record.claim.attempt })
            }
            _ => decide(seen, ask),
        }
    }
}

/// So it was here once.
#[test]
fn a_claim_that_is_found_after_its_lease_and_not_renewed_is_caught() {
    breaks("dead lease", WorksUnderADeadLease, Settings::retryable(), &[Law::I8]);
}

struct WaitsForTheDead;

impl Rules for WaitsForTheDead {
    fn begin(&self, seen: &Seen, ask: &Begin) -> Verdict<Begun> {
        match &seen.record {
            Some(there) if there.record.state == State::Held => {
                Verdict::Answer(Begun::InFlight { lease_left: Ttl::MAX })
            }
            _ => decide(seen, ask),
        }
    }
}

/// P5 and N4.
#[test]
fn a_key_that_stays_blocked_after_the_lease_is_caught() {
    breaks("waits for the dead", WaitsForTheDead, Settings::retryable(), &[Law::I11]);
}

// ===== renew and doubt =====

struct Revives;

impl Rules for Revives {
    fn renew(&self, seen: &Seen, ask: &Renew) -> Verdict<Renewed> {
        match seen.owned_by(ask.token) {
            Some(ours) => put(same(ours), &ours.record.claim, State::Held, Renewed::Renewed),
            None => decide(seen, ask),
        }
    }
}

/// F-26: only a renewal that decides anew, after it lost, can meet what has ended.
#[test]
fn a_renewal_that_revives_what_has_ended_is_caught() {
    let set = Settings { renewals: 1, streams: true, ..Settings::retryable() };
    breaks("revives", Revives, set, &[Law::I2]);
}

struct DoubtsWhatIsDone;

impl Rules for DoubtsWhatIsDone {
    fn mark_doubt(&self, seen: &Seen, ask: &MarkDoubt) -> Verdict<Marked> {
        match &seen.record {
            Some(there) if there.record.claim.token != ask.token => {
                put(same(there), &there.record.claim, State::Doubt(ask.doubt), Marked::InDoubt)
            }
            _ => decide(seen, ask),
        }
    }
}

#[test]
fn a_doubt_over_somebody_elses_outcome_is_caught() {
    let set = Settings { on_failure: OnFailure::Doubt, ..Settings::retryable() };
    breaks("doubts what is done", DoubtsWhatIsDone, set, &[Law::I2, Law::I5]);
}

// ===== the world around the decision =====

#[test]
fn a_key_that_is_freed_when_the_outcome_is_not_known_is_caught() {
    let set = Settings { on_failure: OnFailure::Release, ..Settings::at_most_once() };
    breaks("frees on silence", Production, set, &[Law::I7]);
}

#[test]
fn a_take_over_without_an_upstream_that_dedups_is_caught() {
    let set = Settings { upstream: Upstream::Plain, ..Settings::cooperative() };
    breaks("cooperative, plain upstream", Production, set, &[Law::I1]);
}

/// Token 1 acts, then token 2 acts: the order is right, and there are two effects.
#[test]
fn a_fence_alone_is_caught() {
    let set = Settings { upstream: Upstream::ChecksFence, ..Settings::cooperative() };
    breaks("cooperative, fence only", Production, set, &[Law::I1]);
}

#[test]
fn an_upstream_that_dedups_and_answers_for_itself_is_caught() {
    let set = Settings { upstream: Upstream::DedupsAndAnswersItself, ..Settings::cooperative() };
    breaks("cooperative, own answer", Production, set, &[Law::I3, Law::I4]);
}

#[test]
fn an_owner_that_works_although_the_store_did_not_answer_is_caught() {
    for set in [Settings::retryable(), Settings::at_most_once(), Settings::cooperative()] {
        let set = Settings { owner: Owner::RunsOnSilence, ..set };
        breaks("runs on silence", Production, set, &[Law::I10]);
    }
}

#[test]
fn versions_that_begin_anew_after_a_delete_are_caught() {
    let set = Settings { versions_restart: true, ..Settings::retryable() };
    breaks("versions begin anew", Production, set, &[Law::I6]);
}

#[test]
fn at_most_once_without_reject_is_caught() {
    let set = Settings { in_doubt: InDoubt::Rerun, ..Settings::at_most_once() };
    assert_eq!(set.guarantee, Guarantee::AtMostOnce);
    breaks("at_most_once with rerun", Production, set, &[Law::I5, Law::I9]);
}
