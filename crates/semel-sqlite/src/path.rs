//! The path of a store: checked, made absolute, and the file made if there is none.

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use semel_core::{Refusal, StoreError, StoreResult};

/// Checks the path and sees to it that a file is there.
///
/// The file is made by us and not by SQLite, for two reasons: nobody else may read it (mode 0600,
/// which SQLite then gives to the files beside it), and SQLite, told never to make one, can't make
/// an empty store out of a path that was just removed.
///
/// An existing file is never opened here: closing any descriptor of a file would drop the locks
/// that another store of this process holds on it (POSIX locks work like that).
pub(crate) fn prepare(path: &Path) -> StoreResult<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(unusable("the path is empty; it takes the path of a file".to_owned()));
    }
    if path.as_os_str() == ":memory:" {
        let says = "`:memory:` is no file, and each connection to it would see another store; \
                    for a store in memory use `memory:`";
        return Err(unusable(says.to_owned()));
    }
    // Absolute, so that a later change of directory changes nothing, and so that no name is taken
    // for one of SQLite's `file:` URIs.
    let path = std::path::absolute(path).map_err(|error| refuse(path, "find", error))?;
    create(&path)?;
    Ok(path)
}

fn create(path: &Path) -> StoreResult<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => check_existing(path),
        Err(error) => Err(refuse(path, "make", error)),
    }
}

fn check_existing(path: &Path) -> StoreResult<()> {
    let found = std::fs::metadata(path).map_err(|error| refuse(path, "reach", error))?;
    if found.is_dir() {
        return Err(unusable(format!("{} is a directory; it takes a file", path.display())));
    }
    if !found.is_file() {
        return Err(unusable(format!("{} is no regular file", path.display())));
    }
    Ok(())
}

fn refuse(path: &Path, verb: &str, error: Error) -> StoreError {
    let parent = path.parent().unwrap_or(path);
    let shown = path.display();
    let (refusal, message) = match error.kind() {
        ErrorKind::NotFound if !parent.is_dir() => (
            Refusal::Unusable,
            format!("can't {verb} {shown}: the directory {} does not exist", parent.display()),
        ),
        ErrorKind::NotFound => {
            (Refusal::Unusable, format!("can't {verb} {shown}: it is a link to nowhere"))
        }
        ErrorKind::NotADirectory => (
            Refusal::Unusable,
            format!("can't {verb} {shown}: {} is not a directory", parent.display()),
        ),
        ErrorKind::PermissionDenied => {
            (Refusal::Credentials, format!("can't {verb} {shown}: not permitted"))
        }
        ErrorKind::ReadOnlyFilesystem => {
            (Refusal::Credentials, format!("can't {verb} {shown}: the file system is read-only"))
        }
        _ => (Refusal::Unusable, format!("can't {verb} {shown}")),
    };
    StoreError::refused(refusal, message).caused_by(error)
}

fn unusable(message: String) -> StoreError {
    StoreError::refused(Refusal::Unusable, message)
}
