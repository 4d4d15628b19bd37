//! Calls in transactions take turns: one at a time for each key in this process.
//!
//! A duplicate that waits for a transaction at the store holds a connection. Here it holds none: of
//! all calls under one key only the one whose turn it is goes to the store. When its turn ends, all
//! who wait look once, together.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use semel_core::Key;
use tokio::sync::watch;

#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<Key, watch::Sender<()>>>);

/// What asking for a turn comes to.
#[derive(Debug)]
pub(super) enum Asked {
    /// It is ours.
    Ours(Turn),
    /// It is another call's, and this tells when it ends.
    Others(End),
    /// It is another call's, and as many wait for its end as may.
    TooMany,
}

/// A turn. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    key: Key,
}

/// The end of another call's turn.
#[derive(Debug)]
pub(super) struct End(watch::Receiver<()>);

impl Turns {
    /// Whether a call has its turn now.
    pub(super) fn is_taken(&self, key: &Key) -> bool {
        self.0.lock().contains_key(key)
    }

    pub(super) fn ask(self: &Arc<Self>, key: &Key, most: usize) -> Asked {
        let mut turns = self.0.lock();
        match turns.get(key) {
            Some(theirs) if theirs.receiver_count() >= most => Asked::TooMany,
            Some(theirs) => Asked::Others(End(theirs.subscribe())),
            None => {
                turns.insert(key.clone(), watch::Sender::new(()));
                Asked::Ours(Turn { turns: Arc::clone(self), key: key.clone() })
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.0.lock().remove(&self.key);
    }
}

impl End {
    pub(super) async fn wait(mut self) {
        // Nothing is ever told: it ends with the turn.
        while self.0.changed().await.is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::new("k").expect("a key")
    }

    #[tokio::test]
    async fn a_turn_is_had_by_one_and_waited_for_by_as_many_as_may() {
        let turns = Arc::<Turns>::default();
        let Asked::Ours(turn) = turns.ask(&key(), 1) else { panic!("it is free") };
        let Asked::Others(end) = turns.ask(&key(), 1) else { panic!("it is taken") };
        assert!(matches!(turns.ask(&key(), 1), Asked::TooMany));
        assert!(matches!(turns.ask(&Key::new("other").expect("a key"), 1), Asked::Ours(_)));
        assert!(turns.is_taken(&key()));
        drop(turn);
        assert!(!turns.is_taken(&key()));
        end.wait().await;
        assert!(matches!(turns.ask(&key(), 1), Asked::Ours(_)));
    }
}
