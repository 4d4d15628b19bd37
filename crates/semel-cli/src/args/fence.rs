//! Flags of `semel fence`.

use clap::{Args, Subcommand};

use super::StoreArgs;

const ABOUT: &str = "\
Refuses work under a lock that was lost meanwhile, and remembers what it has seen.

Each grant of a lock brings a number that is higher than that of any grant before:
SEMEL_LOCK_FENCE. `check` remembers the highest number that it was shown for a
resource, and refuses a smaller one. Put it before each step that must not be done
by a holder that came too late:

  semel fence check orders \"$SEMEL_LOCK_FENCE\" && publish";

const EXIT_CODES: &str = "\
Exit codes:
   0  the number is the highest so far, or equal to it
   1  a higher number was seen: the lock is another's now
  64  a flag or its value is wrong
  69  the store can't be reached";

/// Refuse work under a lock that was lost meanwhile
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct FenceArgs {
    #[command(subcommand)]
    pub(crate) command: FenceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FenceCommand {
    Check(FenceCheckArgs),
}

/// Refuse a fence that is smaller than one seen before
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXIT_CODES)]
pub(crate) struct FenceCheckArgs {
    /// What is protected: the lock's name, or what is written to under it
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,

    /// The number, as in SEMEL_LOCK_FENCE
    #[arg(value_name = "FENCE")]
    pub(crate) fence: String,

    /// An object of JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
