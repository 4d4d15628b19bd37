//! From what PostgreSQL says to what may be concluded.
//!
//! Every call is one statement and its own transaction: what the server answers with an error it
//! has undone. What it did not answer, or answered while it hung up, may have been done.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use semel_core::{Refusal, StoreError, StoreErrorKind};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

/// What a statement does, as far as it matters for what may be concluded when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads. When its answer is lost, nothing was changed.
    Reads,
    /// It changes what is there, or removes it.
    Changes,
    /// It may take more room than there was.
    Grows,
}

/// What follows from a failed statement.
#[derive(Debug)]
pub(crate) struct Conclusion {
    pub(crate) error: StoreError,
    pub(crate) connection: Connection,
    pub(crate) again: Again,
}

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    /// The exchange was finished: the next statement may use it.
    Clean,
    /// Something is still under way on it, or it is gone.
    Spent,
}

/// Whether the same statement may be sent once more at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// The server undid it only because of others.
    Yes,
    /// It is for the caller to decide.
    No,
}

// ===== of a statement =====

pub(crate) fn of_statement(error: Error, effect: Effect) -> Conclusion {
    let Some(answer) = error.as_db_error() else { return lost(error, effect) };
    if !matches!(answer.parsed_severity(), None | Some(Severity::Error)) || hung_up(answer.code()) {
        return lost(error, effect);
    }
    let code = answer.code();
    let again =
        *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED;
    // A server that became read-only is another one's standby now: the next connection is asked.
    let demoted = *code == SqlState::READ_ONLY_SQL_TRANSACTION;
    Conclusion {
        error: StoreError::of(kind_of(code, effect), told(answer)),
        connection: if demoted { Connection::Spent } else { Connection::Clean },
        again: if again { Again::Yes } else { Again::No },
    }
}

/// Of a statement inside a transaction whose commit was not sent: nothing of it is or will be
/// applied.
pub(crate) fn in_transaction(error: Error) -> StoreError {
    let told = of_statement(error, Effect::Grows).error;
    match told.kind() {
        StoreErrorKind::Unknown => {
            let message = "the transaction is rolled back: its connection was lost";
            StoreError::not_applied(message).caused_by(told)
        }
        _ => told,
    }
}

/// The same of a library that gives the server's answer as its parts: none where nothing can be
/// concluded from it.
#[cfg(feature = "sqlx")]
pub(crate) fn of_answer(code: &str, severity_is_error: bool, message: &str) -> Option<StoreError> {
    let state = SqlState::from_code(code);
    let concluded = severity_is_error && !hung_up(&state);
    concluded.then(|| StoreError::of(kind_of(&state, Effect::Grows), told_of(code, message)))
}

/// Errors after which it is not known what was done, whoever sends them: a pooler does too.
fn hung_up(code: &SqlState) -> bool {
    code.code().starts_with("08") || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
}

fn lost(error: Error, effect: Effect) -> Conclusion {
    let message = match error.as_db_error() {
        Some(answer) => format!("the server ended the connection: {}", told(answer)),
        None => "the connection was lost before the server had answered".to_owned(),
    };
    Conclusion {
        error: caused(unanswered(effect, message), error),
        connection: Connection::Spent,
        again: Again::No,
    }
}

/// Of a statement that was not answered in time. It may still be under way.
pub(crate) fn too_late(effect: Effect, limit: Duration) -> StoreError {
    unanswered(effect, format!("the server did not answer within {limit:?}"))
}

/// An error about a statement that was sent and not answered.
pub(crate) fn unanswered(effect: Effect, message: impl Into<String>) -> StoreError {
    match effect {
        Effect::Reads => StoreError::not_applied(message),
        Effect::Changes | Effect::Grows => StoreError::unknown(message),
    }
}

fn kind_of(code: &SqlState, effect: Effect) -> StoreErrorKind {
    let refused = StoreErrorKind::Refused;
    match code.code() {
        // Out of disk, or over a quota.
        "53100" | "53400" if effect == Effect::Grows => refused(Refusal::Full),
        // No privilege, or no longer let in.
        "42501" | "28000" | "28P01" => refused(Refusal::Credentials),
        // Tables or functions that are not what we made.
        code if code.starts_with("42") || code.starts_with("3F") || code.starts_with("0A") => {
            refused(Refusal::Unusable)
        }
        // Beyond what a field or a row can hold.
        code if code.starts_with("54") => refused(Refusal::TooLarge),
        "XX001" | "XX002" => StoreErrorKind::Damaged,
        _ => StoreErrorKind::NotApplied,
    }
}

