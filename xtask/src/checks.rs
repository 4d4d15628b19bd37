//! What the steps run that other tools do.

use crate::select::Runner;
use crate::shell::{Cmd, Failure};
use crate::workspace::Workspace;

pub(crate) fn fmt(here: &Workspace) -> Result<(), Failure> {
    here.cargo(&["fmt", "--all", "--", "--check"]).run()
}

pub(crate) fn clippy(here: &Workspace) -> Result<(), Failure> {
    here.cargo(&["clippy", "--workspace", "--all-targets", "--all-features"])
        .args(["--", "-D", "warnings"])
        .run()
}

/// Libraries only: the program `semel` would be written over the page of the
/// library of the same name.
pub(crate) fn docs(here: &Workspace) -> Result<(), Failure> {
    here.cargo(&["doc", "--no-deps", "--workspace", "--lib", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
}

pub(crate) fn tests(here: &Workspace) -> Result<(), Failure> {
    match Runner::installed(here) {
        // All failures of a run are worth knowing, not just the first.
        Runner::Nextest => {
            here.cargo(&["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"]).run()
        }
        Runner::CargoTest => here
            .cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"])
            .args(["--lib", "--bins", "--tests", "--examples"])
            .run(),
    }
}

pub(crate) fn doc_tests(here: &Workspace) -> Result<(), Failure> {
    here.cargo(&["test", "--doc", "--workspace", "--all-features"]).run()
}

/// Advisories are left out: they need the network, and change without us.
pub(crate) fn deny(here: &Workspace) -> Cmd {
    here.cargo(&["deny", "--all-features", "check", "bans", "licenses", "sources"])
}
