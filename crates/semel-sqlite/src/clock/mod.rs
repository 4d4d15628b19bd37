//! The store's clock: one for all processes of the machine, out of reach of wall-clock jumps.
//!
//! # Why not the wall clock
//!
//! Deadlines are kept in a file that outlives processes and boots, and every process that opens it
//! must judge them alike. The wall clock is common to them, but it jumps: set forward by an hour it
//! would end every lease at once, and two callers would hold one claim.
//!
//! # Why this
//!
//! Linux counts the time since boot, time asleep included (`CLOCK_BOOTTIME`). It is the same for
//! every process, never jumps and never goes back. What it lacks is a meaning beyond this boot. So
//! the file holds, beside the id of the boot, the *offset* from that count to store time. The first
//! process that opens the file after a boot sets it, in a transaction:
//!
//! ```text
//! offset = max(wall clock, last time seen) − time since boot
//! ```
//!
//! All others read it. From then on store time is time since boot plus offset, and the wall clock
//! is not asked again until the next boot. Over a boot the store has nothing but the wall clock to
//! tell how long the machine was off. Where that was set back, *last time seen* (kept with every
//! commit and when a store is closed) is the floor, and the clock goes on from there: leases then
//! last longer than they were meant to, which is the safe side. Where it was set forward, they end
//! earlier, but their holders ended with the boot.
//!
//! A boot is told from another by `/proc/sys/kernel/random/boot_id`, and a process in a time
//! namespace of its own, whose count differs, by the namespace's number.
//!
//! # Elsewhere
//!
//! Where the system has no such count or no boot id, store time is the wall clock, kept from going
//! back by the last time seen. A jump forward then ends leases early; `docs/stores/sqlite.md` says
//! so.

mod machine;
mod timepiece;

#[cfg(test)]
mod tests;

pub(crate) use machine::RealMachine;
pub(crate) use timepiece::{Stopwatch, Timepiece, anchor};
