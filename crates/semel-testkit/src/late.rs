//! Owners that come late: the timelines that fencing is judged by, for every door.
//!
//! An owner stalls, its lease ends, another takes over; then the first one comes back and ends its
//! work too. Whatever door the calls come through and whatever store is behind it, the late owner
//! must change nothing, and all callers must get one answer.
//!
//! A door brings [`LateDoor`], which says how one call is sent; the timelines are here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::time::{pass, within};

/// Longer than anything here takes where it is right.
const PATIENCE: Duration = Duration::from_secs(60);

/// A door, with the work behind it, in three processes that share a store.
///
/// Process 0 claims for a lease that nobody renews, and waits for no call in flight. Processes 1
/// and 2 renew as usual, and wait for longer than that lease.
pub trait LateDoor: Clone + Send + Sync + 'static {
    /// The lease of process 0.
    const LEASE: Duration;

    /// What callers get, under a guarantee of at most one effect, once a run has failed: that its
    /// end is not known, or its failure as the answer.
    fn after_failure() -> Told;

    /// Sends the call under `key` to a process and tells what came of it. Its work is
    /// [`Stage::work`], which says how it ends: with an answer that holds its number, or not.
    fn call(
        &self,
        process: usize,
        key: &str,
        stage: Arc<Stage>,
    ) -> impl Future<Output = Told> + Send;
}

/// What a caller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The answer of the run of this number.
    Answer(usize),
    /// That the work failed.
    Failed,
    /// By the door itself, with this code: the work's end is not known, or not to be had.
    Refused(String),
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With an answer that holds the number of the run, from 1.
    Success(usize),
    /// In a way that a retry may mend.
    Failure,
}

/// Where the runs of one call begin, and are told how to end.
#[derive(Debug)]
pub struct Stage {
    runs: Mutex<Vec<Option<oneshot::Sender<bool>>>>,
    begun: watch::Sender<usize>,
}

impl Stage {
    fn new() -> Arc<Self> {
        Arc::new(Self { runs: Mutex::default(), begun: watch::Sender::new(0) })
    }

    /// A run of the work: it has begun, and ends as the timeline says.
    pub async fn work(&self) -> End {
        let (end, told) = oneshot::channel();
        let number = {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.push(Some(end));
            runs.len()
        };
        self.begun.send_replace(number);
        // A timeline that is over has failed; then it makes no difference.
        if told.await.unwrap_or(false) { End::Success(number) } else { End::Failure }
    }

    /// How many runs have begun.
    #[must_use]
    pub fn runs(&self) -> usize {
        *self.begun.borrow()
    }

    async fn reached(&self, number: usize) {
        let mut begun = self.begun.subscribe();
        let begun = within(PATIENCE, "a run", begun.wait_for(|begun| *begun >= number)).await;
        assert!(matches!(begun, Ok(Ok(_))), "run {number} never began");
    }

    fn ends(&self, number: usize, well: bool) {
        let end = self.runs.lock().unwrap_or_else(PoisonError::into_inner)[number - 1].take();
        end.expect("it ends once").send(well).expect("it waits for its end");
    }
}

/// One call, by its timeline.
struct Timeline<'a, D> {
    door: &'a D,
    key: &'a str,
    stage: Arc<Stage>,
}

impl<'a, D: LateDoor> Timeline<'a, D> {
    fn new(door: &'a D, key: &'a str) -> Self {
        Self { door, key, stage: Stage::new() }
    }

    fn start(&self, process: usize) -> JoinHandle<Told> {
        let (door, key, stage) = (self.door.clone(), self.key.to_owned(), self.stage.clone());
        tokio::spawn(async move { door.call(process, &key, stage).await })
    }

    /// The first is at work, its lease ends, and a second one takes over and is at work too.
    async fn two_owners(&self) -> [JoinHandle<Told>; 2] {
        let late = self.start(0);
        self.stage.reached(1).await;
        let next = self.start(1);
        self.stage.reached(2).await;
        [late, next]
    }

