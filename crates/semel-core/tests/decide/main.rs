//! The decision: every state and question by itself, what holds for all of them, and whole
//! timelines over the memory store with replies that get lost.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod asks;
mod fixtures;
mod laws;
mod laws_of_begin;
mod lost_replies;
mod settling;
mod show;
mod table;
mod timelines;
mod world;
