//! Which call gets which action, and how many calls there were.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use parking_lot::Mutex;

use super::action::{FaultAction, FaultCall, StoreOp};
use crate::key::Key;

type Decide = Box<dyn Fn(&FaultCall<'_>) -> FaultAction + Send + Sync>;

pub(super) struct Plan {
    decide: Decide,
    methods: Mutex<HashMap<StoreOp, Method>>,
}

#[derive(Default)]
struct Method {
    calls: u64,
    put_up: VecDeque<FaultAction>,
}

impl Plan {
    pub(super) fn new(decide: Decide) -> Self {
        Self { decide, methods: Mutex::default() }
    }

    pub(super) fn decide(&self, op: StoreOp, key: Option<&Key>) -> FaultAction {
        let (nth, put_up) = {
            let mut methods = self.methods.lock();
            let method = methods.entry(op).or_default();
            method.calls += 1;
            (method.calls, method.put_up.pop_front())
        };
        // Not under the lock: a plan may look at the counts.
        put_up.unwrap_or_else(|| (self.decide)(&FaultCall { op, key, nth }))
    }

    pub(super) fn put_up(&self, op: StoreOp, action: FaultAction) {
        self.methods.lock().entry(op).or_default().put_up.push_back(action);
    }

    pub(super) fn calls(&self, op: StoreOp) -> u64 {
        self.methods.lock().get(&op).map_or(0, |method| method.calls)
    }

    pub(super) fn left(&self, op: StoreOp) -> usize {
        self.methods.lock().get(&op).map_or(0, |method| method.put_up.len())
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods = self.methods.lock();
        let calls = methods.iter().map(|(op, method)| (op, method.calls));
        f.debug_map().entries(calls).finish()
    }
}
