//! The store of the records.

use std::error::Error;
use std::sync::Arc;

use semel::{OpenError, Store};

use crate::exit::{Exit, Stop};

/// Opens the store that `--store` names.
pub(crate) async fn open(url: &str) -> Result<Arc<dyn Store>, Stop> {
    semel::open(url).await.map_err(|error| refused(url, &error))
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
            "it takes sqlite:FILE, or memory: for a store that ends with the program",
        ),
    }
}

/// A URL as far as it can't hold a password.
fn shown(url: &str) -> &str {
    if url.starts_with("sqlite:") || url.starts_with("memory:") {
        return url;
    }
    url.split_once(':').map_or("", |(scheme, _)| scheme)
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
