//! The writer's thread: opens the file, starts the readers, and closes the file after them.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use semel_core::{StoreError, StoreResult};
use tokio::sync::{oneshot, watch};

use super::batch::Writer;
use super::tx::Tx;
use crate::failure::Failure;
use crate::open::{self, Opened};
use crate::reader;
use crate::settings::Settings;
use crate::shared::{Shared, mark_own_thread};

/// Starts the thread. It tells `opened` what came of opening the file, and holds `alive` until all
/// threads of the store have ended and the file is closed.
pub(crate) fn spawn(
    settings: Settings,
    opened: oneshot::Sender<StoreResult<Arc<Shared>>>,
    alive: watch::Sender<()>,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("semel-sqlite-write".to_owned()).spawn(move || {
        mark_own_thread();
        match open::open(&settings) {
            Ok(file) => serve(&settings, file, opened),
            Err(error) => drop(opened.send(Err(error))),
        }
        drop(alive);
    })
}

fn serve(settings: &Settings, file: Opened, opened: oneshot::Sender<StoreResult<Arc<Shared>>>) {
    let Opened { writer: db, readers, time, bounds } = file;
    let shared = Arc::new(Shared::new(settings, time));
    let path = bounds.path.clone();
    let tx = Tx::new(&db, bounds, &shared.time).map_err(|error| open::failed(&path, error));
    // Ended in this order: readers, writer's statements, its connection. The last connection of a
    // file that is closed tidies up the log, and one that only reads can't.
    let mut threads = Threads { shared: &shared, readers: Vec::new() };
    let started = tx.and_then(|tx| {
        for reader in readers {
            let thread = reader::spawn(reader, Arc::clone(&shared)).map_err(|error| {
                StoreError::not_applied("the system gave no thread to read").caused_by(error)
            })?;
            threads.readers.push(thread);
        }
        Ok(tx)
    });
    match started {
        Err(error) => drop(opened.send(Err(error))),
        Ok(tx) => {
            // Nobody waits for it any more: the queues are closed and there is nothing to do.
            if opened.send(Ok(Arc::clone(&shared))).is_err() {
                return;
            }
            Writer::new(tx, &shared).run();
        }
    }
}

/// The threads of a store, ended when this is dropped, in whatever way the writer ends.
struct Threads<'a> {
    shared: &'a Shared,
    readers: Vec<JoinHandle<()>>,
}

impl Drop for Threads<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.poison(Failure::unusable("the writer failed; see the log"));
        }
        // Empty when all went well. Otherwise those whose calls are dropped are told so.
        self.shared.writes.abandon();
        self.shared.reads.close();
        for reader in self.readers.drain(..) {
            // Its calls have been dropped, and their callers told so.
            let _ = reader.join();
        }
        // Who still waits for a change reads again, and is told that the store has ended.
        self.shared.hints.notify_all();
    }
}
