//! Who may call: the three API keys of the demo.

use semel::Scope;
use semel::core::ScopeError;

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) tenant: &'static str,
    pub(crate) subject: &'static str,
}

/// The keys are public, and so is everything behind them: for trying out only.
const KEYS: [(&str, Account); 3] = [
    ("dev-alice-key", Account { tenant: "acme", subject: "alice" }),
    ("dev-bob-key", Account { tenant: "acme", subject: "bob" }),
    ("dev-carol-key", Account { tenant: "globex", subject: "carol" }),
];

impl Account {
    /// Whose keys these are: keys belong to the subject, whatever credential it comes with.
    pub(crate) fn scope(self) -> Result<Scope, ScopeError> {
        Scope::new(self.tenant, self.subject)
    }

    /// The account that a key opens.
    ///
    /// Digests are compared, all of them, in constant time: how long it takes
    /// says nothing about how much of a key was right.
    pub(crate) fn of_key(key: &[u8]) -> Option<Self> {
        let given = blake3::hash(key);
        KEYS.iter().fold(None, |found, (known, account)| {
            if given == blake3::hash(known.as_bytes()) { Some(*account) } else { found }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_opens_its_account_and_nothing_else_does() {
        for (key, account) in KEYS {
            assert_eq!(Account::of_key(key.as_bytes()), Some(account));
        }
        for wrong in ["", "dev-alice-ke", "dev-alice-key ", "DEV-ALICE-KEY", "dev-dave-key"] {
            assert_eq!(Account::of_key(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
