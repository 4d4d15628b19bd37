//! The decision over locks against a small reference: any sequence of questions, each applied at
//! once, gets the answers that the reference gives.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

#[path = "lock_model/store.rs"]
mod store;

use proptest::collection::vec;
use proptest::prelude::*;
use semel_core::lock::{LockEntry, LockKind, Mode, Permits, Reason, Want};
use semel_core::protocol::Verdict;
use semel_core::protocol::lock::{
    Acquire, Acquired, Ending, Force, ForceHow, ForceTarget, Forced, KeepPlaces, LockAsk,
    LockStatus, Queueing, Release, Released, Renew, Renewed,
};
use semel_core::{Owner, StoreTime, Token, Ttl};
use store::Store;

const SECOND: u64 = 1_000_000;
const LEASE: u64 = 10 * SECOND;
const ALIVE: u64 = 3 * SECOND;

fn ttl(micros: u64) -> Ttl {
    Ttl::from_micros(micros).unwrap()
}

fn token(id: u8) -> Token {
    Token::from_bytes([id; 16])
}

fn token_of(id: u8, acquisition: u8) -> Token {
    let mut bytes = [id; 16];
    bytes[0] = acquisition;
    Token::from_bytes(bytes)
}

// ===== the reference =====

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Held,
    Revoked,
    Resting,
}

#[derive(Debug, Clone, Copy)]
struct Holder {
    id: u8,
    mode: Mode,
    until: u64,
    free_at: u64,
    least: u64,
    stage: Stage,
    forced: bool,
}

#[derive(Debug)]
struct Reference {
    want: fn(bool) -> Want,
    delay: u64,
    min_hold: u64,
    now: u64,
    holders: Vec<Holder>,
    queue: Vec<(u8, Mode, u64)>,
}

impl Reference {
    fn pass(&mut self, by: u64) {
        self.now += by;
        let now = self.now;
        self.holders.retain(|holder| now < holder.free_at);
        self.queue.retain(|(.., alive)| now < *alive);
    }

    fn held(&self, id: u8) -> Option<usize> {
        self.holders.iter().position(|holder| holder.id == id)
    }

    fn acquire(&mut self, id: u8, exclusive: bool, place: bool) -> &'static str {
        let want = (self.want)(exclusive);
        let ours = self.held(id).filter(|at| self.holders[*at].stage != Stage::Resting);
        if ours.is_some_and(|at| self.now < self.holders[at].until) {
            return "granted";
        }
        // What it had and has lapsed is no obstacle, and goes with the next write.
        let others = self.holders.iter().enumerate().filter(|(at, _)| Some(*at) != ours);
        let others: Vec<Holder> = others.map(|(_, holder)| *holder).collect();
        let ahead = self.queue.iter().take_while(|(there, ..)| *there != id);
        let reads = want == Want::read();
        let ahead = ahead.filter(|(_, mode, _)| place || (reads && *mode == Mode::Exclusive));
        let modes = others.iter().map(|holder| holder.mode);
        if want.fits(modes.chain(ahead.map(|(_, mode, _)| *mode))) {
            self.holders = others;
            self.queue.retain(|(there, ..)| *there != id);
            let until = self.now + LEASE;
            let least = if self.min_hold > 0 { self.now + self.min_hold } else { 0 };
            let free_at = (until + self.delay).max(least);
            let stage = Stage::Held;
            self.holders.push(Holder {
                id,
                mode: want.mode(),
                until,
                free_at,
                least,
                stage,
                forced: false,
            });
            return "granted";
        }
        if !place {
            return "held";
        }
        if !self.queue.iter().any(|(there, ..)| *there == id) {
            self.holders = others;
            self.queue.push((id, want.mode(), self.now + ALIVE));
        }
        "queued"
    }

    fn renew(&mut self, id: u8) -> &'static str {
        let Some(at) = self.held(id) else { return "lost" };
        let holder = &mut self.holders[at];
        if holder.stage != Stage::Held {
            return "lost";
        }
        holder.until = self.now + LEASE;
        holder.free_at = (holder.until + self.delay).max(holder.least);
        "renewed"
    }

    fn release(&mut self, id: u8) -> &'static str {
        self.queue.retain(|(there, ..)| *there != id);
        let Some(at) = self.held(id) else { return "not held" };
        let holder = self.holders[at];
        if holder.stage == Stage::Resting {
            return if holder.forced { "not held" } else { "already" };
        }
        if self.now < holder.least {
            let rests = Holder {
                stage: Stage::Resting,
                until: holder.least,
                free_at: holder.least,
                ..holder
            };
            self.holders[at] = rests;
            return "released";
        }
        self.holders.remove(at);
        if self.now < holder.until { "released" } else { "lapsed" }
    }

    fn keep(&mut self) {
        let until = self.now + ALIVE;
        self.queue.iter_mut().for_each(|(.., alive)| *alive = until);
    }

    fn force(&mut self, at_once: bool) -> usize {
        let (now, delay) = (self.now, self.delay);
        let mut forced = 0;
        for holder in &mut self.holders {
            if at_once {
                let rest = if holder.stage == Stage::Resting { 0 } else { delay };
                (holder.until, holder.free_at) = (now + rest, now + rest);
                holder.forced |= holder.stage != Stage::Resting;
                holder.stage = Stage::Resting;
                forced += 1;
            } else if holder.stage != Stage::Resting {
                holder.stage = Stage::Revoked;
                forced += 1;
            }
        }
        self.holders.retain(|holder| now < holder.free_at);
        forced
    }
}

