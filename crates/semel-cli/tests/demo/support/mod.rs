//! What the scenarios are written with: real processes, real sockets.

mod answer;
mod call;
mod client;
mod described;
mod raw;
mod records;
mod server;
mod signals;
mod wait;

pub(crate) use answer::Answer;
pub(crate) use call::{ALICE, BOB, CAROL, Call, keyboard};
pub(crate) use client::{Broken, Client, Http};
pub(crate) use described::{Described, members};
pub(crate) use raw::Raw;
pub(crate) use server::{Files, Server, refused};
pub(crate) use wait::{pause, until, within};

/// Makes each scenario two tests: one over HTTP/1.1, one over HTTP/2.
macro_rules! over_both {
    ($($(#[$meta:meta])* async fn $name:ident($http:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            use super::*;

            async fn scenario($http: Http) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn over_http_1() {
                scenario(Http::One).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn over_http_2() {
                scenario(Http::Two).await;
            }
        }
    )*};
}

pub(crate) use over_both;
