//! Flags of `semel key`.

use clap::{ArgGroup, Args, Subcommand};

use super::StoreArgs;

const EXIT_CODES: &str = "\
Exit codes:
   0  done
   1  there is no such key, or it is not in a state in which that can be done
  64  a flag or its value is wrong
  69  the store can't be reached";

const KEY_HELP: &str = "A key as `semel key ls` prints it, or one of `semel once`";

/// Keys of calls and commands that run once: look at them, settle them, forget them
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    Ls(KeyLsArgs),
    Show(KeyShowArgs),
    Resolve(KeyResolveArgs),
    Forget(KeyForgetArgs),
}

/// List keys
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct KeyLsArgs {
    /// Only those that begin with this
    #[arg(value_name = "PREFIX", default_value = "")]
    pub(crate) prefix: String,

    /// One object of JSON a line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Show what is known of a key
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct KeyShowArgs {
    #[arg(value_name = "KEY", help = KEY_HELP)]
    pub(crate) key: String,

    /// One object of JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Say how a call or command in doubt ended
#[derive(Debug, Args)]
#[command(
    after_help = EXIT_CODES,
    group = ArgGroup::new("how").required(true).args(["done", "free"])
)]
pub(crate) struct KeyResolveArgs {
    #[arg(value_name = "KEY", help = KEY_HELP)]
    pub(crate) key: String,

    /// It was done: a repeat of a command exits with this code and prints nothing; of any other
    /// call, a repeat is told that its answer was not kept
    #[arg(long, value_name = "CODE")]
    pub(crate) done: Option<u8>,

    /// It was not done: it may run
    #[arg(long)]
    pub(crate) free: bool,

    /// How long it is remembered, with --done
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) keep: String,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Forget a key that is done or in doubt: it may run again
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct KeyForgetArgs {
    #[arg(value_name = "KEY", help = KEY_HELP)]
    pub(crate) key: String,

    /// Also while its owner is at work
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