// ===== the decision =====

fn put<A: LockAsk>(store: &mut Store, ask: &A) -> A::Answer {
    match ask.decide(&store.seen()) {
        Verdict::Answer(answer) => answer,
        Verdict::Write { expect, write, answer } => {
            assert!(store.swap(expect, &write).is_some(), "a write that names what is there lost");
            answer
        }
    }
}

#[derive(Debug, Clone)]
enum Op {
    Acquire { id: u8, exclusive: bool, place: bool },
    Renew(u8),
    Release(u8),
    Keep,
    Force { at_once: bool },
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let id = || 0..4_u8;
    prop_oneof![
        4 => (id(), any::<bool>(), any::<bool>())
            .prop_map(|(id, exclusive, place)| Op::Acquire { id, exclusive, place }),
        2 => id().prop_map(Op::Renew),
        2 => id().prop_map(Op::Release),
        1 => Just(Op::Keep),
        1 => any::<bool>().prop_map(|at_once| Op::Force { at_once }),
        4 => prop_oneof![Just(0), Just(1), Just(ALIVE), Just(LEASE - 1), Just(LEASE), 0..4 * SECOND]
            .prop_map(Op::Pass),
    ]
}

fn wants() -> impl Strategy<Value = fn(bool) -> Want> {
    let mutex: fn(bool) -> Want = |_| Want::mutex();
    let two: fn(bool) -> Want = |_| Want::permit(Permits::new(2).unwrap());
    let read_write: fn(bool) -> Want =
        |exclusive| if exclusive { Want::write() } else { Want::read() };
    prop_oneof![Just(mutex), Just(two), Just(read_write)]
}

struct Both {
    store: Store,
    reference: Reference,
    /// The highest fence so far.
    fence: u64,
    /// How many acquisitions each has begun: each has a token of its own.
    begun: [u8; 4],
}

impl Both {
    fn token(&self, id: u8) -> Token {
        token_of(id, self.begun[usize::from(id)])
    }

    fn run(&mut self, op: &Op) -> Result<(), TestCaseError> {
        let tokens: Vec<Token> = (0..4).map(|id| self.token(id)).collect();
        let own = |id: u8| tokens[usize::from(id)];
        let Self { store, reference, .. } = self;
        match *op {
            Op::Pass(by) => {
                store.now += by;
                reference.pass(by);
            }
            Op::Acquire { id, exclusive, place } => self.acquire(id, exclusive, place)?,
            Op::Renew(id) => {
                // Who is over may be there yet, as nobody wrote since: it may renew, or not.
                let seen = store.seen().entry;
                let there = seen.iter().flat_map(|there| &there.entry.holders);
                if reference.held(id).is_none()
                    && there.into_iter().any(|there| there.token == own(id))
                {
                    return Ok(());
                }
                let renewed = put(store, &Renew { token: own(id), lease: ttl(LEASE) });
                let renewed = matches!(renewed, Renewed::Renewed);
                prop_assert_eq!(if renewed { "renewed" } else { "lost" }, reference.renew(id));
            }
            Op::Release(id) => {
                let over = reference.held(id).is_none();
                let released = put(store, &Release { token: own(id), ending: Ending::Used });
                let said = match released {
                    Released::Released { .. } => "released",
                    Released::Already => "already",
                    Released::Lapsed => "lapsed",
                    Released::NotHeld(_) => "not held",
                };
                let expected = reference.release(id);
                // Likewise: what has lapsed and what is not held are the same to the reference.
                let same = over && matches!(said, "lapsed" | "already");
                prop_assert!(same || said == expected, "{said}, not {expected}");
            }
            Op::Keep => {
                put(store, &KeepPlaces { tokens, alive: ttl(ALIVE) });
                reference.keep();
            }
            Op::Force { at_once } => {
                let how = if at_once { ForceHow::AtOnce } else { ForceHow::Revoke };
                let (by, reason) = (Owner::new("eve"), Reason::new("why"));
                let force = Force { target: ForceTarget::Everybody, by, reason, how };
                let forced = match put(store, &force) {
                    Forced::Forced(holders) => holders.len(),
                    Forced::NotHeld => 0,
                };
                prop_assert_eq!(forced, reference.force(at_once));
            }
        }
        self.compare()
    }

