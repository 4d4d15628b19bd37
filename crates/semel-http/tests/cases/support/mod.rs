//! What the cases share: a service that counts its runs, requests, answers, latches and engines.

mod answer;
mod app;
mod call;
mod latch;
mod once;
mod places;
mod request;

pub(crate) use answer::Answer;
pub(crate) use app::{App, created, reply};
pub(crate) use call::{bytes, call, fresh, refused};
pub(crate) use latch::Latch;
pub(crate) use once::{once, once_of, over, sqlite, until};
pub(crate) use places::{Place, open};
pub(crate) use request::{alice, bob, from, keyed, order, request, with};
