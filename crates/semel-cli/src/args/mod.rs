//! The command line as it was written; nothing is resolved or judged here.

mod demo;
mod doctor;
pub(crate) mod duration;
mod fence;
mod key;
mod lock;
mod once;
mod pages;
mod policy;
pub(crate) mod size;
mod store;

pub(crate) use demo::DemoArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use fence::{FenceArgs, FenceCheckArgs, FenceCommand};
pub(crate) use key::{KeyArgs, KeyCommand, KeyForgetArgs, KeyLsArgs, KeyResolveArgs, KeyShowArgs};
pub(crate) use lock::{
    LockArgs, LockCommand, LockLsArgs, LockReleaseArgs, LockRunArgs, LockShowArgs, OnLostWord,
};
pub(crate) use once::OnceArgs;
pub(crate) use pages::{CompletionsArgs, ManArgs};
pub(crate) use policy::PolicyArgs;
pub(crate) use store::StoreArgs;

use clap::{Parser, Subcommand};

use crate::exit::{Exit, Stop};

const EXIT_CODES: &str = "\
Exit codes:
   0  done
  64  a flag or its value is wrong
  69  the address or the store can't be had
  71  this machine refused a thread or a signal handler
  74  a file can't be read or written, or isn't what it should be
  75  work was still running when the time to drain was over";

/// Makes retries harmless: a call with a key has its effect once, and every
/// repeat gets the first answer.
#[derive(Debug, Parser)]
#[command(name = "semel", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: CommandArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CommandArgs {
    Lock(LockArgs),
    Once(Box<OnceArgs>),
    Key(KeyArgs),
    Fence(FenceArgs),
    Demo(Box<DemoArgs>),
    Doctor(DoctorArgs),
    Man(ManArgs),
    Completions(CompletionsArgs),
}

/// Reads this process's command line. `--help` and `--version` print their
/// text to stdout and end the program here.
pub(crate) fn read() -> Result<Args, Stop> {
    Args::try_parse().map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        Stop::plain(Exit::Usage, format_args!("semel: {}", text.trim_end()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_flag_says_what_it_is_for() {
        for argument in Args::command().get_subcommands().flat_map(clap::Command::get_arguments) {
            assert!(argument.get_help().is_some(), "{} has no help", argument.get_id());
        }
    }
}
