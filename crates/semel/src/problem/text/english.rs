//! English.

use std::sync::Arc;

use semel_core::Operation;

use super::super::code::Code;
use super::super::key_fault::KeyFault;
use super::super::kind::ProblemKind;
use super::super::moment::rfc3339;
use super::super::params::rounded_up;
use super::{Span, shown};

pub(super) const fn title(code: Code) -> &'static str {
    match code {
        Code::LockHeld => "The resource is locked",
        Code::InProgress => "The first request with this key is still running",
        Code::KeyReused => "This key belongs to another operation",
        Code::ResponseUnavailable => "The response to the first request is not available",
        Code::InDoubt => "The outcome of the first request is unknown",
        Code::KeyInvalid => "The key is not valid",
        Code::KeyMissing => "An idempotency key is required",
        Code::PayloadMismatch => "This key was used for a different request",
        Code::KeyExpired => "The key is too old",
        Code::BodyTooLarge => "The request body is too large",
        Code::StoreUnavailable => "The store cannot be reached",
        Code::StoreFull => "The store is full",
    }
}

pub(super) fn detail(kind: &ProblemKind) -> String {
    match kind {
        ProblemKind::LockHeld { .. } => "Somebody else holds the lock on this resource. \
             Try again when it is free."
            .to_owned(),
        ProblemKind::InProgress { retry_after } => {
            let when = retry_after.map_or("later".to_owned(), |after| {
                format!("in {}", span(Span::Seconds(rounded_up(after))))
            });
            format!(
                "The first request with this key has not ended yet. Send the same request with \
                 the same key again {when}; it will get the first one's answer."
            )
        }
        ProblemKind::KeyReused { operation, recorded } => format!(
            "This key was first used for {}; this request is {}. Use a new key for each \
             operation.",
            named(recorded),
            named(operation)
        ),
        ProblemKind::ResponseUnavailable => RESPONSE_UNAVAILABLE.to_owned(),
        ProblemKind::InDoubt { since } => format!(
            "The first request with this key was not heard of since {}: it may have taken \
             effect or not. Find out whether it did before you send it with a new key.",
            rfc3339(*since)
        ),
        ProblemKind::KeyInvalid { fault } => key_fault(*fault),
        ProblemKind::KeyMissing { header } => format!(
            "This request needs a key in the header `{}`. Make one for each new request, such as \
             a UUID, and send the same one with each retry.",
            shown(header)
        ),
        ProblemKind::PayloadMismatch { differs } => mismatch(differs),
        ProblemKind::KeyExpired { age, limit } => format!(
            "The key was made {} ago, and keys are remembered for {}: whether this request ran \
             before cannot be known any more. Find out whether it did before you send it with a \
             new key.",
            span(Span::of(*age)),
            span(Span::of(*limit))
        ),
        ProblemKind::BodyTooLarge { limit } => format!(
            "The request body is larger than {} bytes, the most that is taken here. Nothing was \
             run. Send a smaller body.",
            limit.as_u64()
        ),
        ProblemKind::StoreUnavailable => "The store that remembers keys cannot be reached, so \
             this request was not run. Send it again later with the same key."
            .to_owned(),
        ProblemKind::StoreFull => "The store has no room for another key, so this request was \
             not run. Send it again later with the same key."
            .to_owned(),
    }
}

const RESPONSE_UNAVAILABLE: &str = "The first request with this key was carried out, but its \
     response was not kept. The work was not repeated. Look at the result itself, by reading what \
     the request made or changed; a new key would do the work a second time.";

fn named(operation: &Operation) -> String {
    if operation.is_unnamed() {
        return "a call without an operation".to_owned();
    }
    format!("`{}`", shown(operation.as_str()))
}

fn mismatch(differs: &[Arc<str>]) -> String {
    let parts: Vec<String> = differs.iter().map(|name| part(name)).collect();
    let what = match parts.as_slice() {
        [] => "This request differs from the one".to_owned(),
        [one] => format!("The {one} differs from the one"),
        [first @ .., last] => {
            format!("The {} and the {last} differ from those", first.join(", the "))
        }
    };
    format!("{what} first sent with this key. Use a new key for a new request.")
}

fn part(name: &str) -> String {
    match name {
        "body" => "request body".to_owned(),
        "query" => "query string".to_owned(),
        "content-type" => "content type".to_owned(),
        "content-encoding" => "content encoding".to_owned(),
        "method" | "path" => name.to_owned(),
        selected => format!("field `{}`", shown(selected)),
    }
}

fn key_fault(fault: KeyFault) -> String {
    let text = match fault {
        KeyFault::Empty => "The key is empty. Send at least one character.",
        KeyFault::Blank => "The key is blank. Send more than white space.",
        KeyFault::TooLong { max_chars } => {
            return format!(
                "The key is too long. Send {max_chars} characters at most; longer ones are never \
                 cut, because two of them could then be taken for one."
            );
        }
        KeyFault::ComposedTooLong => {
            "The key is too long together with the tenant and the subject it is kept under. Send \
             a shorter one."
        }
        KeyFault::NotVisibleAscii => {
            "The key has a space, a control character or a character beyond ASCII. Send visible \
             ASCII only (! to ~)."
        }
        KeyFault::WhiteSpace => "The key has white space in it. Send it without.",
        KeyFault::ControlCharacter => "The key has a control character in it. Send it without.",
        KeyFault::NotAUuid => {
            "The key is not a UUID. Send one in the form \
             xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, in hexadecimal digits."
        }
        KeyFault::NotAUuidV7 => {
            "The key is not a UUID of version 7. Send one that was made as such."
        }
        KeyFault::NotAUlid => "The key is not a ULID. Send 26 characters of Crockford's base 32.",
        KeyFault::PatternMismatch => {
            "The key does not have the form that this service asks for. Its documentation says \
             which."
        }
        KeyFault::MalformedHeader => {
            "The key's header cannot be read. Send one string in double quotes, such as \
             \"8e03978e-40d5-43e8-bc93-6894a57f9324\"."
        }
        KeyFault::NotQuoted => {
            "The key's header has no quotes, and this service asks for them. Send one string in \
             double quotes, such as \"8e03978e-40d5-43e8-bc93-6894a57f9324\"."
        }
        KeyFault::SeveralKeys => "There is more than one key. Send the header once, with one key.",
        KeyFault::SourcesDisagree => {
            "The key's header and the baggage hold different keys. Send one of them, or the same \
             key in both."
        }
        KeyFault::MalformedBaggage => {
            "The baggage header cannot be read. Send it as W3C Baggage asks: name=value, \
             separated by commas, with values percent-encoded."
        }
        KeyFault::BaggageTooLarge => {
            "The baggage header is too large to be read for its key. Send at most 64 members and \
             8192 bytes."
        }
        KeyFault::BaggageMemberTwice => {
            "The baggage header holds the key's member twice. Send it once."
        }
        KeyFault::SelectionNotJson => {
            "Repeats of this operation are told by fields of its JSON body, and the body is not \
             JSON. Send a JSON body."
        }
        KeyFault::SelectionEmpty => {
            "Repeats of this operation are told by fields of its body, and those fields are \
             missing or null. Fill them in."
        }
        KeyFault::Other => "The key cannot be kept as it is. Send another one, such as a UUID.",
    };
    text.to_owned()
}

fn span(span: Span) -> String {
    let (number, unit) = match span {
        Span::Seconds(number) => (number, "second"),
        Span::Minutes(number) => (number, "minute"),
        Span::Hours(number) => (number, "hour"),
        Span::Days(number) => (number, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}
