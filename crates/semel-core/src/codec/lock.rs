//! The numbered fields of a lock's entry.

use minicbor::bytes::ByteArray;
use minicbor::{Decode, Decoder, Encode};

use super::Damaged;
use super::pen::Pen;
use crate::fence::Fence;
use crate::lock::{Grant, Holder, LockEntry, LockKind, Mode, Note, Permits, Reason, Stage, Waiter};
use crate::record::{Owner, Token};
use crate::time::{StoreTime, Ttl};

/// Numbers are for good: never reuse one, never change what one means.
#[derive(Encode, Decode)]
struct Wire<'b> {
    /// What sort of thing it is; 2 is a lock.
    #[n(0)]
    sort: u8,
    #[n(1)]
    kind: u8,
    #[n(2)]
    permits: Option<u32>,
    #[b(3)]
    holders: Vec<WireHolder<'b>>,
    #[b(4)]
    queue: Option<Vec<WireWaiter<'b>>>,
    #[b(5)]
    notes: Option<Vec<WireNote<'b>>>,
}

#[derive(Encode, Decode)]
struct WireHolder<'b> {
    #[n(0)]
    token: ByteArray<16>,
    #[n(1)]
    mode: u8,
    #[b(2)]
    owner: Option<&'b str>,
    #[n(3)]
    fence: Option<u64>,
    #[n(4)]
    since: Option<u64>,
    #[n(5)]
    until: Option<u64>,
    #[n(6)]
    lock_delay: Option<u64>,
    #[n(7)]
    min_hold: Option<u64>,
    #[n(8)]
    resting: Option<bool>,
    #[b(9)]
    revoked: Option<WireNote<'b>>,
}

#[derive(Encode, Decode)]
struct WireWaiter<'b> {
    #[n(0)]
    token: ByteArray<16>,
    #[n(1)]
    mode: u8,
    #[b(2)]
    owner: Option<&'b str>,
    #[n(3)]
    since: u64,
    #[n(4)]
    alive_until: u64,
}

#[derive(Encode, Decode)]
struct WireNote<'b> {
    #[n(0)]
    token: ByteArray<16>,
    #[b(1)]
    by: &'b str,
    #[b(2)]
    reason: &'b str,
    #[n(3)]
    until: u64,
}

const SORT_LOCK: u8 = 2;
const MUTEX: u8 = 1;
const SEMAPHORE: u8 = 2;
const READ_WRITE: u8 = 3;
const EXCLUSIVE: u8 = 1;
const SHARED: u8 = 2;

pub(super) fn write(entry: &LockEntry, out: &mut Vec<u8>) {
    let (kind, permits) = match entry.kind {
        LockKind::Mutex => (MUTEX, None),
        LockKind::Semaphore(permits) => (SEMAPHORE, u32::try_from(permits.get()).ok()),
        LockKind::ReadWrite => (READ_WRITE, None),
    };
    let wire = Wire {
        sort: SORT_LOCK,
        kind,
        permits,
        holders: entry.holders.iter().map(wire_holder).collect(),
        queue: some(entry.queue.iter().map(wire_waiter).collect()),
        notes: some(entry.notes.iter().map(wire_note).collect()),
    };
    minicbor::encode(&wire, Pen(out)).expect("a Vec takes every byte and every field encodes");
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    if list.is_empty() { None } else { Some(list) }
}

fn wire_holder(holder: &Holder) -> WireHolder<'_> {
    let time = |ttl: Ttl| (!ttl.is_zero()).then_some(ttl.as_micros());
    WireHolder {
        token: (*holder.token.as_bytes()).into(),
        mode: mode_number(holder.mode),
        owner: holder.owner.as_ref().map(Owner::as_str),
        fence: holder.grant.map(|grant| grant.fence.get()),
        since: holder.grant.map(|grant| grant.since.as_micros()),
        until: holder.until.map(StoreTime::as_micros),
        lock_delay: time(holder.lock_delay),
        min_hold: time(holder.min_hold),
        resting: (holder.stage == Stage::Resting).then_some(true),
        revoked: match &holder.stage {
            Stage::Revoked(note) => Some(wire_note(note)),
            Stage::Held | Stage::Resting => None,
        },
    }
}

