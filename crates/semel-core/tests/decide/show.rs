//! Verdicts in one line, for tables.

use semel_core::protocol::{
    Begun, Completed, Marked, Released, Renewed, Resolved, Status, Successor, Verdict, Write,
};
use semel_core::{Expect, Extent, Outcome, State};

use crate::fixtures::{OURS, VERSION, token};

pub(crate) trait Show {
    fn show(&self) -> String;
}

impl<A: Show> Show for Verdict<A> {
    fn show(&self) -> String {
        match self {
            Self::Answer(answer) => answer.show(),
            Self::Write { expect, write, answer } => {
                format!("{}{} -> {}", show_expect(*expect), show_write(write), answer.show())
            }
        }
    }
}

fn show_expect(expect: Expect) -> &'static str {
    match expect {
        Expect::Absent => "if absent ",
        Expect::Version(VERSION) => "if same ",
        Expect::Version(_) => "if another version ",
        Expect::Any => "whatever is there ",
    }
}

fn show_write(write: &Write) -> String {
    let Write::Put { record, .. } = write else {
        return if *write == Write::Delete { "delete".into() } else { "renew".into() };
    };
    let claim = &record.claim;
    let whose = if claim.token == token(OURS) { "our" } else { "other" };
    let state = match &record.state {
        State::Held => "held".into(),
        State::Doubt(doubt) => format!("doubt {doubt:?}"),
        State::Done(outcome) => outcome.show(),
    };
    format!("put {whose} #{} {state}", claim.attempt)
}

impl Show for Outcome {
    fn show(&self) -> String {
        let extent = if self.extent == Extent::Whole { "whole" } else { "part" };
        format!("{extent} {}", String::from_utf8_lossy(&self.payload))
    }
}

impl Show for Begun {
    fn show(&self) -> String {
        match self {
            Self::Fresh { attempt } => format!("fresh #{attempt}"),
            Self::Replay(outcome) => format!("replay {}", outcome.show()),
            Self::InFlight { .. } => "in flight".into(),
            Self::KeyReused { recorded } => format!("key reused by {recorded}"),
            Self::Mismatch { differs } => format!("mismatch in {}", differs[0]),
            Self::InDoubt { .. } => "in doubt".into(),
            Self::Reconcile(_) => "ask the application".into(),
        }
    }
}

impl Show for Completed {
    fn show(&self) -> String {
        match self {
            Self::Recorded => "recorded".into(),
            Self::Superseded(successor) => format!("superseded by {}", successor.show()),
        }
    }
}

impl Show for Successor {
    fn show(&self) -> String {
        match self {
            Self::Done(outcome) => outcome.show(),
            Self::InFlight { .. } => "one in flight".into(),
            Self::InDoubt { .. } => "one in doubt".into(),
            Self::Other => "another call".into(),
            Self::Nothing => "nothing".into(),
        }
    }
}

impl Show for Status {
    fn show(&self) -> String {
        match self {
            Self::Absent => "absent".into(),
            Self::InFlight { .. } => "in flight".into(),
            Self::InDoubt { .. } => "in doubt".into(),
            Self::Done(outcome) => format!("done {}", outcome.show()),
        }
    }
}

impl Show for Released {
    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Show for Renewed {
    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Show for Marked {
    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Show for Resolved {
    fn show(&self) -> String {
        match self {
            Self::StillHeld { .. } => "StillHeld".into(),
            other => format!("{other:?}"),
        }
    }
}
