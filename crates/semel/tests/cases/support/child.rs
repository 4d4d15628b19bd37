//! This test program once more, in a process of its own.

use std::io::{BufRead, BufReader, Lines};
use std::process::{self, ChildStdout, Command, Stdio};

/// Says to a process of a test which store is its own.
const STORE: &str = "SEMEL_TEST_STORE";

/// A test's second self. It is killed with this.
pub(crate) struct Child {
    process: process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// The store's URL, where this is a child.
    pub(crate) fn url() -> Option<String> {
        std::env::var(STORE).ok()
    }

    /// Starts a test, by its path from this program on, over a store.
    pub(crate) fn start(test: &str, url: &str) -> Self {
        let (_, test) = test.split_once("::").unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(STORE, url)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// What follows `word` in the next line that begins with it.
    pub(crate) fn says(&mut self, word: &str) -> String {
        let said = self.lines.by_ref().map_while(Result::ok);
        let mut found = said.filter_map(|line| line.strip_prefix(word).map(str::to_owned));
        found.next().unwrap_or_else(|| panic!("it ended without `{word}`"))
    }

    /// All that it says with `word` until it ends, well.
    pub(crate) fn says_until_it_ends(mut self, word: &str) -> Vec<String> {
        let said = self.lines.by_ref().map_while(Result::ok);
        let found = said.filter_map(|line| line.strip_prefix(word).map(str::to_owned)).collect();
        assert!(self.process.wait().unwrap().success());
        found
    }

    /// Kills it without a word, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
