//! Flags of the commands that print what this program says of itself.

use clap::Args;
use clap_complete::Shell;

/// Print the manual page, for `man -l -`
#[derive(Debug, Args)]
pub(crate) struct ManArgs {}

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
