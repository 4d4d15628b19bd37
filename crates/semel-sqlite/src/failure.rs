//! From what SQLite says to what may be concluded.

use std::sync::Arc;

use rusqlite::{Error, ErrorCode, ffi};
use semel_core::{Refusal, StoreError, StoreErrorKind};

/// What lies behind an error of SQLite, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Somebody else held a lock for too long.
    Busy,
    /// The disk, or the size that was set, is full.
    Full,
    /// Bytes that are not what SQLite or the schema says they are.
    Corrupt,
    /// The operating system does not let us.
    NotPermitted,
    /// The file under the path is no longer the file that is open.
    Moved,
    /// The disk or its driver failed.
    Io,
    /// Anything else.
    Other,
}

impl Cause {
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::SqliteFailure(code, _) | Error::SqlInputError { error: code, .. } => {
                Self::of_code(code)
            }
            // A row that is missing or does not hold what the schema says.
            Error::QueryReturnedNoRows
            | Error::StatementChangedRows(_)
            | Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..)
            | Error::InvalidColumnType(..) => Self::Corrupt,
            _ => Self::Other,
        }
    }

    fn of_code(code: &ffi::Error) -> Self {
        match (code.code, code.extended_code) {
            (_, ffi::SQLITE_READONLY_DBMOVED) => Self::Moved,
            // The file ends early, or the file system or a checksum says that it lies.
            (
                _,
                ffi::SQLITE_IOERR_SHORT_READ
                | ffi::SQLITE_IOERR_CORRUPTFS
                | ffi::SQLITE_IOERR_DATA
                | ffi::SQLITE_IOERR_IN_PAGE,
            ) => Self::Corrupt,
            (
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
                _,
            ) => Self::Busy,
            (ErrorCode::DiskFull, _) => Self::Full,
            (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _) => Self::Corrupt,
            (ErrorCode::PermissionDenied | ErrorCode::ReadOnly, _) => Self::NotPermitted,
            (ErrorCode::SystemIoFailure, _) => Self::Io,
            _ => Self::Other,
        }
    }

    /// The kind of error when nothing was changed.
    fn kind_unchanged(self) -> StoreErrorKind {
        match self {
            Self::Busy | Self::Io | Self::Other => StoreErrorKind::NotApplied,
            Self::Full => StoreErrorKind::Refused(Refusal::Full),
            Self::Corrupt => StoreErrorKind::Damaged,
            Self::NotPermitted => StoreErrorKind::Refused(Refusal::Credentials),
            Self::Moved => StoreErrorKind::Refused(Refusal::Unusable),
        }
    }

    const fn says(self) -> &'static str {
        match self {
            Self::Busy => "another process kept the file locked for longer than the busy timeout",
            Self::Full => "the disk is full, or the file has reached the size that was set for it",
            Self::Corrupt => "the file holds bytes that can't be right; see docs/stores/sqlite.md",
            Self::NotPermitted => "the system does not permit writing to the file",
            Self::Moved => "the file was moved or removed while it was open",
            Self::Io => "the disk failed",
            Self::Other => "SQLite failed",
        }
    }
}

/// One failure that may have to be told to several callers.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    kind: StoreErrorKind,
    message: String,
    source: Option<Arc<Error>>,
}

impl Failure {
    /// Of a call, or several, of which nothing was applied.
    pub(crate) fn unchanged(error: Error) -> Self {
        let cause = Cause::of(&error);
        Self {
            kind: cause.kind_unchanged(),
            message: cause.says().to_owned(),
            source: Some(Arc::new(error)),
        }
    }

    /// Of a commit that may or may not be on the disk.
    pub(crate) fn commit(error: Error) -> Self {
        let says = Cause::of(&error).says();
        Self {
            kind: StoreErrorKind::Unknown,
            message: format!("the commit failed ({says}): it may or may not be on the disk"),
            source: Some(Arc::new(error)),
        }
    }