    fn acquire(&mut self, id: u8, exclusive: bool, place: bool) -> Result<(), TestCaseError> {
        let resting = |there: &Holder| there.id == id && there.stage == Stage::Resting;
        if self.reference.holders.iter().any(resting) {
            // Its last acquisition is over, and the reference has one name for both.
            return Ok(());
        }
        let before = self.reference.held(id).is_some();
        let waits = self.reference.queue.iter().any(|(there, ..)| *there == id);
        if !before && !waits {
            self.begun[usize::from(id)] += 1;
        }
        let token = self.token(id);
        let Self { store, reference, fence, .. } = self;
        let acquire = Acquire {
            token,
            want: (reference.want)(exclusive),
            owner: None,
            lease: ttl(LEASE),
            lock_delay: ttl(reference.delay),
            min_hold: ttl(reference.min_hold),
            queueing: if place { Queueing::Place(ttl(ALIVE)) } else { Queueing::Past },
        };
        let said = match put(store, &acquire) {
            Acquired::Granted { fence: told, left } => {
                prop_assert!(!left.is_zero() && left <= ttl(LEASE));
                if told.is_none() {
                    // The version of the write that was just applied.
                    let version = store.stored.as_ref().unwrap().version;
                    prop_assert!(version > *fence, "{version} after {fence}");
                    *fence = version;
                } else {
                    prop_assert!(before, "a fence from nowhere");
                }
                "granted"
            }
            Acquired::Held(_) => "held",
            Acquired::Queued(_) => "queued",
            Acquired::OtherKind(_) => "other kind",
        };
        prop_assert_eq!(said, reference.acquire(id, exclusive, place));
        Ok(())
    }

    /// The same hold and wait, for the same time.
    fn compare(&self) -> Result<(), TestCaseError> {
        let status = LockStatus::of(&self.store.seen());
        let moment = |time: StoreTime| time.as_micros();
        let held = status.iter().flat_map(|status| &status.holders);
        let mut held: Vec<(bool, Option<u64>)> =
            held.map(|there| (there.mode == Mode::Exclusive, there.until.map(moment))).collect();
        let holders = self.reference.holders.iter();
        let mut expected: Vec<(bool, Option<u64>)> =
            holders.map(|there| (there.mode == Mode::Exclusive, Some(there.until))).collect();
        held.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(held, expected);
        let waits = status.iter().flat_map(|status| &status.queue).count();
        prop_assert_eq!(waits, self.reference.queue.len());
        Ok(())
    }
}

proptest! {
    #[test]
    fn the_decision_answers_as_the_reference_does(
        want in wants(),
        delay in prop_oneof![Just(0), Just(2 * SECOND)],
        min_hold in prop_oneof![3 => Just(0), 1 => Just(15 * SECOND)],
        ops in vec(op(), 1..40),
    ) {
        let start = 1_764_500_000 * SECOND;
        let reference = Reference {
            want, delay, min_hold, now: start, holders: Vec::new(), queue: Vec::new(),
        };
        let mut store = Store::default();
        store.now = start;
        let mut both = Both { store, reference, fence: 0, begun: [0; 4] };
        for op in &ops {
            // A version is the moment of its write, as long as there is one write a moment.
            both.run(&Op::Pass(1))?;
            both.run(op)?;
        }
    }
}

/// An absent lock has no kind, and takes any.
#[test]
fn a_free_lock_is_of_the_kind_of_its_next_asker() {
    let mut store = Store::default();
    for want in [Want::mutex(), Want::read(), Want::permit(Permits::new(3).unwrap())] {
        let acquire = Acquire {
            token: token(1),
            want,
            owner: None,
            lease: ttl(LEASE),
            lock_delay: Ttl::ZERO,
            min_hold: Ttl::ZERO,
            queueing: Queueing::Past,
        };
        assert!(matches!(put(&mut store, &acquire), Acquired::Granted { .. }));
        let other = Acquire { token: token(2), want: Want::write(), ..acquire };
        let said = put(&mut store, &other);
        let same = want.kind() == LockKind::ReadWrite;
        assert_eq!(matches!(said, Acquired::Held(_)), same, "{said:?}");
        assert_eq!(matches!(said, Acquired::OtherKind(_)), !same, "{said:?}");
        put(&mut store, &Release { token: token(1), ending: Ending::Used });
        assert!(store.stored.is_none());
    }
    assert_eq!(LockEntry::free(LockKind::Mutex).holders.len(), 0);
}
