//! The statements of the contract, one for each call.

use bytes::Bytes;
use semel_core::{Expect, Key, KeyDigest, Next, Ttl};

use crate::failure::Effect;
use crate::settings::Settings;
use crate::statement::Statement;

/// Statements on the tables of one schema.
#[derive(Debug, Clone)]
pub(crate) struct Sql {
    name: String,
    /// The same, quoted, with the dot behind it.
    schema: String,
    lock_ms: i32,
}

/// The moment at which the statement's transaction began: before its snapshot was taken. So a row
/// that is seen as past its end was past it then. Asked later, a renewal in between would be
/// overlooked, and a live entry called absent.
const NOW: &str = "(extract(epoch FROM now()) * 1000000)::bigint";

/// A page of a listing ends early once it holds this much.
const PAGE_BYTES: usize = 8 << 20;

impl Sql {
    pub(crate) fn new(settings: &Settings) -> Self {
        let schema = format!("{}.", quoted(&settings.schema));
        let lock_ms = i32::try_from(settings.lock_timeout.as_millis()).unwrap_or(i32::MAX);
        Self { name: settings.schema.clone(), schema, lock_ms }
    }

    /// Whether the tables are there. Asked of the catalogue's rows: what looks names up may answer
    /// from a cache that is older than the transaction's turn.
    pub(crate) fn are_there(&self) -> Statement {
        let sql = "SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n \
                   ON n.oid = c.relnamespace \
                   WHERE n.nspname = $1 AND c.relname = 'semel_schema')";
        Statement::new(sql.to_owned(), Effect::Reads).text(&self.name)
    }

    /// The version of the tables.
    pub(crate) fn version(&self) -> Statement {
        let sql = format!("SELECT version FROM {}semel_schema WHERE id = 1", self.schema);
        Statement::new(sql, Effect::Reads)
    }

    /// A swap in a transaction of its own.
    pub(crate) fn swap(
        &self,
        key: &Key,
        digest: KeyDigest,
        expect: Expect,
        next: Next,
    ) -> Statement {
        let sql = format!(
            "SELECT won, now_us, at_version, lease_left, keep_left, at_value \
             FROM {}semel_swap($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            self.schema
        );
        swap_with(sql, key, digest, expect, next, self.lock_ms)
    }

    /// A swap in the caller's transaction, which waits so long for another one at most.
    pub(crate) fn swap_in(
        &self,
        key: &Key,
        digest: KeyDigest,
        expect: Expect,
        next: Next,
        lock_ms: i32,
    ) -> Statement {
        let sql = format!(
            "SELECT won, now_us, at_version, lease_left, keep_left, at_value, busy \
             FROM {}semel_swap_in($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            self.schema
        );
        swap_with(sql, key, digest, expect, next, lock_ms)
    }

    /// What is under a key once nobody holds it.
    pub(crate) fn settle(&self, key: &Key) -> Statement {
        let sql = format!(
            "SELECT now_us, at_version, lease_left, keep_left, at_value \
             FROM {}semel_settle($1, $2)",
            self.schema
        );
        Statement::new(sql, Effect::Reads).text(key.as_str()).int(Some(self.lock_ms))
    }

    pub(crate) fn read(&self, key: &Key) -> Statement {
        let sql = format!(
            "SELECT t.now_us, e.version, greatest(e.lease_at - t.now_us, 0), \
             e.keep_at - t.now_us, e.value \
             FROM (SELECT {NOW} AS now_us) AS t LEFT JOIN {}semel_entry AS e \
             ON e.key = $1 AND e.keep_at > t.now_us",
            self.schema
        );
        Statement::new(sql, Effect::Reads).text(key.as_str())
    }

    pub(crate) fn touch(&self, key: &Key, lease: Ttl) -> Statement {
        let sql = format!(
            "SELECT now_us, at_version, lease_left, keep_left, at_value \
             FROM {}semel_touch($1, $2, $3)",
            self.schema
        );
        Statement::new(sql, Effect::Changes)
            .text(key.as_str())
            .bigint(Some(micros(lease)))
            .int(Some(self.lock_ms))
    }

