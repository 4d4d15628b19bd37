//! What a file promises as it lies there.

use std::path::Path;

use semel_core::Preflight;

use crate::store::SqliteStore;

/// File systems over a network, by the numbers of Linux's `statfs`: their locks are not to be
/// trusted, and a write-ahead log needs memory that all processes share.
#[cfg(target_os = "linux")]
const NETWORKED: [(u32, &str); 5] = [
    (0x6969, "NFS"),
    (0xFF53_4D42, "SMB"),
    (0xFE53_4D42, "SMB2"),
    (0x517B, "SMB"),
    (0x6573_5546, "FUSE"),
];
/// File systems in memory.
#[cfg(target_os = "linux")]
const VOLATILE: [u32; 2] = [0x0102_1994, 0x8584_58F6];

impl SqliteStore {
    /// What this store promises where its file lies, what it does not, and what to change.
    #[must_use]
    pub fn preflight(&self) -> Preflight {
        let mut preflight = Preflight::of(format!("SQLite file {}", self.path().display()));
        preflight.fine("durability", "every acknowledged write was forced to the disk");
        preflight.fine("version", format!("SQLite {}", rusqlite::version()));
        preflight
            .fine("sharing", "the processes of this machine; for several machines use a server");
        file_system(&mut preflight, self.path());
        preflight
    }
}

#[cfg(target_os = "linux")]
fn file_system(preflight: &mut Preflight, path: &Path) {
    let Ok(found) = rustix::fs::statfs(path) else { return };
    // The numbers are 32 bits wide; the type that holds them differs from machine to machine.
    #[expect(clippy::cast_possible_truncation, reason = "the numbers are 32 bits wide")]
    #[expect(clippy::cast_sign_loss, reason = "they are compared bit by bit")]
    let kind = found.f_type as u32;
    if let Some((_, name)) = NETWORKED.iter().find(|(number, _)| *number == kind) {
        preflight.warn(
            "file system",
            format!("{name}: locks and shared memory may not work between machines"),
            "put the file on a local disk",
        );
    } else if VOLATILE.contains(&kind) {
        preflight.warn(
            "file system",
            "in memory: everything is forgotten when the machine restarts",
            "put the file on a disk",
        );
    } else {
        preflight.fine("file system", "local");
    }
}

#[cfg(not(target_os = "linux"))]
fn file_system(preflight: &mut Preflight, _: &Path) {
    preflight.warn(
        "file system",
        "it can't be told here whether it is a local one",
        "make sure that the file is on a local disk",
    );
}
