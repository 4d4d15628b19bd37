//! A shop that books: two rows for each effect, and an answer that names the first.

mod desk;
mod place;
mod shop;

pub(crate) use desk::{Desk, How};
pub(crate) use place::{InFile, OnServer, Place};
pub(crate) use shop::{Shop, got, order, transactional_layer};