/// What an answer says, without what it may repeat of our data: errors about values quote them.
fn told(answer: &DbError) -> String {
    told_of(answer.code().code(), answer.message())
}

fn told_of(code: &str, message: &str) -> String {
    let says = match code {
        "55P03" => "another transaction held the row for longer than the lock timeout",
        "57014" => "the statement took longer than the server's limit, or was cancelled",
        "25006" => "the server takes reads only",
        _ if ["22", "23", "P0"].iter().any(|class| code.starts_with(class)) => "refused",
        _ => message,
    };
    format!("{says} (SQLSTATE {code})")
}

// ===== of a connection =====

/// Of a connection that could not be made: nothing was sent.
pub(crate) fn of_connecting(error: Error, address: &str) -> StoreError {
    let failed = |why: &str| format!("can't connect to {address}: {why}");
    if let Some(answer) = error.as_db_error() {
        let kind = match answer.code().code() {
            code if code.starts_with("28") || code == "42501" => {
                StoreErrorKind::Refused(Refusal::Credentials)
            }
            "3D000" => StoreErrorKind::Refused(Refusal::Unusable),
            _ => StoreErrorKind::NotApplied,
        };
        return StoreError::of(kind, failed(&told(answer)));
    }
    if is_read_only(&error) {
        return StoreError::not_applied(failed("the server takes reads only: it is a standby"));
    }
    // The library tells its kinds apart in words only.
    let words = error.to_string();
    if words.starts_with("authentication error") || words.starts_with("invalid configuration") {
        let why = failed(
            "the server asks for credentials that were not given, or in a way that \
                          is not supported",
        );
        return caused(StoreError::refused(Refusal::Credentials, why), error);
    }
    if words.starts_with("error performing TLS handshake") {
        let why = failed("no encrypted connection could be made");
        return caused(StoreError::refused(Refusal::Unusable, why), error);
    }
    caused(StoreError::not_applied(failed("there was no answer")), error)
}

/// Whether a server was reached that does not write.
pub(crate) fn is_read_only(error: &Error) -> bool {
    let cause = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| {
        cause.kind() == io::ErrorKind::PermissionDenied
            && cause.to_string().contains("does not allow writes")
    })
}

/// Whether who answered takes no options at the start: a pooler.
pub(crate) fn refuses_options(error: &Error) -> bool {
    error.code() == Some(&SqlState::PROTOCOL_VIOLATION)
}

/// The error with its cause, where that can't hold anything of ours.
fn caused(told: StoreError, error: Error) -> StoreError {
    if error.as_db_error().is_some() {
        return told;
    }
    match error.into_source() {
        Some(source) => told.caused_by(source),
        None => told,
    }
}

/// Of a row that is not what the schema says.
pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::damaged(format!("{what} of table `semel_entry` can't be right"))
}

#[cfg(test)]
mod tests {
    use super::{Effect, Refusal, SqlState, StoreErrorKind, hung_up, kind_of};

    #[test]
    fn each_code_has_its_conclusion() {
        let refused = StoreErrorKind::Refused;
        for (code, due) in [
            ("40001", StoreErrorKind::NotApplied),
            ("40P01", StoreErrorKind::NotApplied),
            ("55P03", StoreErrorKind::NotApplied),
            ("57014", StoreErrorKind::NotApplied),
            ("53300", StoreErrorKind::NotApplied),
            ("25006", StoreErrorKind::NotApplied),
            ("53100", refused(Refusal::Full)),
            ("42501", refused(Refusal::Credentials)),
            ("42883", refused(Refusal::Unusable)),
            ("42P01", refused(Refusal::Unusable)),
            ("54000", refused(Refusal::TooLarge)),
            ("XX001", StoreErrorKind::Damaged),
            ("XX002", StoreErrorKind::Damaged),
        ] {
            assert_eq!(kind_of(&SqlState::from_code(code), Effect::Grows), due, "{code}");
        }
        let full = kind_of(&SqlState::DISK_FULL, Effect::Changes);
        assert_eq!(full, StoreErrorKind::NotApplied, "a release needs no room for good");
    }

    #[test]
    fn a_connection_that_broke_leaves_it_open_what_was_done() {
        for code in ["08000", "08006", "08P01", "40003"] {
            assert!(hung_up(&SqlState::from_code(code)), "{code}");
        }
        assert!(!hung_up(&SqlState::T_R_DEADLOCK_DETECTED));
    }
}
