//! Listings: for people.
//!
//! No index is kept, so that no call pays for one: a page goes once through all names of the
//! namespace, in pieces that hold nobody up, and keeps the smallest.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use futures_util::stream;
use redis::{Cmd, Value, cmd};
use semel_core::{Entry, Key, Page, Snapshot, StoreResult, StoreTime, Touch};

use crate::exchange::Exchange;
use crate::link::Live;
use crate::read::read;
use crate::script::Doing;
use crate::trouble::{Failure, Trouble};

/// More than people look at.
const LONGEST_PAGE: usize = 1_000;

/// How many names the server goes through at once.
const PIECE: usize = 512;

/// How many entries are read at the same time.
const READS: usize = 32;

/// The smallest keys behind a bound, up to a limit.
struct Smallest<'a> {
    keys: BTreeSet<Key>,
    prefix: &'a str,
    after: Option<&'a Key>,
    limit: usize,
    more: bool,
}

impl Smallest<'_> {
    fn offer(&mut self, key: Key) {
        let wanted = key.as_str().starts_with(self.prefix) && self.after.is_none_or(|it| *it < key);
        if !wanted {
            return;
        }
        // The server may name a key twice: a set takes it once.
        self.keys.insert(key);
        if self.keys.len() > self.limit {
            self.keys.pop_last();
            self.more = true;
        }
    }
}

pub(crate) async fn scan(
    exchange: &Exchange,
    prefix: &str,
    after: Option<&Key>,
    limit: usize,
) -> StoreResult<Page> {
    let limit = limit.min(LONGEST_PAGE);
    let servers = exchange.routes.primaries(exchange.deadline()).await?;
    let mut smallest = Smallest { keys: BTreeSet::new(), prefix, after, limit, more: false };
    if limit > 0 && can_begin_a_key(prefix) {
        for (live, _) in &servers {
            collect(exchange, live, &mut smallest).await.map_err(|it| it.at(&live.address))?;
        }
    }
    let next = if smallest.more { smallest.keys.last().cloned() } else { None };
    let now = clock(servers.first().map(|(live, _)| live)).await?;
    let read = read_all(exchange, smallest.keys).await?;
    Ok(page(now, read, next))
}

/// Whether there can be keys that begin so. What can't begin one is not sent.
fn can_begin_a_key(prefix: &str) -> bool {
    prefix.is_empty() || Key::new(prefix).is_ok()
}

async fn collect(
    exchange: &Exchange,
    live: &Live,
    smallest: &mut Smallest<'_>,
) -> Result<(), Failure> {
    let names = exchange.inspector.names();
    let pattern = names.pattern(smallest.prefix);
    let mut cursor = "0".to_owned();
    loop {
        let answer = live.ask(&piece(&cursor, &pattern)).await;
        let answer = answer.map_err(|trouble| trouble.failure(Doing::Read))?;
        let unreadable = || Trouble::Lost("the answer can't be read").failure(Doing::Read);
        let (next, found) = parse(answer).ok_or_else(unreadable)?;
        found.iter().filter_map(|name| names.key(name)).for_each(|key| smallest.offer(key));
        if next == "0" {
            return Ok(());
        }
        cursor = next;
    }
}

fn piece(cursor: &str, pattern: &str) -> Cmd {
    cmd("SCAN").arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(PIECE).take()
}

/// The next cursor and the names of a piece; none when the answer is not that.
fn parse(value: Value) -> Option<(String, Vec<String>)> {
    let Value::Array(parts) = value else { return None };
    let mut parts = parts.into_iter();
    let cursor = text(parts.next()?)?;
    let Value::Array(names) = parts.next()? else { return None };
    // Names that are not UTF-8 are not ours.
    Some((cursor, names.into_iter().filter_map(text).collect()))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

/// The moment of a page, from a server's clock.
async fn clock(live: Option<&Live>) -> Result<StoreTime, Failure> {
    let live = live.ok_or_else(|| Failure::not_applied("there is no server"))?;
    let time = live.ask(&cmd("TIME").take()).await;
    let time = time.map_err(|trouble| trouble.failure(Doing::Read).at(&live.address))?;
    let micros = crate::preflight::micros(time).unwrap_or(0);
    Ok(StoreTime::from_micros(micros))
}

async fn read_all(exchange: &Exchange, keys: BTreeSet<Key>) -> StoreResult<Vec<(Key, Snapshot)>> {
    let reads = keys.into_iter().map(|key| async move {
        let snapshot = read(exchange, &key, Touch::No).await?;
        Ok((key, snapshot))
    });
    let reads: Vec<StoreResult<_>> = stream::iter(reads).buffered(READS).collect().await;
    reads.into_iter().collect()
}

/// Each entry was read at a moment of its own; a page has one moment for all.
fn page(now: StoreTime, read: Vec<(Key, Snapshot)>, next: Option<Key>) -> Page {
    let now = read.iter().map(|(_, seen)| seen.now).max().unwrap_or(now).max(now);
    let entries = read.into_iter().filter_map(|(key, seen)| {
        let Entry { version, value, lease_left, keep_left } = seen.entry?;
        let lease_left = now.until(seen.now.after(lease_left));
        let keep_left = now.until(seen.now.after(keep_left));
        let entry = Entry { version, value, lease_left, keep_left };
        (!keep_left.is_zero()).then_some((key, entry))
    });
    Page { now, entries: entries.collect(), next }
}
