//! The commands for shells from outside: the real binary, real signals, process groups and
//! terminals, real stores that are paused, cut off and killed.

#![expect(clippy::unwrap_used, reason = "where a test can't go on it fails, and says where")]
#![cfg(target_os = "linux")]

mod at_most_once;
mod death;
mod exit_codes;
mod fence;
mod group;
mod jobs;
mod keys;
mod locks;
mod loss;
mod pages;
mod pass_through;
mod proof;
mod signals;
mod support;
mod terminal;
mod waiting;
