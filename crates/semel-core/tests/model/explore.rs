//! Breadth-first search over all states of a model.
#![expect(clippy::disallowed_types, reason = "nobody chooses states to make them collide")]

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// What can be explored.
pub(crate) trait Explorable {
    type State: Clone + Eq + Hash;
    type Step: Copy + Debug;
    type Law: Copy + Debug + PartialEq;
    type Sight: Copy + Debug + Ord;

    fn start(&self) -> Self::State;

    /// Every step that can be taken from a state.
    fn steps(&self, from: &Self::State, to: &mut Vec<Taken<Self>>);
}

/// A step, where it leads to, which law it breaks, and what there is to be seen in it.
pub(crate) struct Taken<M: Explorable + ?Sized> {
    pub(crate) step: M::Step,
    pub(crate) state: M::State,
    pub(crate) broken: Option<M::Law>,
    pub(crate) sights: Vec<M::Sight>,
}

/// What came of it.
pub(crate) struct Report<M: Explorable> {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    /// The first law that broke, and the shortest way to there.
    pub(crate) broken: Option<(M::Law, Vec<M::Step>)>,
    /// What was seen on the way.
    pub(crate) sights: BTreeSet<M::Sight>,
}

/// A state with the way it was reached first.
struct Node<M: Explorable> {
    state: M::State,
    from: Option<(usize, M::Step)>,
    /// The next one of the same hash.
    same_hash: Option<usize>,
}

struct Search<M: Explorable> {
    nodes: Vec<Node<M>>,
    /// The latest node of each hash.
    known: HashMap<u64, usize, BuildHasherDefault<Mixer>>,
}

/// A plain hash: without optimization it takes a fraction of the standard one's time, and nobody
/// chooses states against it.
#[derive(Default)]
struct Mixer(u64);

impl Mixer {
    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.mix(u64::from(*byte)));
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(u64::from(word));
    }

    fn write_u16(&mut self, word: u16) {
        self.mix(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.mix(word.unsigned_abs() as u64);
    }
}

/// Goes through all states, or up to the first step that breaks a law.
///
/// # Panics
///
/// Over `most` states: the bounds of a check are to be chosen, not cut off.
pub(crate) fn explore<M: Explorable>(model: &M, most: usize) -> Report<M> {
    let mut search = Search::<M> { nodes: Vec::new(), known: HashMap::default() };
    search.enter(model.start(), None);
    let (mut steps, mut sights) = (0, BTreeSet::new());
    let (mut at, mut taken) = (0, Vec::new());
    while at < search.nodes.len() {
        assert!(at < most, "more than {most} states");
        model.steps(&search.nodes[at].state, &mut taken);
        for Taken { step, state, broken, sights: seen } in taken.drain(..) {
            steps += 1;
            sights.extend(seen);
            if let Some(law) = broken {
                let broken = Some((law, search.way_to(at, step)));
                return Report { states: search.nodes.len(), steps, broken, sights };
            }
            search.enter(state, Some((at, step)));
        }
        at += 1;
    }
    Report { states: search.nodes.len(), steps, broken: None, sights }
}

impl<M: Explorable> Search<M> {
    fn enter(&mut self, state: M::State, from: Option<(usize, M::Step)>) {
        let mut hasher = Mixer::default();
        state.hash(&mut hasher);
        let latest = self.known.get(&hasher.finish()).copied();
        let mut at = latest;
        while let Some(node) = at.map(|at| &self.nodes[at]) {
            if node.state == state {
                return;
            }
            at = node.same_hash;
        }
        self.known.insert(hasher.finish(), self.nodes.len());
        self.nodes.push(Node { state, from, same_hash: latest });
    }

    fn way_to(&self, mut at: usize, last: M::Step) -> Vec<M::Step> {
        let mut way = vec![last];
        while let Some((from, step)) = self.nodes[at].from {
            way.push(step);
            at = from;
        }
        way.reverse();
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two counters that may each go up to 3, and a law about their sum.
    struct Counters {
        most: u8,
    }

    impl Explorable for Counters {
        type State = (u8, u8);
        type Step = char;
        type Law = &'static str;
        type Sight = u8;

        fn start(&self) -> (u8, u8) {
            (0, 0)
        }

        fn steps(&self, &(a, b): &(u8, u8), to: &mut Vec<Taken<Self>>) {
            for (step, state) in [('a', (a + 1, b)), ('b', (a, b + 1))] {
                if state.0 <= 3 && state.1 <= 3 {
                    let sum = state.0 + state.1;
                    let broken = (sum > self.most).then_some("too many");
                    to.push(Taken { step, state, broken, sights: vec![sum] });
                }
            }
        }
    }

    #[test]
    fn every_state_is_entered_once() {
        let report = explore(&Counters { most: 6 }, 100);
        assert_eq!((report.states, report.steps, report.broken), (16, 24, None));
        assert_eq!(report.sights, (1..=6).collect());
    }

    #[test]
    fn the_shortest_way_to_a_broken_law_is_told() {
        let report = explore(&Counters { most: 2 }, 100);
        let (law, way) = report.broken.unwrap();
        assert_eq!((law, way.len()), ("too many", 3));
    }

    #[test]
    #[should_panic(expected = "more than 5 states")]
    fn too_many_states_are_no_success() {
        explore(&Counters { most: 6 }, 5);
    }
}
