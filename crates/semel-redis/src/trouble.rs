//! From what a server or a connection says to what may be concluded and done.

use std::sync::Arc;

use redis::{ErrorKind, RedisError};
use semel_core::{Refusal, StoreError, StoreErrorKind};

use crate::address::Address;
use crate::script::Doing;

/// What went wrong with one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No answer, or none that can be read: it may or may not have been applied.
    Lost(&'static str),
    /// The server does not know the script.
    NoScript,
    /// The slot is at another node; `once` while it is being moved.
    Elsewhere { at: Address, once: bool },
    /// A replica, or a server that has lost its primary.
    NotPrimary,
    /// Not now: it loads its data, moves slots, runs somebody's long script, or waits for others
    /// of its cluster.
    NotYet(&'static str),
    /// It takes no writes for the time being.
    Blocked(&'static str),
    /// It has no memory left.
    Full,
    /// It does not know us, or our password.
    NotLetIn,
    /// It does not let us do this.
    Forbidden,
    /// It holds something else under this name.
    Damaged,
    /// Anything else, by its code.
    Other(String),
}

impl Trouble {
    pub(crate) fn of(error: &RedisError) -> Self {
        match error.kind() {
            ErrorKind::Io if error.is_timeout() => Self::Lost("no answer in time"),
            ErrorKind::Io => Self::Lost("the connection was lost"),
            ErrorKind::Parse => Self::Lost("the answer can't be read"),
            ErrorKind::AuthenticationFailed => Self::NotLetIn,
            _ => Self::of_answer(error),
        }
    }

    /// By the code of the server's error. Before Redis 7 an error inside a script has its code in
    /// the midst of the text.
    fn of_answer(error: &RedisError) -> Self {
        let code = error.code().unwrap_or_default();
        if let Some(trouble) = Self::of_code(code, error) {
            return trouble;
        }
        let detail = error.detail().unwrap_or_default();
        let mut words = detail.split(|c: char| !c.is_ascii_uppercase()).filter(|it| it.len() > 2);
        words.find_map(|word| Self::of_code(word, error)).unwrap_or_else(|| {
            // A code is a word in capitals; anything longer may quote what we sent.
            let is_code =
                (1..=20).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_uppercase());
            Self::Other(if is_code { code.to_owned() } else { "an unknown error".to_owned() })
        })
    }

    fn of_code(code: &str, error: &RedisError) -> Option<Self> {
        Some(match code {
            "NOSCRIPT" => Self::NoScript,
            "MOVED" | "ASK" => Self::redirected(error, code == "ASK"),
            "READONLY" | "MASTERDOWN" => Self::NotPrimary,
            "LOADING" => Self::NotYet("the server loads its data"),
            "TRYAGAIN" => Self::NotYet("the slot is being moved"),
            "CLUSTERDOWN" => Self::NotYet("the cluster is down"),
            "BUSY" => Self::NotYet("the server runs a long script"),
            "MISCONF" => Self::Blocked("the server can't write to its disk"),
            "NOREPLICAS" => Self::Blocked("too few replicas for the server to take writes"),
            "OOM" => Self::Full,
            "NOAUTH" | "WRONGPASS" => Self::NotLetIn,
            "NOPERM" => Self::Forbidden,
            "WRONGTYPE" => Self::Damaged,
            _ => return None,
        })
    }

    fn redirected(error: &RedisError, once: bool) -> Self {
        match error.redirect_node().and_then(|(at, _)| Address::from_server(at)) {
            Some(at) => Self::Elsewhere { at, once },
            None => Self::NotYet("the slot is at a node that has no address"),
        }
    }

    /// Whether the connection is of no more use.
    pub(crate) const fn ends_connection(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::NotPrimary | Self::NotLetIn)
    }

    /// Whether nothing was applied and the same call may work in a moment. A read has nothing that
    /// could have been applied.
    pub(crate) fn passes(&self, doing: Doing) -> bool {
        match self {
            Self::Elsewhere { .. } | Self::NotPrimary | Self::NotYet(_) | Self::NoScript => true,
            Self::Lost(_) => doing == Doing::Read,
            _ => false,
        }
    }

    /// What is told to the caller.
    pub(crate) fn failure(&self, doing: Doing) -> Failure {
        let lost = match doing {
            Doing::Write => StoreErrorKind::Unknown,
            Doing::Read => StoreErrorKind::NotApplied,
        };
        let (kind, says): (_, &str) = match self {
            Self::Lost(says) => (lost, says),
            Self::NoScript => (StoreErrorKind::NotApplied, "the server forgets its scripts"),
            Self::Elsewhere { .. } => {
                (StoreErrorKind::NotApplied, "the slot is passed from node to node")
            }
            Self::NotPrimary => (StoreErrorKind::NotApplied, "the server is not a primary"),
            Self::NotYet(says) | Self::Blocked(says) => (StoreErrorKind::NotApplied, says),
            Self::Full => {
                (StoreErrorKind::Refused(Refusal::Full), "the server has reached its maxmemory")
            }
            Self::NotLetIn => (
                StoreErrorKind::Refused(Refusal::Credentials),
                "the server does not accept the user or the password",
            ),
            Self::Forbidden => (
                StoreErrorKind::Refused(Refusal::Credentials),
                "the server does not permit this to the user",
            ),
            Self::Damaged => (
                StoreErrorKind::Damaged,
                "the server holds something under this name that is no entry",
            ),
            // Whether a script had begun to write when it failed can't be told from here.
            Self::Other(code) => {
                return Failure::new(lost, format!("the server answered with {code}"));
            }
        };
        Failure::new(kind, says)
    }
}