    /// A page. One row with the time at least, and the number of entries that the limit let in.
    pub(crate) fn scan(&self, range: &Range, limit: usize) -> Statement {
        let (from, to) = match (&range.after, &range.to) {
            (true, Some(_)) => ("e.key > $1", "AND e.key < $3"),
            (true, None) => ("e.key > $1", ""),
            (false, Some(_)) => ("e.key >= $1", "AND e.key < $3"),
            (false, None) => ("e.key >= $1", ""),
        };
        let sql = format!(
            "SELECT t.now_us, p.version, greatest(p.lease_at - t.now_us, 0), \
             p.keep_at - t.now_us, p.value, p.key, p.total \
             FROM (SELECT {NOW} AS now_us) AS t LEFT JOIN LATERAL ( \
                 SELECT s.*, count(*) OVER () AS total, \
                     sum(octet_length(s.value)::bigint) OVER (ORDER BY s.key) \
                     - octet_length(s.value) AS before \
                 FROM (SELECT e.* FROM {}semel_entry AS e \
                     WHERE {from} {to} AND e.keep_at > t.now_us ORDER BY e.key LIMIT $2) AS s \
             ) AS p ON p.before < {PAGE_BYTES} ORDER BY p.key",
            self.schema
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let statement = Statement::new(sql, Effect::Reads).text(&range.from).bigint(Some(limit));
        match &range.to {
            Some(to) => statement.text(to),
            None => statement,
        }
    }

    pub(crate) fn sweep(&self, most_ended: usize, most_deleted: usize) -> Statement {
        let sql = format!("SELECT ended, deleted FROM {}semel_sweep($1, $2)", self.schema);
        let number = |most| Some(i64::try_from(most).unwrap_or(i64::MAX));
        Statement::new(sql, Effect::Changes).bigint(number(most_ended)).bigint(number(most_deleted))
    }

    /// Says that changes of these keys are waited for.
    pub(crate) fn watch(&self, digests: Vec<[u8; 16]>, for_us: i64) -> Statement {
        let sql = format!(
            "INSERT INTO {0}semel_watch AS w \
             SELECT DISTINCT digest, {NOW} + $2 FROM unnest($1) AS digest \
             ON CONFLICT (digest) DO UPDATE SET until = excluded.until \
             WHERE w.until < excluded.until",
            self.schema
        );
        Statement::new(sql, Effect::Changes).digests(digests).bigint(Some(for_us))
    }
}

fn swap_with(
    sql: String,
    key: &Key,
    digest: KeyDigest,
    expect: Expect,
    next: Next,
    lock_ms: i32,
) -> Statement {
    let effect = if matches!(next, Next::Put { .. }) { Effect::Grows } else { Effect::Changes };
    let (expect, version) = match expect {
        Expect::Absent => (0, None),
        Expect::Any => (1, None),
        // A number beyond the column's range is no row's: NULL equals nothing.
        Expect::Version(version) => (2, i64::try_from(version.get()).ok()),
    };
    let (next, value, lease, keep) = match next {
        Next::Put { value, lease, keep } => (0, Some(value), Some(lease), Some(keep)),
        Next::Renew { lease, keep } => (1, None, Some(lease), Some(keep)),
        Next::Delete => (2, None, None, None),
    };
    Statement::new(sql, effect)
        .text(key.as_str())
        .bytes(Some(Bytes::copy_from_slice(digest.as_bytes())))
        .int(Some(expect))
        .bigint(version)
        .int(Some(next))
        .bytes(value)
        .bigint(lease.map(micros))
        .bigint(keep.map(micros))
        .int(Some(lock_ms))
}

fn micros(ttl: Ttl) -> i64 {
    // Ten years at most.
    i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX)
}

/// A name as SQL takes it, whatever is in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

// ===== Range =====

/// All keys by default; else those from `from` on, or after it, up to but without `to`; to the end when there is no `to`.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Range {
    from: String,
    after: bool,
    to: Option<String>,
}

impl Range {
    /// The keys that begin with `prefix` and come after `after`; none where no key can begin so.
    ///
    /// The order is that of the UTF-8 bytes, which is that of the characters. The first text
    /// beyond all that begin with a prefix is the prefix with its last character made one higher.
    pub(crate) fn new(prefix: &str, after: Option<&Key>) -> Option<Self> {
        // Nor could it be sent: PostgreSQL's text has no zeros.
        if prefix.contains('\0') || prefix.len() > 4 * Key::MAX_CHARS {
            return None;
        }
        let to = beyond(prefix);
        Some(match after {
            Some(after) if after.as_str() >= prefix => {
                Self { from: after.as_str().to_owned(), after: true, to }
            }
            _ => Self { from: prefix.to_owned(), after: false, to },
        })
    }
}

fn beyond(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // The step over the surrogates is the range's; the last character of all has no next.
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Key, Range, quoted};

    #[test]
    fn a_range_ends_where_the_prefix_does() {
        let to = |prefix| Range::new(prefix, None).and_then(|range| range.to);
        assert_eq!(to("ab").as_deref(), Some("ac"));
        assert_eq!(to("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(to("\u{10FFFF}"), None);
        assert_eq!(to(""), None);
        assert_eq!(to("\u{D7FF}").as_deref(), Some("\u{E000}"));
    }

    #[test]
    fn a_range_goes_on_behind_the_cursor_and_never_before_the_prefix() {
        let key = Key::new("ab").expect("a key");
        let range = Range::new("a", Some(&key)).expect("a range");
        assert_eq!((range.from.as_str(), range.after), ("ab", true));
        let range = Range::new("b", Some(&key)).expect("a range");
        assert_eq!((range.from.as_str(), range.after), ("b", false));
    }

    #[test]
    fn a_prefix_that_no_key_has_gives_no_range() {
        assert_eq!(Range::new("a\0", None), None);
        assert_eq!(Range::new(&"a".repeat(100_000), None), None);
    }

    #[test]
    fn a_name_can_not_leave_its_quotes() {
        assert_eq!(quoted("a\"; DROP TABLE x; --"), "\"a\"\"; DROP TABLE x; --\"");
    }
}
