//! All renewals of one engine, in one task for each runtime.
//!
//! A claim is entered when it is made and taken out when it ends: the keeper holds no claim that
//! nobody works on, and it sleeps unless one is due. Claims that are due at about the same time
//! are renewed together. A claim is renewed by the runtime in which it began, and ends with it.

mod group;
mod round;

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use semel_core::Store;
use semel_core::protocol::LeaseStep;
use tokio::runtime::{Handle, Id};
use tokio::sync::Notify;
use tokio::time::Instant;

use self::group::{Group, Step};
use self::round::{Due, Kept, renew};
use crate::once::{Held, LossReason};
use crate::timer;
