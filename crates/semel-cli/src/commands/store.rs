//! The store of the records.

use std::error::Error;
use std::sync::Arc;

use semel::core::Preflight;
use semel::{OpenError, Store};

use crate::exit::{Exit, Stop};

/// Opens the store that `--store` names.
pub(super) async fn open(url: &str) -> Result<Arc<dyn Store>, Stop> {
    semel::open(url).await.map_err(|error| refused(url, &error))
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
pub(super) fn shown(url: &str) -> String {
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

fn with_causes(error: &dyn Error) -> String {
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
