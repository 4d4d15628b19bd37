//! The store: one key, compare and swap, versions that rise.

use crate::laws::{self, Law};
use crate::settings::Settings;
use crate::state::{Change, Entry, Expected, Progress, Shelf, Swap, World};

/// What became of a swap.
pub(crate) struct Arrived {
    /// The new version, if it won.
    pub(crate) won: Option<u8>,
    pub(crate) broken: Option<Law>,
}

/// A swap arrives at the store.
pub(crate) fn arrive(set: &Settings, world: &mut World, swap: &Swap) -> Arrived {
    let before = world.shelf.entry;
    if !matches(&world.shelf, swap) {
        return Arrived { won: None, broken: None };
    }
    let version = world.shelf.last_version + 1;
    let after = match swap.change {
        Change::Put(claimed) => {
            let live = claimed.progress == Progress::Held;
            Some(Entry { version, live, claimed })
        }
        Change::Renew => before.map(|entry| Entry { version, live: true, ..entry }),
        Change::Delete => None,
    };
    let restarts = set.versions_restart && after.is_none();
    world.shelf = Shelf { entry: after, last_version: if restarts { 0 } else { version } };
    let mut broken = before.and_then(|before| laws::of_change(set, world, before, after, swap));
    broken = broken.or(laws::of_version(world, version));
    if let Some(entry) = after
        && entry.claimed.progress == Progress::Held
    {
        world.held.add(entry.claimed.token);
    }
    Arrived { won: Some(version), broken }
}

fn matches(shelf: &Shelf, swap: &Swap) -> bool {
    let expected = match (swap.expected, shelf.entry) {
        (Expected::Any, _) | (Expected::Absent, None) => true,
        (Expected::Version(version), Some(entry)) => entry.version == version,
        (Expected::Absent, Some(_)) | (Expected::Version(_), None) => false,
    };
    let needs_entry = !matches!(swap.change, Change::Put(_));
    expected && (shelf.entry.is_some() || !needs_entry)
}
