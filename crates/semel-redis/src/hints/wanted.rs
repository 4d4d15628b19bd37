//! The keys that somebody waits for.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use semel_core::Key;
use tokio::sync::watch;

use crate::timer::{Instant, now};

/// How long a key is listened for after its last waiter has left: often another one comes.
const LINGER: Duration = Duration::from_secs(2);

/// A connection on which is listened. None is ever used again.
pub(super) type Session = u64;

/// The keys, with how many wait for each and who listens for it.
#[derive(Debug)]
pub(super) struct Wanted {
    keys: Mutex<HashMap<Key, Ask>>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Ask {
    waiting: usize,
    left: Option<Instant>,
    /// Who asked the server to tell. Another session than the present one: nobody, any more.
    listener: Option<Session>,
}

/// What a listener has to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Orders {
    pub(super) subscribe: Vec<Key>,
    pub(super) unsubscribe: Vec<Key>,
}

impl Wanted {
    pub(super) fn new() -> Self {
        Self { keys: Mutex::default(), changed: watch::Sender::new(()) }
    }

    /// Somebody waits, as long as what is returned is kept.
    pub(super) fn enter(self: &Arc<Self>, key: &Key) -> Waiting {
        let mut keys = self.keys.lock();
        let ask = keys.entry(key.clone()).or_default();
        ask.waiting += 1;
        ask.left = None;
        let news = ask.listener.is_none();
        drop(keys);
        if news {
            self.changed.send_replace(());
        }
        Waiting { wanted: Arc::clone(self), key: key.clone() }
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Whether there is a key for a listener.
    pub(super) fn any(&self, mine: impl Fn(&Key) -> bool) -> bool {
        self.keys.lock().keys().any(mine)
    }

    /// What a listener has to do for the keys that are its own now. It is held to do it.
    pub(super) fn orders(&self, session: Session, mine: impl Fn(&Key) -> bool) -> Orders {
        let mut orders = Orders::default();
        let now = now();
        self.keys.lock().retain(|key, ask| {
            let (mine, listening) = (mine(key), ask.listener == Some(session));
            let over = ask.left.is_some_and(|left| now >= left + LINGER);
            if listening && (over || !mine) {
                orders.unsubscribe.push(key.clone());
                ask.listener = None;
            } else if mine && !listening && !over {
                orders.subscribe.push(key.clone());
                ask.listener = Some(session);
            }
            // What is over and not ours is somebody else's to end.
            !(over && ask.listener.is_none())
        });
        orders
    }

    /// The server does not tell of this key any more, or never began to.
    pub(super) fn unheard(&self, key: &Key, session: Session) {
        if let Some(ask) = self.keys.lock().get_mut(key)
            && ask.listener == Some(session)
        {
            ask.listener = None;
        }
    }
}

/// One who waits for a key.
#[derive(Debug)]
pub(super) struct Waiting {
    wanted: Arc<Wanted>,
    key: Key,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(ask) = self.wanted.keys.lock().get_mut(&self.key) {
            ask.waiting -= 1;
            if ask.waiting == 0 {
                ask.left = Some(now());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, Key, LINGER, Orders, Wanted};
    use crate::timer::pass;

    fn key() -> Key {
        Key::new("k").expect("a key")
    }

    fn subscribe() -> Orders {
        Orders { subscribe: vec![key()], unsubscribe: vec![] }
    }

    fn unsubscribe() -> Orders {
        Orders { subscribe: vec![], unsubscribe: vec![key()] }
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_asked_for_once_and_left_some_time_after_the_last_waiter() {
        let wanted = Arc::new(Wanted::new());
        let (first, second) = (wanted.enter(&key()), wanted.enter(&key()));
        assert_eq!(wanted.orders(1, |_| true), subscribe());
        assert_eq!(wanted.orders(1, |_| true), Orders::default());
        drop(first);
        pass(LINGER).await;
        assert_eq!(wanted.orders(1, |_| true), Orders::default(), "one still waits");
        drop(second);
        let third = wanted.enter(&key());
        pass(LINGER).await;
        assert_eq!(wanted.orders(1, |_| true), Orders::default(), "another came in time");
        drop(third);
        pass(LINGER).await;
        assert_eq!(wanted.orders(1, |_| true), unsubscribe());
        assert!(!wanted.any(|_| true), "nothing may be left behind");
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_session_asks_again_and_a_key_that_moves_changes_its_listener() {
        let wanted = Arc::new(Wanted::new());
        let _waiting = wanted.enter(&key());
        assert_eq!(wanted.orders(1, |_| true), subscribe());
        assert_eq!(wanted.orders(2, |_| true), subscribe(), "the first session has ended");
        assert_eq!(wanted.orders(2, |_| false), unsubscribe());
        assert_eq!(wanted.orders(3, |_| true), subscribe());
        wanted.unheard(&key(), 2);
        assert_eq!(wanted.orders(3, |_| true), Orders::default(), "what others don't hear");
        wanted.unheard(&key(), 3);
        assert_eq!(wanted.orders(3, |_| true), subscribe());
    }

    #[tokio::test(start_paused = true)]
    async fn keys_whose_waiters_left_before_anybody_listened_are_forgotten() {
        let wanted = Arc::new(Wanted::new());
        drop(wanted.enter(&key()));
        pass(LINGER).await;
        assert_eq!(wanted.orders(1, |_| true), Orders::default());
        assert!(!wanted.any(|_| true));
    }
}
