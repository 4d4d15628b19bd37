//! Between the model's small types and the production ones.

use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use semel_core::protocol::{
    Begin, Begun, Complete, Completed, InDoubt, MarkDoubt, Release, Renew, Resolution, Resolve,
    Seen, SeenRecord, Successor, Verdict, Write,
};
use semel_core::{
    Claim, Doubt, Expect, Extent, Fingerprint, Form, Operation, Outcome, Record, State, StoreTime,
    Token, Ttl, Version,
};

use crate::rules::Rules;
use crate::state::{Answer, Asked, Call, Change, Claimed, Entry, Expected, Progress, Swap};

/// A decision in the model's types.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decided {
    Send(Swap),
    Told(Answer),
}

/// What is decided on: what is there, who asks, and what.
type Situation = (Option<Entry>, Call, Asked);

/// The decision, through the production types. It is pure, so that each is taken once.
pub(crate) struct Decision<R> {
    rules: R,
    in_doubt: InDoubt,
    claim: Claim,
    taken: RefCell<HashMap<Situation, Decided>>,
}

impl<R: Rules> Decision<R> {
    pub(crate) fn new(rules: R, in_doubt: InDoubt) -> Self {
        let claim = Claim {
            operation: Operation::new("orders.create").unwrap(),
            fingerprint: Some(Fingerprint::builder().part("body", b"two keyboards").build()),
            token: token(0),
            attempt: 1,
            owner: None,
        };
        Self { rules, in_doubt, claim, taken: RefCell::default() }
    }

    pub(crate) fn on(&self, entry: Option<Entry>, call: Call, asked: Asked) -> Decided {
        let take = || self.decide(&self.seen(entry), call, asked);
        *self.taken.borrow_mut().entry((entry, call, asked)).or_insert_with(take)
    }

    fn decide(&self, seen: &Seen, call: Call, asked: Asked) -> Decided {
        let (token, lease, keep) = (token(call), lease(), Ttl::MAX);
        let claim = Claim { token, ..self.claim.clone() };
        let rules = &self.rules;
        match asked {
            Asked::Begin => {
                let ask = Begin { claim, in_doubt: self.in_doubt, lease, keep };
                self.small(call, asked, rules.begin(seen, &ask), begun)
            }
            Asked::Complete { answer, whole } => {
                let ask = Complete { claim, outcome: outcome(answer, whole), keep };
                self.small(call, asked, rules.complete(seen, &ask), completed)
            }
            Asked::Release => {
                self.small(call, asked, rules.release(seen, &Release { token }), settled)
            }
            Asked::Doubt => {
                let ask = MarkDoubt { token, doubt: Doubt::Exception, keep };
                self.small(call, asked, rules.mark_doubt(seen, &ask), settled)
            }
            Asked::Renew => {
                let ask = Renew { token, lease, keep };
                self.small(call, asked, rules.renew(seen, &ask), settled)
            }
            Asked::Resolve { version, answer } => {
                let resolution = match answer {
                    Some(answer) => Resolution::Done { outcome: outcome(answer, true), keep },
                    None => Resolution::Free,
                };
                let ask = Resolve { version: Version::new(version.into()), token, resolution };
                self.small(call, asked, rules.resolve(seen, &ask), settled)
            }
        }
    }

    fn seen(&self, entry: Option<Entry>) -> Seen {
        let record = entry.map(|Entry { version, live, claimed }| SeenRecord {
            version: Version::new(version.into()),
            lease_left: if live { lease() } else { Ttl::ZERO },
            keep_left: Ttl::MAX,
            record: self.record(claimed),
        });
        Seen { now: StoreTime::from_micros(1), record }
    }

    fn record(&self, claimed: Claimed) -> Record {
        let claim = Claim { token: token(claimed.token), ..self.claim.clone() };
        let state = match claimed.progress {
            Progress::Held => State::Held,
            Progress::Doubt => State::Doubt(Doubt::Exception),
            Progress::Done { answer, whole } => State::Done(outcome(answer, whole)),
        };
        Record { claim, state }
    }

    fn small<A>(
        &self,
        call: Call,
        asked: Asked,
        verdict: Verdict<A>,
        answer_of: impl Fn(&A) -> Answer,
    ) -> Decided {
        match verdict {
            Verdict::Answer(answer) => Decided::Told(answer_of(&answer)),
            Verdict::Write { expect, write, answer } => {
                let (expected, change) = (expected(expect), self.change(&write));
                Decided::Send(Swap { call, asked, expected, change, answer: answer_of(&answer) })
            }
        }
    }

    /// The write; it must carry the request on and have a lease exactly while it is held.
    fn change(&self, write: &Write) -> Change {
        match write {
            Write::Renew { lease, .. } => {
                assert!(!lease.is_zero(), "a renewal gives a lease");
                Change::Renew
            }
            Write::Delete => Change::Delete,
            Write::Put { record: Record { claim, state }, lease, .. } => {
                assert_eq!(claim.operation, self.claim.operation, "the operation survives");
                assert_eq!(claim.fingerprint, self.claim.fingerprint, "the fingerprint survives");
                assert_eq!(lease.is_zero(), *state != State::Held, "{state:?}");
                Change::Put(Claimed { token: call(claim.token), progress: progress(state) })
            }
        }
    }
}

fn lease() -> Ttl {
    Ttl::from_micros(60_000_000).unwrap()
}

fn token(call: Call) -> Token {
    Token::from_bytes([call; 16])
}

const fn call(token: Token) -> Call {
    token.as_bytes()[0]
}

fn outcome(answer: Call, whole: bool) -> Outcome {
    let extent = if whole { Extent::Whole } else { Extent::Partial };
    Outcome { form: Form::Value, extent, payload: Bytes::copy_from_slice(&[answer]) }
}

fn told(outcome: &Outcome) -> (Call, bool) {
    (outcome.payload[0], outcome.extent == Extent::Whole)
}

fn progress(state: &State) -> Progress {
    match state {
        State::Held => Progress::Held,
        State::Doubt(_) => Progress::Doubt,
        State::Done(outcome) => {
            let (answer, whole) = told(outcome);
            Progress::Done { answer, whole }
        }
    }
}

fn expected(expect: Expect) -> Expected {
    match expect {
        Expect::Absent => Expected::Absent,
        Expect::Version(version) => Expected::Version(u8::try_from(version.get()).unwrap()),
        Expect::Any => Expected::Any,
    }
}

fn begun(begun: &Begun) -> Answer {
    match begun {
        Begun::Fresh { .. } => Answer::Fresh,
        Begun::Replay(outcome) => {
            let (answer, whole) = told(outcome);
            Answer::Replay { answer, whole }
        }
        Begun::InFlight { .. } => Answer::Wait,
        Begun::InDoubt { .. } => Answer::Unknown,
        other => panic!("{other:?}: there is one request, and no application to ask"),
    }
}

fn completed(completed: &Completed) -> Answer {
    match completed {
        Completed::Recorded => Answer::Recorded,
        Completed::Superseded(Successor::Done(outcome)) => {
            let (answer, whole) = told(outcome);
            Answer::SupersededBy { answer, whole }
        }
        Completed::Superseded(_) => Answer::Superseded,
    }
}

const fn settled<A>(_: &A) -> Answer {
    Answer::Settled
}