    /// Of a store that can't be used.
    pub(crate) fn unusable(message: impl Into<String>) -> Self {
        let kind = StoreErrorKind::Refused(Refusal::Unusable);
        Self { kind, message: message.into(), source: None }
    }

    /// Whether somebody else held a lock for too long.
    pub(crate) fn is_busy(&self) -> bool {
        self.source.as_ref().is_some_and(|error| Cause::of(error) == Cause::Busy)
    }

    /// The same failure for a call that needs no more room than it has: it may work later.
    pub(crate) fn of_call_that_does_not_grow(&self) -> Self {
        let mut failure = self.clone();
        if self.kind == StoreErrorKind::Refused(Refusal::Full) {
            failure.kind = StoreErrorKind::NotApplied;
        }
        failure
    }

    pub(crate) fn error(&self) -> StoreError {
        let error = StoreError::of(self.kind, self.message.clone());
        match &self.source {
            Some(source) => error.caused_by(Arc::clone(source)),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    use super::*;

    fn kind(extended: c_int) -> StoreErrorKind {
        let error = Error::SqliteFailure(ffi::Error::new(extended), None);
        Failure::unchanged(error).error().kind()
    }

    #[test]
    fn each_code_of_sqlite_has_its_conclusion() {
        let refused = StoreErrorKind::Refused;
        for (code, expected) in [
            (ffi::SQLITE_BUSY, StoreErrorKind::NotApplied),
            (ffi::SQLITE_BUSY_RECOVERY, StoreErrorKind::NotApplied),
            (ffi::SQLITE_LOCKED, StoreErrorKind::NotApplied),
            (ffi::SQLITE_PROTOCOL, StoreErrorKind::NotApplied),
            (ffi::SQLITE_NOMEM, StoreErrorKind::NotApplied),
            (ffi::SQLITE_IOERR_READ, StoreErrorKind::NotApplied),
            (ffi::SQLITE_FULL, refused(Refusal::Full)),
            (ffi::SQLITE_READONLY, refused(Refusal::Credentials)),
            (ffi::SQLITE_PERM, refused(Refusal::Credentials)),
            (ffi::SQLITE_READONLY_DBMOVED, refused(Refusal::Unusable)),
            (ffi::SQLITE_CORRUPT, StoreErrorKind::Damaged),
            (ffi::SQLITE_CORRUPT_INDEX, StoreErrorKind::Damaged),
            (ffi::SQLITE_NOTADB, StoreErrorKind::Damaged),
            (ffi::SQLITE_IOERR_SHORT_READ, StoreErrorKind::Damaged),
            (ffi::SQLITE_IOERR_CORRUPTFS, StoreErrorKind::Damaged),
        ] {
            assert_eq!(kind(code), expected, "code {code}");
        }
    }

    #[test]
    fn a_row_that_is_missing_or_of_another_type_is_damage_and_not_absence() {
        let wrong = Error::InvalidColumnType(0, "version".into(), rusqlite::types::Type::Blob);
        for error in [Error::QueryReturnedNoRows, Error::IntegralValueOutOfRange(0, -1), wrong] {
            assert_eq!(Failure::unchanged(error).error().kind(), StoreErrorKind::Damaged);
        }
    }

    #[test]
    fn a_full_disk_is_no_refusal_for_good_to_calls_that_need_no_room() {
        let full = Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None);
        let failure = Failure::unchanged(full).of_call_that_does_not_grow();
        assert_eq!(failure.error().kind(), StoreErrorKind::NotApplied);
        let damaged = Failure::unchanged(Error::QueryReturnedNoRows).of_call_that_does_not_grow();
        assert_eq!(damaged.error().kind(), StoreErrorKind::Damaged);
    }

    #[test]
    fn a_failed_commit_is_unknown_whatever_the_code() {
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_NOMEM, ffi::SQLITE_CORRUPT] {
            let error = Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(Failure::commit(error).error().kind(), StoreErrorKind::Unknown);
        }
    }
}