    /// Everybody gets this from now on, and nothing runs.
    async fn settled(&self, runs: usize, answer: &Told) {
        for process in [0, 1, 2, 2] {
            assert_eq!(&told(self.start(process)).await, answer, "{}, {process}", self.key);
        }
        assert_eq!(self.stage.runs(), runs, "{}", self.key);
    }
}

async fn told(caller: JoinHandle<Told>) -> Told {
    within(PATIENCE, "an answer", caller).await.expect("it is told").expect("it does not panic")
}

/// A3-Z1, A3-Z2, of a guarantee that lets the next caller take over: two runs, as it says, of
/// which the later one's answer is everybody's.
///
/// # Panics
///
/// Where the door does not keep to it.
pub async fn late_owners<D: LateDoor>(door: D) {
    late_success(&door).await;
    late_failure(&door).await;
    late_before_the_next(&door).await;
    nobody_else(&door).await;
}

/// A3-Z1: the late one succeeds after its successor. It used to overwrite the record.
async fn late_success<D: LateDoor>(door: &D) {
    let timeline = Timeline::new(door, "late-success");
    let [late, next] = timeline.two_owners().await;
    timeline.stage.ends(2, true);
    assert_eq!(told(next).await, Told::Answer(2));
    timeline.stage.ends(1, true);
    assert_eq!(told(late).await, Told::Answer(2), "its caller gets the one answer");
    timeline.settled(2, &Told::Answer(2)).await;
}

/// A3-Z2: the late one fails after its successor. It used to delete the record.
async fn late_failure<D: LateDoor>(door: &D) {
    let timeline = Timeline::new(door, "late-failure");
    let [late, next] = timeline.two_owners().await;
    timeline.stage.ends(2, true);
    assert_eq!(told(next).await, Told::Answer(2));
    timeline.stage.ends(1, false);
    assert_eq!(told(late).await, Told::Failed);
    timeline.settled(2, &Told::Answer(2)).await;
}

/// The late one ends while its successor is at work, well or not: nothing is recorded or freed.
async fn late_before_the_next<D: LateDoor>(door: &D) {
    let in_flight = Told::Refused("CACHING_CONFLICT_002".to_owned());
    for (key, well, expected) in
        [("before-the-next", true, in_flight), ("before-the-next-fails", false, Told::Failed)]
    {
        let timeline = Timeline::new(door, key);
        let [late, next] = timeline.two_owners().await;
        timeline.stage.ends(1, well);
        assert_eq!(told(late).await, expected, "{key}");
        timeline.stage.ends(2, true);
        assert_eq!(told(next).await, Told::Answer(2));
        timeline.settled(2, &Told::Answer(2)).await;
    }
}

/// Nobody took over: late is then only slow.
async fn nobody_else<D: LateDoor>(door: &D) {
    let timeline = Timeline::new(door, "nobody-else");
    let late = timeline.start(0);
    timeline.stage.reached(1).await;
    pass(D::LEASE * 2).await;
    timeline.stage.ends(1, true);
    assert_eq!(told(late).await, Told::Answer(1));
    timeline.settled(1, &Told::Answer(1)).await;
}

/// The same of a guarantee of at most one effect: nobody takes over, and there is one run.
///
/// # Panics
///
/// Where the door does not keep to it.
pub async fn late_owners_at_most_once<D: LateDoor>(door: D) {
    let in_doubt = Told::Refused("CACHING_CONFLICT_004".to_owned());
    for (key, well) in [("once-success", true), ("once-failure", false)] {
        let timeline = Timeline::new(&door, key);
        let late = timeline.start(0);
        timeline.stage.reached(1).await;
        // It waits for the lease to end, and does not take over.
        assert_eq!(told(timeline.start(1)).await, in_doubt);
        timeline.stage.ends(1, well);
        let (told_late, then) = match well {
            true => (Told::Answer(1), Told::Answer(1)),
            false => (Told::Failed, D::after_failure()),
        };
        assert_eq!(told(late).await, told_late);
        timeline.settled(1, &then).await;
    }
}
