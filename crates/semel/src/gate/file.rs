//! A gate that remembers in a file, and keeps others out while the work lasts.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use semel_core::protocol::{Passage, judge};
use semel_core::{Fence, Refusal, StoreError};

use super::file_form;

/// A gate for work on files: it remembers the highest fence in a file, and lets one in at a time.
///
/// [`FileGate::enter`] takes an exclusive lock of the operating system on `<path>.lock`, compares,
/// remembers, and hands out a [`FilePass`]. As long as that lives nobody else gets in, so that a
/// later holder's work can't slip in between the check and the write: an older holder's work is
/// done before the later one's begins, or is refused.
///
/// One path is one resource. Whoever guards the same files must name it the same way. It works
/// between the threads and processes of one machine; a network file system that does not carry
/// locks (`flock`) or renames faithfully does not do.
///
/// What is remembered is on the disk before the pass is handed out: written beside, forced out,
/// and renamed into its place. A crash leaves the old fence or the new one. A file that is cut off
/// or changed is an error and never "no fence". It is text, three lines, for people to look at.
///
/// ```no_run
/// # fn show(guard: &semel::LockGuard) -> Result<(), Box<dyn std::error::Error>> {
/// use semel::{FileGate, FilePassage};
///
/// let gate = FileGate::new("/srv/report/daily.fence");
/// match gate.enter(guard.fence())? {
///     FilePassage::Passed(_pass) => std::fs::write("/srv/report/daily.csv", "…")?,
///     FilePassage::Refused { seen } => eprintln!("fence {seen} was here: the lock is lost"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FileGate {
    path: PathBuf,
}

/// What a [`FileGate`] says to a fence.
#[derive(Debug)]
#[must_use = "a fence that was refused must end the work"]
pub enum FilePassage {
    /// It is the highest so far, or that one again: the work may go on as long as the pass lives.
    Passed(FilePass),
    /// A higher one was seen: the lock is another's now, and the work must stop.
    Refused {
        /// The highest so far.
        seen: Fence,
    },
}

/// Keeps all others out of a [`FileGate`] until it is dropped.
#[derive(Debug)]
#[must_use = "the gate is open to others again as soon as this is dropped"]
pub struct FilePass {
    // The operating system's lock goes with the open file.
    _lock: File,
}

impl FileGate {
    /// A gate that remembers in this file, which need not be there yet; its directory must.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Shows a fence, and waits as long as others are inside.
    ///
    /// It blocks: in asynchronous code call it by `spawn_blocking`. A holder that stands still
    /// inside keeps everybody else out until it goes on or dies.
    ///
    /// # Errors
    ///
    /// Whatever it is, the fence has not passed. `Damaged`: the file holds no fence; see which
    /// fence is the last by hand, and write or remove the file. `Refused`: it may not be opened.
    /// `NotApplied`: the disk failed. `Unknown`: it failed when the fence may have been remembered;
    /// showing it again is right.
    pub fn enter(&self, fence: Fence) -> Result<FilePassage, StoreError> {
        let lock = self.lock().map_err(|error| self.failed("locked", error))?;
        match judge(self.last()?, fence) {
            Passage::Refuse { seen } => return Ok(FilePassage::Refused { seen }),
            Passage::Remember => self.remember(fence)?,
            // Whoever remembered it may have died before it was sure to stay.
            Passage::Pass => self.settle()?,
        }
        Ok(FilePassage::Passed(FilePass { _lock: lock }))
    }

    fn lock(&self) -> io::Result<File> {
        // A file of its own, which is never replaced: a lock on one that is renamed away would
        // keep nobody out.
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.beside(".lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// The highest so far; none only where there is no file at all.
    fn last(&self) -> Result<Option<Fence>, StoreError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read", error)),
        };
        file_form::read(&bytes).map(Some).ok_or_else(|| {
            StoreError::damaged(format!(
                "the last fence can't be read from {}: expected the three lines that a gate writes",
                self.path.display()
            ))
        })
    }

    fn remember(&self, fence: Fence) -> Result<(), StoreError> {
        let new = self.beside(".new");
        written(&new, &file_form::write(fence)).map_err(|error| self.failed("written", error))?;
        fs::rename(&new, &self.path).map_err(|error| self.failed("replaced", error))?;
        self.settle()
    }

    /// Makes sure that the name stands for the new file after a loss of power too.
    fn settle(&self) -> Result<(), StoreError> {
        let folder = self.path.parent().filter(|folder| *folder != Path::new(""));
        forced_out(folder.unwrap_or(Path::new("."))).map_err(|error| {
            let message = format!("the folder of {} can't be forced out", self.path.display());
            StoreError::unknown(message).caused_by(error)
        })
    }

    pub(super) fn beside(&self, suffix: impl AsRef<OsStr>) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    fn failed(&self, what: &str, error: io::Error) -> StoreError {
        let message = format!("the gate's file {} can't be {what}", self.path.display());
        let told = match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                StoreError::refused(Refusal::Credentials, message)
            }
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
                StoreError::refused(Refusal::Unusable, message)
            }
            _ => StoreError::not_applied(message),
        };
        told.caused_by(error)
    }
}

fn written(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(unix)]
fn forced_out(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems do not open folders, and write a rename through by themselves.
#[cfg(not(unix))]
fn forced_out(_: &Path) -> io::Result<()> {
    Ok(())
}
