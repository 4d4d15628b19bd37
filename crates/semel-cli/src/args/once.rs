//! Flags of `semel once`.

use std::ffi::OsString;

use clap::Args;

use super::StoreArgs;

const ABOUT: &str = "\
Runs a command at most once per key.

The first run's stdout, stderr and exit code are recorded. A repeat prints them again,
byte for byte, and exits with that code; the command does not run. What the command
prints is passed on while it runs; it sees pipes, not the terminal. A repeat that
comes while the first still runs waits for it, at most --wait.

If semel or the machine dies while the command runs, nobody can know what it did. The
key is then in doubt: it never runs again by itself, and each repeat ends with 76
until you have looked and said `semel key resolve KEY --done CODE` or `--free`.

A command that can't be found or executed has done nothing: its key stays free.";

const EXIT_CODES: &str = "\
Exit codes:
   0..  the command's own, or the recorded one
  64  a flag or its value is wrong
  65  the key was used for another command (--any-command allows that)
  66  it ran, but what it printed was not kept: it was more than --max-output
  69  the store can't be reached
  71  this machine refused a process or a signal handler
  75  the first run still goes on, and waiting took too long
  76  in doubt: a run began, and nobody knows how it ended
 126  the command can't be run; the key is free
 127  the command can't be found; the key is free
 128+n  signal n ended the command, or semel's wait for the first run";

/// Run a command at most once per key
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXIT_CODES)]
pub(crate) struct OnceArgs {
    /// The key: 1 to 255 characters. The same job, the same key
    #[arg(value_name = "KEY")]
    pub(crate) key: String,

    /// Wait so long for a first run that still goes on; 0s does not wait
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) wait: String,

    /// How long the run is remembered
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) keep: String,

    /// How much of what the command prints is recorded; beyond it, nothing of it is
    #[arg(long, value_name = "SIZE", default_value = "256KiB")]
    pub(crate) max_output: String,

    /// Time from a SIGTERM that was passed on to SIGKILL
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) kill_after: String,

    /// Take the key's record whatever command and arguments it is of
    #[arg(long)]
    pub(crate) any_command: bool,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// The command and its arguments
    #[arg(value_name = "CMD", last = true, required = true, num_args = 1..)]
    pub(crate) command: Vec<OsString>,
}
