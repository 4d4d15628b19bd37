//! Consumers as processes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

/// How a consumer is started.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) arguments: Vec<String>,
}

/// A running consumer. Dropped, it is killed.
pub(crate) struct Running {
    child: Child,
    reader: Option<JoinHandle<Vec<String>>>,
}

impl Start {
    /// Starts it, and comes back when it takes messages.
    pub(crate) fn go(&self) -> Running {
        let program = std::env::current_exe().unwrap();
        let program = program.ancestors().nth(2).unwrap().join("examples/inbox_rabbitmq");
        let mut child = Command::new(&program)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("build the example first: {}: {error}", program.display())
            });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let Some(Ok(ready)) = lines.next() else {
            let output = child.wait_with_output().unwrap();
            panic!("it did not start: {}", String::from_utf8_lossy(&output.stderr));
        };
        assert_eq!(ready, "ready");
        let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect());
        Running { child, reader: Some(reader) }
    }
}

impl Running {
    /// Ends it as `kill -9` does, and gives what it said of each message.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.end();
        self.reader.take().unwrap().join().unwrap()
    }

    /// Waits for its end, and gives what it said of each message.
    pub(crate) fn ended(mut self) -> Vec<String> {
        self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap()
    }

    fn end(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