/// An error that may have to be told to several callers. It holds no more than its words: the
/// errors of servers may quote keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: StoreErrorKind,
    pub(crate) says: Arc<str>,
}

impl Failure {
    pub(crate) fn new(kind: StoreErrorKind, says: impl Into<Arc<str>>) -> Self {
        Self { kind, says: says.into() }
    }

    pub(crate) fn not_applied(says: impl Into<Arc<str>>) -> Self {
        Self::new(StoreErrorKind::NotApplied, says)
    }

    pub(crate) fn unusable(says: impl Into<Arc<str>>) -> Self {
        Self::new(StoreErrorKind::Refused(Refusal::Unusable), says)
    }

    /// Whether waiting a moment can't help.
    pub(crate) const fn is_for_good(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Refused(_))
    }

    /// The same, with where it happened.
    pub(crate) fn at(&self, address: &Address) -> Self {
        Self::new(self.kind, format!("{address}: {}", self.says))
    }

    pub(crate) fn error(&self) -> StoreError {
        StoreError::of(self.kind, &*self.says)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        failure.error()
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Doing, Refusal, StoreErrorKind, Trouble};

    /// What a driver makes of a server's line.
    fn trouble(line: &str) -> Trouble {
        let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).expect("a reply");
        Trouble::of(&value.extract_error().expect_err("an error"))
    }

    fn kind(line: &str) -> StoreErrorKind {
        trouble(line).failure(Doing::Write).kind
    }

    #[test]
    fn each_code_has_its_conclusion() {
        let refused = StoreErrorKind::Refused;
        for (line, expected) in [
            ("LOADING Redis is loading the dataset in memory", StoreErrorKind::NotApplied),
            ("READONLY You can't write against a read only replica.", StoreErrorKind::NotApplied),
            ("MASTERDOWN Link with MASTER is down", StoreErrorKind::NotApplied),
            ("CLUSTERDOWN The cluster is down", StoreErrorKind::NotApplied),
            ("TRYAGAIN Multiple keys request during rehashing", StoreErrorKind::NotApplied),
            ("MOVED 3999 127.0.0.1:6381", StoreErrorKind::NotApplied),
            ("ASK 3999 127.0.0.1:6381", StoreErrorKind::NotApplied),
            ("BUSY Redis is busy running a script", StoreErrorKind::NotApplied),
            ("MISCONF Errors writing to the AOF file", StoreErrorKind::NotApplied),
            ("NOREPLICAS Not enough good replicas to write.", StoreErrorKind::NotApplied),
            ("OOM command not allowed when used memory > 'maxmemory'.", refused(Refusal::Full)),
            ("NOAUTH Authentication required.", refused(Refusal::Credentials)),
            ("WRONGPASS invalid username-password pair", refused(Refusal::Credentials)),
            ("NOPERM this user has no permissions", refused(Refusal::Credentials)),
            ("WRONGTYPE Operation against a key", StoreErrorKind::Damaged),
            ("ERR something nobody thought of", StoreErrorKind::Unknown),
            ("SOMETHING new", StoreErrorKind::Unknown),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }

    #[test]
    fn a_code_inside_the_error_of_a_script_counts_too() {
        let old = "ERR Error running script (call to f_1f2d): @user_script:12: ";
        for (inner, expected) in [
            ("-OOM command not allowed when used memory > 'maxmemory'.", Trouble::Full),
            ("WRONGTYPE Operation against a key", Trouble::Damaged),
            ("-READONLY You can't write against a read only replica.", Trouble::NotPrimary),
        ] {
            assert_eq!(trouble(&format!("{old}{inner}")), expected, "{inner}");
        }
    }

    #[test]
    fn a_redirection_says_where_to_and_whether_for_good() {
        let at = Address::new("127.0.0.1", 6381);
        let moved = Trouble::Elsewhere { at: at.clone(), once: false };
        assert_eq!(trouble("MOVED 3999 127.0.0.1:6381"), moved);
        assert_eq!(trouble("ASK 3999 127.0.0.1:6381"), Trouble::Elsewhere { at, once: true });
    }

    #[test]
    fn a_lost_read_has_changed_nothing() {
        let lost = Trouble::Lost("no answer in time");
        assert_eq!(lost.failure(Doing::Read).kind, StoreErrorKind::NotApplied);
        assert_eq!(lost.failure(Doing::Write).kind, StoreErrorKind::Unknown);
    }

    #[test]
    fn no_error_repeats_what_the_server_quoted() {
        let quoted = "User app has no permissions to access the 'idem:acme:alice:1' key";
        for line in [format!("NOPERM {quoted}"), format!("ERR {quoted}"), format!("X-{quoted}")] {
            let says = trouble(&line).failure(Doing::Write).error().to_string();
            assert!(!says.contains("alice"), "{says}");
        }
    }
}
