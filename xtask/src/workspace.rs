//! What is in this workspace, and what is installed beside it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::json::Json;
use crate::shell::{Cmd, Failure};

/// The checkout that the commands are about.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    cargo: OsString,
}

/// A member, as cargo sees it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Each feature with what it turns on, in the order of its name.
    pub(crate) features: Vec<(String, Vec<String>)>,
}

impl Workspace {
    /// From where cargo says that xtask lives, else from the current directory
    /// upwards: a target directory shared between checkouts must not mix them.
    pub(crate) fn find() -> Result<Self, Failure> {
        let told = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let start = match told {
            Some(dir) => dir,
            None => std::env::current_dir()
                .map_err(|error| Failure::new(format!("no current directory: {error}")))?,
        };
        let root = start
            .ancestors()
            .find(|dir| is_workspace_root(dir))
            .ok_or_else(|| Failure::new("no Cargo.toml with a [workspace] here or above"))?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Ok(Self { root: root.to_owned(), cargo })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A cargo command at the root, by the very cargo that started this one.
    pub(crate) fn cargo(&self, args: &[&str]) -> Cmd {
        Cmd::new("cargo").at(&self.cargo).args(args).dir(&self.root)
    }

    pub(crate) fn has_subcommand(&self, name: &str) -> bool {
        self.cargo(&[name, "--version"]).quiet().is_some()
    }

    pub(crate) fn read(&self, path: &str) -> Result<String, Failure> {
        fs::read_to_string(self.root.join(path))
            .map_err(|error| Failure::new(format!("{path} can't be read: {error}")))
    }

    /// All members, in the order of their names.
    pub(crate) fn packages(&self) -> Result<Vec<Package>, Failure> {
        let cmd = self.cargo(&["metadata", "--format-version", "1", "--no-deps"]);
        let bytes = cmd
            .quiet()
            .ok_or_else(|| Failure::new(format!("`{}` failed: run it to see why", cmd.shown())))?;
        let text = String::from_utf8_lossy(&bytes);
        let parsed = Json::parse(&text).as_ref().and_then(packages);
        parsed.ok_or_else(|| Failure::new("`cargo metadata` answered in an unknown form"))
    }
}

fn is_workspace_root(dir: &Path) -> bool {
    fs::read_to_string(dir.join("Cargo.toml"))
        .is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
}

fn packages(metadata: &Json) -> Option<Vec<Package>> {
    let list = metadata.get("packages")?.list()?;
    let mut packages = list.iter().map(package).collect::<Option<Vec<_>>>()?;
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Some(packages)
}

fn package(json: &Json) -> Option<Package> {
    let features = json.get("features")?.members()?.iter().map(|(name, turned_on)| {
        let texts = turned_on.list()?.iter().map(|item| item.text().map(str::to_owned));
        Some((name.clone(), texts.collect::<Option<Vec<_>>>()?))
    });
    Some(Package {
        name: json.get("name")?.text()?.to_owned(),
        features: features.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_knows_its_members_and_their_features() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let packages = here.packages().expect("cargo knows the workspace");
        let core = packages.iter().find(|package| package.name == "semel-core");
        let features = &core.expect("semel-core is a member").features;
        assert!(features.iter().any(|(name, _)| name == "conformance"), "{features:?}");
        assert!(packages.iter().any(|package| package.name == "xtask"));
    }

    #[test]
    fn an_answer_of_another_form_is_not_half_understood() {
        let odd = Json::parse(r#"{"packages":[{"name":"a","features":{"f":[1]}}]}"#);
        assert_eq!(packages(&odd.expect("it is JSON")), None);
    }
}
