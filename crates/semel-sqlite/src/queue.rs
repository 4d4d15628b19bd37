//! Where calls wait for the threads that run them.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// A queue that is taken from in batches and can be closed. Many may put in, many may take.
///
/// It is bounded, so that a disk that stands still costs errors and not all of the memory: the
/// callers' values wait in it.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    stirred: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    closed: bool,
}

/// Why a call was not let into a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rejected {
    Closed,
    Full,
}

/// What there was to take.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Something, now in the batch.
    Batch,
    /// Nothing for as long as was asked.
    Nothing,
    /// Nothing any more: it is closed and empty.
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { waiting: VecDeque::new(), closed: false };
        Self { state: Mutex::new(state), stirred: Condvar::new(), capacity }
    }

    pub(crate) fn push(&self, item: T) -> Result<(), Rejected> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Rejected::Closed);
        }
        if state.waiting.len() >= self.capacity {
            return Err(Rejected::Full);
        }
        state.waiting.push_back(item);
        drop(state);
        self.stirred.notify_one();
        Ok(())
    }

    /// Moves up to `most` items into `batch`, waiting for the first.
    ///
    /// `patience` says how long to wait, none for ever. It is asked under the queue's lock and
    /// again after each [`Queue::stir`], so no change of mind is missed.
    pub(crate) fn take(
        &self,
        most: usize,
        batch: &mut Vec<T>,
        patience: impl Fn() -> Option<Duration>,
    ) -> Taken {
        let mut state = self.state.lock();
        loop {
            if !state.waiting.is_empty() {
                let some = state.waiting.len().min(most);
                batch.extend(state.waiting.drain(..some));
                return Taken::Batch;
            }
            if state.closed {
                return Taken::Closed;
            }
            match patience() {
                None => self.stirred.wait(&mut state),
                Some(limit) => {
                    if self.stirred.wait_for(&mut state, limit).timed_out() {
                        return Taken::Nothing;
                    }
                }
            }
        }
    }

    /// Makes whoever waits ask for its patience anew.
    pub(crate) fn stir(&self) {
        // Under the lock: whoever is about to wait has either asked after this, or hears it.
        let _state = self.state.lock();
        self.stirred.notify_all();
    }

    /// Lets nothing more in. What is in it can still be taken.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.stirred.notify_all();
    }

    /// Lets nothing more in and throws away what is in it.
    pub(crate) fn abandon(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.stirred.notify_all();
        // Outside the lock: dropping a call wakes its caller.
        drop(waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(queue: &Queue<u32>, most: usize) -> (Taken, Vec<u32>) {
        let mut batch = Vec::new();
        let what = queue.take(most, &mut batch, || Some(Duration::ZERO));
        (what, batch)
    }

    #[test]
    fn a_batch_keeps_the_order_and_the_limit() {
        let queue = Queue::new(8);
        for item in 0..5 {
            queue.push(item).unwrap();
        }
        assert_eq!(taken(&queue, 3), (Taken::Batch, vec![0, 1, 2]));
        assert_eq!(taken(&queue, 3), (Taken::Batch, vec![3, 4]));
        assert_eq!(taken(&queue, 3), (Taken::Nothing, vec![]));
    }

    #[test]
    fn a_full_queue_refuses_and_takes_again_later() {
        let queue = Queue::new(1);
        queue.push(1).unwrap();
        assert_eq!(queue.push(2), Err(Rejected::Full));
        taken(&queue, 1);
        queue.push(3).unwrap();
    }

    #[test]
    fn a_closed_queue_gives_what_it_has_and_then_says_so() {
        let queue = Queue::new(8);
        queue.push(1).unwrap();
        queue.close();
        assert_eq!(queue.push(2), Err(Rejected::Closed));
        assert_eq!(taken(&queue, 8), (Taken::Batch, vec![1]));
        assert_eq!(taken(&queue, 8), (Taken::Closed, vec![]));
    }

    #[test]
    fn an_abandoned_queue_is_empty_at_once() {
        let queue = Queue::new(8);
        queue.push(1).unwrap();
        queue.abandon();
        assert_eq!(taken(&queue, 8), (Taken::Closed, vec![]));
    }
}
