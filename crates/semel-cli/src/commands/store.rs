//! The store of the records.

use std::error::Error;
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use semel::core::Preflight;
use semel::{OpenError, Store};

use crate::exit::{Exit, Stop};
use crate::plan::StorePlan;

/// Opens the store that `--store` names.
pub(super) async fn open(url: &str) -> Result<Arc<dyn Store>, Stop> {
    semel::open(url).await.map_err(|error| refused(url, &error))
}

/// Opens the store of a command. This user's own file is made where it is not there yet, for
/// nobody else to read.
pub(super) async fn open_plan(plan: &StorePlan) -> Result<Arc<dyn Store>, Stop> {
    if let StorePlan::Own(file) = plan {
        make_private(file).map_err(|error| {
            let wrong = format_args!("{} can't be made: {error}", file.display());
            Stop::new(Exit::Unavailable, wrong, "--store or SEMEL_STORE names another place")
        })?;
    }
    let store = open(&plan.url()).await?;
    if !has_long_log(&plan.url()) {
        // It is open until the process ends, and ends with it: all that was acknowledged is on the
        // disk. Closing a SQLite file would fold its log into it, which each short command would
        // pay for anew, and the next one for a new log.
        std::mem::forget(Arc::clone(&store));
    }
    Ok(store)
}

/// Whether the log of a SQLite file is so long that reading it costs more than folding it.
fn has_long_log(url: &str) -> bool {
    const LONG: u64 = 256 << 10;
    let Some(file) = url.strip_prefix("sqlite:") else { return false };
    let file = file.strip_prefix("//").unwrap_or(file);
    std::fs::metadata(format!("{file}-wal")).is_ok_and(|log| log.len() > LONG)
}

fn make_private(file: &Path) -> io::Result<()> {
    if file.is_file() {
        return Ok(());
    }
    if let Some(directory) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(file).map(drop)
}

/// Examines the store that `--store` names.
pub(super) async fn examine(url: &str) -> Result<Preflight, Stop> {
    semel::preflight(url).await.map_err(|error| refused(url, &error))
}

fn refused(url: &str, error: &OpenError) -> Stop {
    let wrong = format!("--store {}: {}", shown(url), with_causes(error));
    match error {
        OpenError::Store(_) => {
            Stop::new(Exit::Unavailable, wrong, "it takes a store that can be read and written")
        }
        _ => Stop::new(
            Exit::Usage,
            wrong,
            "it takes sqlite:FILE, redis://HOST, postgres://HOST/DATABASE, or memory: for a store \
             that ends with the program",
        ),
    }
}

/// A URL without what may be a secret: of a server's, the user, the password and the parameters
/// are left out.
pub(crate) fn shown(url: &str) -> String {
    if url.starts_with("sqlite:") || url.starts_with("memory:") {
        return url.to_owned();
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.split_once(':').map_or_else(String::new, |(scheme, _)| scheme.to_owned());
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{rest}")
}

pub(super) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Some errors repeat their cause in their own text.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_shown_url_holds_no_secret() {
        for (url, text) in [
            ("sqlite:a.db", "sqlite:a.db"),
            ("memory:", "memory:"),
            ("redis://:secret@db:6379/0", "redis://db:6379/0"),
            ("redis://user:se@cret@db", "redis://db"),
            ("postgres://u:secret@db/app?password=secret", "postgres://db/app"),
            ("postgres://db/app#secret", "postgres://db/app"),
            ("redis:secret", "redis"),
            ("secret", ""),
        ] {
            assert_eq!(shown(url), text);
        }
    }
}
