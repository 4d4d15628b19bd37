//! Arguments → what to do.

use std::fmt;

use crate::conform::{self, Store};
use crate::proof::{self, Tier};
use crate::shell::{Cmd, Failure};
use crate::step::{self, STEPS, Stop};
use crate::workspace::Workspace;
use crate::{checks, features, mcp_client};

/// What the arguments asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Test { only: Vec<&'static str>, stop: Stop },
    Fmt,
    Lint,
    Docs,
    Features,
    Conform(Store),
    Proof(Tier),
    McpClient,
    Bench,
    Peers,
}

/// Why the arguments make no sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) fn parse(args: &[String]) -> Result<Command, UsageError> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [] | ["help" | "--help" | "-h"] => Ok(Command::Help),
        ["test" | "ci", rest @ ..] => parse_test(rest),
        ["fmt"] => Ok(Command::Fmt),
        ["lint"] => Ok(Command::Lint),
        ["docs"] => Ok(Command::Docs),
        ["features"] => Ok(Command::Features),
        ["conform", store] => Store::parse(store)
            .map(Command::Conform)
            .ok_or_else(|| not_one_of("store", store, &Store::names())),
        ["proof"] => Ok(Command::Proof(Tier::Short)),
        ["proof", "--tier", tier] => Tier::parse(tier)
            .map(Command::Proof)
            .ok_or_else(|| not_one_of("tier", tier, &Tier::names())),
        ["mcp-client"] => Ok(Command::McpClient),
        ["bench"] => Ok(Command::Bench),
        ["bench", "peers"] => Ok(Command::Peers),
        ["conform"] => Err(not_one_of("store", "", &Store::names())),
        other => Err(UsageError(format!("no such command: `{}`", other.join(" ")))),
    }
}

fn parse_test(rest: &[&str]) -> Result<Command, UsageError> {
    let mut only = Vec::new();
    let mut stop = Stop::AtFirst;
    for arg in rest {
        match (*arg, STEPS.iter().find(|step| step.name == *arg)) {
            ("--keep-going", _) => stop = Stop::AtEnd,
            (_, Some(step)) => only.push(step.name),
            (other, None) => {
                let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
                return Err(not_one_of("step", other, &names));
            }
        }
    }
    Ok(Command::Test { only, stop })
}

fn not_one_of(what: &str, got: &str, names: &[&str]) -> UsageError {
    UsageError(format!("`{got}` is no {what}; it takes one of: {}", names.join(", ")))
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    let here = Workspace::find()?;
    match command {
        Command::Help => {
            print!("{}", help());
            Ok(())
        }
        Command::Test { only, stop } => step::run(&here, only, *stop),
        Command::Fmt => checks::formats(&here).iter().try_for_each(Cmd::run),
        Command::Lint => lint(&here),
        Command::Docs => step::run(&here, &["docs", "doc-tests"], Stop::AtFirst),
        Command::Features => features::check(&here),
        Command::Conform(store) => conform::run(&here, *store),
        Command::Proof(tier) => proof::run(&here, *tier),
        Command::McpClient => mcp_client::run(&here),
        Command::Bench => here.cargo(&["bench", "-p", "semel-bench"]).run(),
        Command::Peers => here.cargo(&["run", "--release", "--manifest-path", checks::PEERS]).run(),
    }
}

/// All that reads code without running it. `cargo deny` adds licences, sources
/// and bans where it is installed; the floors it guards are checked either way.
fn lint(here: &Workspace) -> Result<(), Failure> {
    step::run(here, &["house", "floors", "fmt", "clippy"], Stop::AtEnd)?;
    if here.has_subcommand("deny") {
        return checks::deny(here).run();
    }
    println!("cargo-deny is not installed: licences and sources were not checked");
    Ok(())
}

fn help() -> String {
    let mut text = String::from(
        "\
cargo xtask COMMAND

  test [STEP…] [--keep-going]  everything that must hold before a change goes in,
                               or only the steps named; stops at the first that
                               fails unless told to keep going
  ci                           the same
  fmt                          formats the code
  lint                         house checks, version floors, formatting, clippy;
                               cargo-deny too where it is installed
  docs                         the documentation and its examples
  features                     each feature of each crate alone
  conform STORE                the conformance suite of one store: memory, sqlite,
                               redis, postgres or valkey
  proof [--tier short|long]    property tests with many more cases, every test
                               named proof_*, and the demo on PostgreSQL; short
                               (2,000 cases) is the default, long takes 100,000,
                               runs mcp-client too and compiles `bench peers`
  mcp-client                   the demo's tools called by the MCP SDK for TypeScript;
                               needs node 18, npm and its registry
  bench                        the measurements of semel-bench
  bench peers                  locks against those of other libraries
  help                         this page

The steps of `test`, in order:

",
    );
    for step in STEPS {
        text.push_str(&format!("  {:<12} {}\n", step.name, step.about));
    }
    text.push_str(&format!(
        "\nUsed where installed: {}, cargo-nextest, cargo-deny.\n",
        Cmd::new("git").shown()
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, UsageError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args)
    }

    #[test]
    fn every_command_of_the_help_page_is_understood() {
        for (line, expected) in [
            ("", Command::Help),
            ("help", Command::Help),
            ("test", Command::Test { only: vec![], stop: Stop::AtFirst }),
            ("ci", Command::Test { only: vec![], stop: Stop::AtFirst }),
            ("ci --keep-going", Command::Test { only: vec![], stop: Stop::AtEnd }),
            ("test clippy", Command::Test { only: vec!["clippy"], stop: Stop::AtFirst }),
            ("fmt", Command::Fmt),
            ("lint", Command::Lint),
            ("docs", Command::Docs),
            ("features", Command::Features),
            ("conform sqlite", Command::Conform(Store::Sqlite)),
            ("proof", Command::Proof(Tier::Short)),
            ("proof --tier long", Command::Proof(Tier::Long)),
            ("bench", Command::Bench),
            ("bench peers", Command::Peers),
        ] {
            assert_eq!(parsed(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (line, part) in [
            ("tset", "no such command"),
            ("test clipy", "house, floors"),
            ("conform", "memory, sqlite"),
            ("conform etcd", "memory, sqlite, redis"),
            ("proof --tier forever", "short, long"),
            ("fmt now", "no such command"),
        ] {
            let error = parsed(line).expect_err(line).to_string();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn the_help_page_names_every_step() {
        let help = help();
        for step in STEPS {
            assert!(help.contains(step.name), "{}", step.name);
        }
    }
}
