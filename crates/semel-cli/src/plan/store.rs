//! Where locks and keys live.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::args::StoreArgs;
use crate::exit::{Exit, Stop};

/// The store of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StorePlan {
    /// The one that was named.
    Url(String),
    /// This user's own file on this machine.
    Own(PathBuf),
}

impl StorePlan {
    pub(crate) fn resolve(args: StoreArgs) -> Result<Self, Stop> {
        match args.store {
            Some(url) if is_forgetful(&url) => Err(Stop::flag(
                "--store",
                &url,
                "it takes a store that outlives this command: a file or a server",
            )),
            Some(url) => Ok(Self::Url(url)),
            None => own_file(&Places::of_this_user()).map(Self::Own).ok_or_else(|| {
                Stop::new(
                    Exit::Usage,
                    "there is no --store, and this user has no home directory for one",
                    "it takes --store sqlite:FILE, redis://HOST or postgres://HOST/DATABASE",
                )
            }),
        }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Url(url) => url.clone(),
            Self::Own(file) => format!("sqlite:{}", file.display()),
        }
    }
}

fn is_forgetful(url: &str) -> bool {
    url.starts_with("memory:")
}

/// What the environment says about this user's directories.
struct Places {
    state: Option<PathBuf>,
    home: Option<PathBuf>,
}

impl Places {
    fn of_this_user() -> Self {
        Self {
            state: std::env::var_os("XDG_STATE_HOME").map(PathBuf::from),
            home: std::env::home_dir(),
        }
    }
}

/// The file: below `XDG_STATE_HOME` where that is an absolute path, as the base directory
/// specification wants it; else where the platform keeps such things.
fn own_file(places: &Places) -> Option<PathBuf> {
    let of_home =
        if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    let is_absolute = |path: &&PathBuf| path.is_absolute();
    let state = match places.state.as_ref().filter(is_absolute) {
        Some(state) => state.clone(),
        None => places.home.as_ref().filter(is_absolute)?.join(of_home),
    };
    Some(state.join(Path::new("semel/semel.db")))
}

/// As it is shown in messages: without what may be a secret.
impl fmt::Display for StorePlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&crate::commands::shown_url(&self.url()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(state: Option<&str>, home: Option<&str>) -> Places {
        Places { state: state.map(PathBuf::from), home: home.map(PathBuf::from) }
    }

    #[test]
    fn the_state_directory_goes_before_home_where_it_is_absolute() {
        let file = |state, home| own_file(&places(state, home));
        assert_eq!(file(Some("/s"), Some("/h")), Some(PathBuf::from("/s/semel/semel.db")));
        let of_home = file(None, Some("/h")).unwrap();
        assert!(of_home.starts_with("/h") && of_home.ends_with("semel/semel.db"));
        assert_eq!(file(Some("relative"), Some("/h")), Some(of_home.clone()));
        assert_eq!(file(Some(""), Some("/h")), Some(of_home));
        assert_eq!(file(None, None), None);
        assert_eq!(file(None, Some("")), None);
    }

    #[test]
    fn a_store_that_ends_with_the_command_is_refused() {
        let args = |url: &str| StoreArgs { store: Some(url.to_owned()) };
        assert!(StorePlan::resolve(args("memory:")).is_err());
        let plan = StorePlan::resolve(args("sqlite:a.db")).unwrap();
        assert_eq!(plan.url(), "sqlite:a.db");
    }
}
