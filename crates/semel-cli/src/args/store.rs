//! The flag that names the store.

use clap::Args;

/// Where locks and keys live.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The store: `sqlite:FILE`, `redis://HOST` or `postgres://HOST/DATABASE`
    /// [default: a file of this user on this machine, see `semel man`]
    #[arg(long, value_name = "URL", env = "SEMEL_STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,
}