fn wire_waiter(waiter: &Waiter) -> WireWaiter<'_> {
    WireWaiter {
        token: (*waiter.token.as_bytes()).into(),
        mode: mode_number(waiter.mode),
        owner: waiter.owner.as_ref().map(Owner::as_str),
        since: waiter.since.as_micros(),
        alive_until: waiter.alive_until.as_micros(),
    }
}

fn wire_note(note: &Note) -> WireNote<'_> {
    WireNote {
        token: (*note.token.as_bytes()).into(),
        by: note.by.as_str(),
        reason: note.reason.as_str(),
        until: note.until.as_micros(),
    }
}

/// Reads an entry that takes up all of `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<LockEntry, Damaged> {
    let mut decoder = Decoder::new(bytes);
    let wire: Wire<'_> = decoder.decode().map_err(|_| Damaged::Header)?;
    if decoder.position() != bytes.len() || wire.sort != SORT_LOCK {
        return Err(Damaged::Header);
    }
    let queue = wire.queue.unwrap_or_default();
    let notes = wire.notes.unwrap_or_default();
    // More than anybody writes: not ours, and not to be carried on.
    if wire.holders.len() > usize::from(Permits::MOST)
        || queue.len() > LockEntry::MOST_WAITERS
        || notes.len() > LockEntry::MOST_NOTES
    {
        return Err(Damaged::Header);
    }
    Ok(LockEntry {
        kind: kind(wire.kind, wire.permits)?,
        holders: wire.holders.iter().map(holder).collect::<Result<_, _>>()?,
        queue: queue.iter().map(waiter).collect::<Result<_, _>>()?,
        notes: notes.iter().map(note).collect(),
    })
}

fn kind(number: u8, permits: Option<u32>) -> Result<LockKind, Damaged> {
    match (number, permits) {
        (MUTEX, None) => Ok(LockKind::Mutex),
        (READ_WRITE, None) => Ok(LockKind::ReadWrite),
        (SEMAPHORE, Some(permits)) => usize::try_from(permits)
            .ok()
            .and_then(|permits| Permits::new(permits).ok())
            .map(LockKind::Semaphore)
            .ok_or(Damaged::Header),
        _ => Err(Damaged::Header),
    }
}

fn holder(wire: &WireHolder<'_>) -> Result<Holder, Damaged> {
    let grant = match (wire.fence, wire.since) {
        (Some(fence), Some(since)) => {
            Some(Grant { fence: Fence::new(fence), since: StoreTime::from_micros(since) })
        }
        (None, None) => None,
        _ => return Err(Damaged::Header),
    };
    let stage = match (wire.resting, &wire.revoked) {
        (None | Some(false), None) => Stage::Held,
        (None | Some(false), Some(wire)) => Stage::Revoked(note(wire)),
        // One that rests until nobody knows when would rest for ever.
        (Some(true), None) if wire.until.is_some() => Stage::Resting,
        (Some(true), _) => return Err(Damaged::Header),
    };
    Ok(Holder {
        token: Token::from_bytes(*wire.token),
        mode: mode(wire.mode)?,
        owner: wire.owner.map(Owner::new),
        grant,
        until: wire.until.map(StoreTime::from_micros),
        lock_delay: ttl(wire.lock_delay)?,
        min_hold: ttl(wire.min_hold)?,
        stage,
    })
}

fn waiter(wire: &WireWaiter<'_>) -> Result<Waiter, Damaged> {
    Ok(Waiter {
        token: Token::from_bytes(*wire.token),
        mode: mode(wire.mode)?,
        owner: wire.owner.map(Owner::new),
        since: StoreTime::from_micros(wire.since),
        alive_until: StoreTime::from_micros(wire.alive_until),
    })
}

fn note(wire: &WireNote<'_>) -> Note {
    Note {
        token: Token::from_bytes(*wire.token),
        by: Owner::new(wire.by),
        reason: Reason::new(wire.reason),
        until: StoreTime::from_micros(wire.until),
    }
}

fn ttl(micros: Option<u64>) -> Result<Ttl, Damaged> {
    Ttl::from_micros(micros.unwrap_or(0)).ok_or(Damaged::Header)
}

const fn mode_number(mode: Mode) -> u8 {
    match mode {
        Mode::Exclusive => EXCLUSIVE,
        Mode::Shared => SHARED,
    }
}

const fn mode(number: u8) -> Result<Mode, Damaged> {
    match number {
        EXCLUSIVE => Ok(Mode::Exclusive),
        SHARED => Ok(Mode::Shared),
        _ => Err(Damaged::Header),
    }
}
