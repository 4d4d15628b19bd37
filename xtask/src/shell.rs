//! One child process: shown before it runs, so that a reader can copy it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::{fmt, io, thread};

/// Why a step or a command ended badly, in words for the person who ran it.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A command line with the variables it needs.
#[derive(Debug, Clone)]
#[must_use]
pub(crate) struct Cmd {
    /// What is started; `shown_as` is what people type for it.
    program: PathBuf,
    shown_as: String,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
    dir: Option<PathBuf>,
}

impl Cmd {
    pub(crate) fn new(program: &str) -> Self {
        Self {
            program: PathBuf::from(program),
            shown_as: program.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            dir: None,
        }
    }

    /// The same name on the screen, another file started.
    pub(crate) fn at(mut self, path: impl AsRef<OsStr>) -> Self {
        self.program = PathBuf::from(path.as_ref());
        self
    }

    pub(crate) fn args<S: AsRef<str>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.dir = Some(dir.to_owned());
        self
    }

    /// As one would type it.
    pub(crate) fn shown(&self) -> String {
        let env = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        let args = self.args.iter().map(|arg| quoted(arg));
        env.chain([self.shown_as.clone()]).chain(args).collect::<Vec<_>>().join(" ")
    }

    /// Shows the command, runs it on this terminal, and waits for it.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.announce();
        let status = self.command().status().map_err(|error| self.not_started(&error))?;
        if status.success() { Ok(()) } else { Err(self.ended(status)) }
    }

    /// As [`Cmd::run`], and also hands back what the command printed.
    pub(crate) fn run_and_read(&self) -> Result<String, Failure> {
        let (status, printed) = self.run_and_keep()?;
        if status.success() { Ok(printed) } else { Err(self.ended(status)) }
    }

    /// As [`Cmd::run`]; a failure ends with what `why` finds in what was printed. On a terminal the
    /// command has that to itself, for the person there has seen it.
    pub(crate) fn run_and_explain(&self, why: fn(&str) -> String) -> Result<(), Failure> {
        if io::stdout().is_terminal() {
            return self.run();
        }
        let (status, printed) = self.run_and_keep()?;
        if status.success() {
            return Ok(());
        }
        Err(Failure(format!("{}\n{}", self.ended(status), why(&printed))))
    }

    fn run_and_keep(&self) -> Result<(ExitStatus, String), Failure> {
        self.announce();
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.not_started(&error))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let side = thread::spawn(move || stderr.map(|pipe| tee(pipe, io::stderr())));
        let mut printed = stdout.map(|pipe| tee(pipe, io::stdout())).unwrap_or_default();
        printed.push_str(&side.join().ok().flatten().unwrap_or_default());
        let status = child.wait().map_err(|error| self.not_started(&error))?;
        Ok((status, printed))
    }

    /// Runs it unseen and hands back its standard output; nothing if it can't
    /// be started or ends badly.
    pub(crate) fn quiet(&self) -> Option<Vec<u8>> {
        let output = self.command().stderr(Stdio::null()).output().ok()?;
        output.status.success().then_some(output.stdout)
    }

    fn announce(&self) {
        println!("$ {}", self.shown());
        // A full pipe or a closed terminal is no reason to stop the checks.
        let _ = io::stdout().flush();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (*name, value)));
        // What `cargo run` told this process about the package xtask would make
        // cargo see another environment than a command typed by hand, and build
        // again what is built already.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_about_this_package) {
                command.env_remove(name);
            }
        }
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
    }

    fn not_started(&self, error: &io::Error) -> Failure {
        Failure(format!("`{}` could not be run: {error}", self.shown_as))
    }

    fn ended(&self, status: ExitStatus) -> Failure {
        Failure(format!("{status} of\n    {}", self.shown()))
    }
}

fn is_about_this_package(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Copies line by line to `screen` and keeps what went by.
fn tee(pipe: impl Read, mut screen: impl Write) -> String {
    let mut kept = String::new();
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let _ = writeln!(screen, "{line}");
        kept.push_str(&line);
        kept.push('\n');
    }
    kept
}

/// Quoted for a POSIX shell where it has to be.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let cmd = Cmd::new("cargo")
            .at("/somewhere/else/cargo")
            .args(["test", "-E", "test(/a|b/)", "it's"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            cmd.shown(),
            r"RUSTDOCFLAGS='-D warnings' cargo test -E 'test(/a|b/)' 'it'\''s'"
        );
    }

    #[test]
    fn a_bad_end_and_a_missing_program_are_told_apart_and_name_the_command() {
        let cargo = Cmd::new("cargo").at(env!("CARGO"));
        let ended = cargo.args(["no-such-subcommand"]).run().expect_err("it must fail");
        assert!(ended.to_string().contains("cargo no-such-subcommand"), "{ended}");
        let missing = Cmd::new("no-such-program").run().expect_err("it must fail");
        assert!(missing.to_string().contains("could not be run"), "{missing}");
    }

    #[test]
    fn a_bad_end_is_explained_by_what_was_printed() {
        let cmd = Cmd::new("cargo").at(env!("CARGO")).args(["no-such-subcommand"]);
        let (status, printed) = cmd.run_and_keep().expect("cargo runs");
        assert!(!status.success() && printed.contains("no such command"), "{printed}");
    }

    #[test]
    fn what_a_command_prints_is_handed_back() {
        let printed = Cmd::new("cargo").at(env!("CARGO")).args(["--version"]).run_and_read();
        assert!(printed.expect("cargo runs").starts_with("cargo "));
    }
}
