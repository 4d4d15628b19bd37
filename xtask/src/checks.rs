//! What the steps run that other tools do.

use crate::runner::{self, Runner};
use crate::shell::{Cmd, Failure};
use crate::workspace::Workspace;

/// Locks beside those of other libraries: a package apart from the workspace, for what it needs is
/// not for those who build Semel.
pub(crate) const PEERS: &str = "crates/semel-bench/peers/Cargo.toml";

pub(crate) fn fmt(here: &Workspace) -> Result<(), Failure> {
    formats(here).into_iter().try_for_each(|cmd| cmd.args(["--", "--check"]).run())
}

/// What formats the code, all of it.
pub(crate) fn formats(here: &Workspace) -> [Cmd; 2] {
    [here.cargo(&["fmt", "--all"]), here.cargo(&["fmt", "--manifest-path", PEERS])]
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
    let runner = Runner::installed(here);
    let all = runner.packed(here).args(["--workspace"]);
    match runner {
        Runner::Nextest => all,
        // What nextest runs; examples in the documentation have a step of their own.
        Runner::CargoTest => all.args(["--lib", "--bins", "--tests", "--examples"]),
    }
    .run_and_explain(runner::reasons)
}

/// The scenarios of the demo, which `tests` ran on SQLite, on the other stores. Left out are those
/// that look into the SQLite file, and those about the start, which are the same on all stores.
pub(crate) fn demo_on_redis(here: &Workspace) -> Result<(), Failure> {
    demo_on(here, "redis")
}

/// A part of `cargo xtask proof`: with it, `cargo xtask test` would take too long for every change.
pub(crate) fn demo_on_postgres(here: &Workspace) -> Result<(), Failure> {
    demo_on(here, "postgres")
}

fn demo_on(here: &Workspace, store: &str) -> Result<(), Failure> {
    let runner = Runner::installed(here);
    // The whole workspace is named, as in `tests`: with other features all would be built anew.
    let run = runner.packed(here).args(["--workspace"]);
    let run = match runner {
        Runner::Nextest => run.args([
            "-E",
            "package(semel-cli) & binary(demo) & not test(/^(storage|start|bad_input)::/)",
        ]),
        Runner::CargoTest => {
            run.args(["--test", "demo", "--", "--skip", "storage::", "--skip", "start::"])
        }
    };
    run.env("SEMEL_DEMO_STORE", store).run_and_explain(runner::reasons)
}

pub(crate) fn doc_tests(here: &Workspace) -> Result<(), Failure> {
    here.cargo(&["test", "--doc", "--workspace", "--all-features"]).run()
}

pub(crate) fn peers(here: &Workspace) -> Result<(), Failure> {
    here.cargo(&["check", "--manifest-path", PEERS]).run()
}

/// Advisories are left out: they need the network, and change without us.
pub(crate) fn deny(here: &Workspace) -> Cmd {
    here.cargo(&["deny", "--all-features", "check", "bans", "licenses", "sources"])
}
