//! All questions and all states over a small alphabet: three tokens, two operations, four
//! fingerprints, all states, both sides of every deadline. Small enough to try every pair.

use semel_core::protocol::{
    Ask, Begin, Begun, Complete, Completed, InDoubt, Inspect, MarkDoubt, Marked, Release, Released,
    Renew, Renewed, Resolution, Resolve, Resolved, Seen, SeenRecord, Status, Verdict, Write,
    decide,
};
use semel_core::{
    Claim, Doubt, Expect, Fingerprint, Outcome, Owner, State, StoreTime, Token, Ttl, Version,
};

use crate::fixtures::{VERSION, absent, body, keep, lease, operation, part, seen, token, whole};

/// A question of any kind.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Begin(Begin),
    Complete(Complete),
    MarkDoubt(MarkDoubt),
    Release(Release),
    Renew(Renew),
    Resolve(Resolve),
    Inspect,
}

/// An answer of any kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Begun(Begun),
    Completed(Completed),
    Marked(Marked),
    Released(Released),
    Renewed(Renewed),
    Resolved(Resolved),
    Status(Status),
}

/// A verdict with its parts apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decided {
    pub(crate) write: Option<(Expect, Write)>,
    pub(crate) reply: Reply,
}

impl Question {
    pub(crate) fn on(&self, seen: &Seen) -> Decided {
        match self {
            Self::Begin(ask) => apart(seen, ask, Reply::Begun),
            Self::Complete(ask) => apart(seen, ask, Reply::Completed),
            Self::MarkDoubt(ask) => apart(seen, ask, Reply::Marked),
            Self::Release(ask) => apart(seen, ask, Reply::Released),
            Self::Renew(ask) => apart(seen, ask, Reply::Renewed),
            Self::Resolve(ask) => apart(seen, ask, Reply::Resolved),
            Self::Inspect => apart(seen, &Inspect, Reply::Status),
        }
    }

    /// The token of an owner that asks about its own claim.
    pub(crate) fn owner(&self) -> Option<Token> {
        match self {
            Self::Complete(ask) => Some(ask.claim.token),
            Self::MarkDoubt(ask) => Some(ask.token),
            Self::Release(ask) => Some(ask.token),
            Self::Renew(ask) => Some(ask.token),
            Self::Begin(_) | Self::Resolve(_) | Self::Inspect => None,
        }
    }

    /// The token under which it writes, if it writes a record.
    pub(crate) fn token(&self) -> Option<Token> {
        match self {
            Self::Begin(ask) => Some(ask.claim.token),
            Self::Resolve(ask) => Some(ask.token),
            _ => self.owner(),
        }
    }
}

fn apart<A: Ask>(seen: &Seen, ask: &A, reply: impl Fn(A::Answer) -> Reply) -> Decided {
    match decide(seen, ask) {
        Verdict::Write { expect, write, answer } => {
            Decided { write: Some((expect, write)), reply: reply(answer) }
        }
        Verdict::Answer(answer) => Decided { write: None, reply: reply(answer) },
    }
}

/// What is there after a write has won.
pub(crate) fn applied(before: &Seen, write: &Write) -> Seen {
    let last = before.record.as_ref().map_or(VERSION, |there| there.version);
    let version = Version::new(last.get() + 1);
    let record = match write {
        Write::Put { record, lease, keep } => {
            let record = record.clone();
            Some(SeenRecord { version, lease_left: *lease, keep_left: *keep, record })
        }
        Write::Renew { lease, keep } => before.record.clone().map(|there| SeenRecord {
            version,
            lease_left: *lease,
            keep_left: *keep,
            ..there
        }),
        Write::Delete => None,
    };
    Seen { now: StoreTime::from_micros(before.now.as_micros() + 1), record }
}

// ===== the alphabet =====

pub(crate) const TOKENS: [u8; 3] = [1, 2, 3];

pub(crate) fn fingerprints() -> Vec<Option<Fingerprint>> {
    let wide = Fingerprint::builder().part("query", b"q").part("body", b"x").build();
    vec![None, Some(body(b"x")), Some(body(b"y")), Some(wide)]
}

pub(crate) fn claims(tokens: &[u8], attempt: u32) -> Vec<Claim> {
    let mut claims = Vec::new();
    for number in tokens {
        for name in ["orders.create", "payments.create"] {
            for fingerprint in fingerprints() {
                claims.push(Claim {
                    operation: operation(name),
                    fingerprint,
                    token: token(*number),
                    attempt,
                    owner: Some(Owner::new("host-1")),
                });
            }
        }
    }
    claims
}

fn outcomes() -> [Outcome; 4] {
    [whole("A"), whole("B"), part("A"), part("B")]
}

pub(crate) fn states() -> Vec<Seen> {
    let mut states = vec![absent()];
    for claim in claims(&TOKENS[..2], 3) {
        for lease_left in [lease(), Ttl::ZERO] {
            states.push(seen(claim.clone(), State::Held, lease_left));
        }
        for doubt in [Doubt::Exception, Doubt::Other] {
            states.push(seen(claim.clone(), State::Doubt(doubt), Ttl::ZERO));
        }
        for outcome in outcomes() {
            states.push(seen(claim.clone(), State::Done(outcome), Ttl::ZERO));
        }
    }
    states
}

pub(crate) fn begins() -> Vec<Begin> {
    let mut begins = Vec::new();
    // The third token is nobody's yet: that of a call that begins.
    for claim in claims(&[TOKENS[0], TOKENS[2]], 1) {
        for in_doubt in [InDoubt::Rerun, InDoubt::Reject, InDoubt::Reconcile] {
            begins.push(Begin { claim: claim.clone(), in_doubt, lease: lease(), keep: keep() });
        }
    }
    begins
}

pub(crate) fn questions() -> Vec<Question> {
    let mut questions: Vec<Question> = begins().into_iter().map(Question::Begin).collect();
    for claim in claims(&TOKENS, 3) {
        questions.extend(outcomes().map(|outcome| {
            Question::Complete(Complete { claim: claim.clone(), outcome, keep: keep() })
        }));
    }
    for token in TOKENS.map(token) {
        questions.push(Question::Release(Release { token }));
        questions.push(Question::Renew(Renew { token, lease: lease(), keep: keep() }));
        let doubt = Doubt::CutOff;
        questions.push(Question::MarkDoubt(MarkDoubt { token, doubt, keep: keep() }));
    }
    for version in [VERSION, Version::new(VERSION.get() - 1)] {
        let done = Resolution::Done { outcome: whole("C"), keep: keep() };
        questions.extend(
            [done, Resolution::Free].map(|resolution| {
                Question::Resolve(Resolve { version, token: token(9), resolution })
            }),
        );
    }
    questions.push(Question::Inspect);
    questions
}
