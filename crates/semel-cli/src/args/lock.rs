//! Flags of `semel lock`.

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};

use super::StoreArgs;

const RUN_ABOUT: &str = "\
Runs a command while it holds a lock, so that of several that start at once one runs.

The command runs in a process group of its own, with this one's stdin, terminal and
working directory, and finds SEMEL_LOCK_RESOURCE, SEMEL_LOCK_TOKEN and
SEMEL_LOCK_FENCE in its environment. The lock is renewed while it runs. Signals are
passed on to it. The exit code is its own; for a command that a signal ended it is
128 and the signal's number.

A lock that can't be renewed is lost, and the command is ended before another can
have it: SIGTERM, then SIGKILL --kill-after later, then a margin, then the lease
ends. That needs no store. If semel itself is killed or stopped, the command is
killed. The lock is released once the command and all that it left in its process
group have ended.";

const RUN_EXIT_CODES: &str = "\
Exit codes:
   0..  the command's own; 128 and n when signal n ended it
  64  a flag or its value is wrong
  69  the store can't be reached
  71  this machine refused a process or a signal handler
  75  the lock is held (see --conflict-exit-code)
  76  the lock was lost while the command ran, and the command was ended
 126  the command can't be run
 127  the command can't be found
 128+n  signal n ended semel's wait for the lock, or the command";

const EXIT_CODES: &str = "\
Exit codes:
   0  done
   1  there is no such lock
  64  a flag or its value is wrong
  69  the store can't be reached";

/// Locks: run commands under them, look at them, take them away
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct LockArgs {
    #[command(subcommand)]
    pub(crate) command: LockCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LockCommand {
    Run(Box<LockRunArgs>),
    Ls(LockLsArgs),
    Show(LockShowArgs),
    Release(LockReleaseArgs),
}

/// Run a command while it holds a lock
#[derive(Debug, Args)]
#[command(long_about = RUN_ABOUT, after_help = RUN_EXIT_CODES)]
pub(crate) struct LockRunArgs {
    /// The lock's name: 1 to 507 characters without white space
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,

    /// How long the lock outlives a holder that is gone; it is renewed at a third of that
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) ttl: String,

    /// Wait so long for a lock that is held; without it, a held lock is an error at once
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<String>,

    /// Release it no earlier than this: a short job must not run twice because clocks differ
    #[arg(long, value_name = "TIME")]
    pub(crate) min_hold: Option<String>,

    /// Renew it no longer than this: the command is ended then, as when the lock is lost
    #[arg(long, value_name = "TIME")]
    pub(crate) max_hold: Option<String>,

    /// Pause before the next holder after an unclean end: a holder that died, or lost it
    #[arg(long, value_name = "TIME")]
    pub(crate) lock_delay: Option<String>,

    /// What happens to the command when the lock is lost
    #[arg(long, value_name = "WHAT", default_value = "term")]
    pub(crate) on_lost: OnLostWord,

    /// Time from SIGTERM to SIGKILL [default: when the lock is lost, a quarter of --ttl and at
    /// most 10s; after a SIGTERM that was passed on, 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) kill_after: Option<String>,

    /// Exit code for a lock that is held
    #[arg(long, value_name = "CODE", default_value_t = 75)]
    pub(crate) conflict_exit_code: u8,

    /// Who holds it, for people [default: host and process id]
    #[arg(long, value_name = "TEXT")]
    pub(crate) owner: Option<String>,

    /// Tell what happens on stderr, an object of JSON a line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// The command and its arguments
    #[arg(value_name = "CMD", last = true, required = true, num_args = 1..)]
    pub(crate) command: Vec<OsString>,
}

/// What happens to the command when the lock is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLostWord {
    /// SIGTERM, and SIGKILL --kill-after later
    Term,
    /// SIGKILL
    Kill,
    /// Nothing: it runs on without the lock
    Ignore,
}

/// List locks that are held
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct LockLsArgs {
    /// Only those whose names begin with this
    #[arg(value_name = "PREFIX", default_value = "")]
    pub(crate) prefix: String,

    /// One object of JSON a line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Show who holds a lock, since when and until when
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct LockShowArgs {
    /// The lock's name
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,

    /// One object of JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Take a lock away from its holder
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct LockReleaseArgs {
    /// The lock's name
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,

    /// Yes, although its holder may be at work
    #[arg(long, required = true)]
    pub(crate) force: bool,

    /// Why, for the holder and for the log
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,

    /// At once, before the holder could know; otherwise the next holder waits until the lease ends
    #[arg(long)]
    pub(crate) now: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
