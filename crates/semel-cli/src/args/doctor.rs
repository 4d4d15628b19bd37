//! Flags of `semel doctor`.

use clap::Args;

const EXIT_CODES: &str = "\
Exit codes:
   0  nothing to change
   1  it can be used, and something should be changed
   2  it would be refused
  64  a flag or its value is wrong
  69  the store can't be reached";

/// What a store promises as it is configured, what it does not, and what to change
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DoctorArgs {
    /// The store: `sqlite:FILE`, `redis://HOST`, `postgres://HOST/DATABASE` or `memory:`
    #[arg(long, value_name = "URL", env = "SEMEL_STORE", hide_env_values = true)]
    pub(crate) store: String,
}
