//! The demo's tools, called by an SDK of another language: that for TypeScript, from npm.
//!
//! It needs node and npm, and at its first run npm's registry, so it is no step of `cargo xtask
//! test`, which needs neither. Where one is missing it fails and says so.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{Cmd, Failure};
use crate::workspace::Workspace;

/// Where the client is written, and its files.
const SOURCE: &str = "xtask/mcp-client";
const FILES: [&str; 2] = ["package.json", "client.mjs"];
/// The oldest node that has what the client uses.
const NODE: u32 = 18;

pub(crate) fn run(here: &Workspace) -> Result<(), Failure> {
    tools_are_there()?;
    let target = target(here);
    let folder = target.join("mcp-client");
    copy(&here.root().join(SOURCE), &folder)?;
    npm(&folder).run()?;
    here.cargo(&["build", "--workspace", "--all-features", "--bin", "semel"]).run()?;
    let semel = target.join("debug").join(format!("semel{}", std::env::consts::EXE_SUFFIX));
    let semel = semel.to_string_lossy().into_owned();
    Cmd::new("node").args(["client.mjs", &semel]).dir(&folder).run()
}

fn tools_are_there() -> Result<(), Failure> {
    let printed = Cmd::new("node").args(["--version"]).quiet();
    let version = printed.as_deref().and_then(major);
    let npm = Cmd::new("npm").args(["--version"]).quiet();
    match (version, npm) {
        (Some(version), Some(_)) if version >= NODE => Ok(()),
        (Some(version), Some(_)) => Err(Failure::new(format!(
            "the MCP client in TypeScript needs node {NODE} or later, and this is {version}"
        ))),
        _ => Err(Failure::new(format!(
            "the MCP client in TypeScript needs node {NODE} or later and npm: install both"
        ))),
    }
}

/// `v20.20.2` is 20.
fn major(printed: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(printed).ok()?;
    text.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

fn target(here: &Workspace) -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").filter(|named| !named.is_empty());
    here.root().join(named.map_or_else(|| PathBuf::from("target"), PathBuf::from))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::new(format!("{} can't be filled: {error}", to.display()));
    fs::create_dir_all(to).map_err(failed)?;
    for file in FILES {
        fs::copy(from.join(file), to.join(file)).map_err(failed)?;
    }
    Ok(())
}

/// What is there already is not asked for again. No script of a package is run.
fn npm(folder: &Path) -> Cmd {
    let quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
    Cmd::new("npm").args(["install", "--prefer-offline"]).args(quiet).dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read() {
        assert_eq!(major(b"v20.20.2\n"), Some(20));
        assert_eq!(major(b"20.20.2"), None);
        assert_eq!(major(b""), None);
    }

    #[test]
    fn the_files_of_the_client_are_there() {
        let here = Workspace::find().expect("tests run inside the workspace");
        for file in FILES {
            assert!(here.root().join(SOURCE).join(file).is_file(), "{file}");
        }
    }
}
