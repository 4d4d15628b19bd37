//! A terminal with somebody at it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::process::{Child, Command};

use super::{Bench, Process, until, within};

/// The person's side of a pseudo-terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    keys: File,
    screen: Arc<Mutex<String>>,
    child: Child,
}

impl Terminal {
    /// Starts a program as the leader of a session on a new terminal.
    pub(crate) fn start(program: &Command) -> Self {
        let person =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
        let end = File::options().read(true).write(true).open(name).unwrap();
        let program = program.as_std();
        // It makes the session and takes the terminal, as a login does.
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg("--wait").arg(program.get_program()).args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(program.get_current_dir().unwrap()).kill_on_drop(true);
        command.stdin(end.try_clone().unwrap()).stdout(end.try_clone().unwrap()).stderr(end);
        let child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        watch(person.try_clone().unwrap(), Arc::clone(&screen));
        Self { keys: person.into(), screen, child }
    }

    /// Types.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen shows a text after what it showed at `since`; where it ends.
    pub(crate) async fn shows(&self, text: &str, since: usize) -> usize {
        until(&format!("{text:?} on the screen"), async || {
            let screen = self.screen.lock().unwrap();
            screen.get(since..)?.find(text).map(|at| since + at + text.len())
        })
        .await
    }

    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    /// Waits for the end of the program; its code.
    pub(crate) async fn ended(mut self) -> i32 {
        let status = within("the end at the terminal", self.child.wait()).await.unwrap();
        status.code().unwrap_or(-1)
    }
}

/// A shell at a terminal, without the user's own settings.
pub(crate) async fn shell(bench: &Bench) -> Terminal {
    let mut command = bench.command::<&str>([]);
    let semel = command.as_std().get_program().to_owned();
    let store = format!("sqlite:{}", bench.file("semel.db").display());
    command = Command::new("bash");
    command.args(["--norc", "--noprofile", "-i"]).current_dir(bench.path());
    command.env("SEMEL_STORE", store).env("semel", semel).env("PS1", "ready> ").env("TERM", "dumb");
    let terminal = Terminal::start(&command);
    terminal.shows("ready> ", 0).await;
    terminal
}

/// A failure tells what somebody would have seen, and who did what there.
impl Drop for Terminal {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        eprintln!("the screen: {:?}", self.screen());
        let leader = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        for process in Process::all().iter().filter(|process| Some(process.session) == leader) {
            eprintln!("in its session: {process:?}");
        }
    }
}

/// Takes down what is shown, until nobody has the terminal any more.
fn watch(person: OwnedFd, screen: Arc<Mutex<String>>) {
    std::thread::spawn(move || {
        let mut person = File::from(person);
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = person.read(&mut bytes) {
            screen.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    });
}
