//! How entries are named on the server, and how they are spread.
//!
//! A key belongs to one of [`SHARDS`] shards. The shard's tag stands in braces in the names of the
//! entry and of the shard's version counter, so that a Cluster keeps both in the same slot, and
//! one script may work on both.
//!
//! | name | holds |
//! | --- | --- |
//! | `<namespace>:{<tag>}:<key>` | an entry |
//! | `<namespace>:{<tag>}` | the shard's last version |
//! | `<namespace>:{<tag>}: epoch` | of some shards: a random number, made when the data began |
//!
//! The number of shards and the tags are part of what is stored: they never change.

use semel_core::{Key, Namespace};

/// How many shards there are. The tags' slots lie so that clusters of up to 32 primaries with
/// equal shares of the slots get shares of the shards that differ by 3 % at most.
pub(crate) const SHARDS: u16 = 2048;

/// How many slots a Cluster has.
pub(crate) const SLOTS: u16 = 16_384;

/// One of the shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Shard(u16);

impl Shard {
    pub(crate) fn of(key: &Key) -> Self {
        Self(crc16(key.as_str().as_bytes()) % SHARDS)
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..SHARDS).map(Self)
    }

    pub(crate) const fn first() -> Self {
        Self(0)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The slot of a Cluster that everything of this shard is in.
    pub(crate) fn slot(self) -> u16 {
        crc16(self.tag().as_bytes()) % SLOTS
    }

    fn tag(self) -> String {
        format!("{:03x}", self.0)
    }
}

/// Names of one namespace.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    namespace: Namespace,
}

impl Names {
    pub(crate) const fn new(namespace: Namespace) -> Self {
        Self { namespace }
    }

    pub(crate) const fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    pub(crate) fn counter(&self, shard: Shard) -> String {
        format!("{}:{{{:03x}}}", self.namespace.name(), shard.0)
    }

    pub(crate) fn entry(&self, key: &Key) -> String {
        let shard = Shard::of(key);
        format!("{}:{{{:03x}}}:{}", self.namespace.name(), shard.0, key.as_str())
    }

    /// The name of an entry that no key can have: keys hold no blanks.
    pub(crate) fn probe(&self, shard: Shard) -> String {
        format!("{}:{{{:03x}}}: probe", self.namespace.name(), shard.0)
    }

    /// The name of what tells that the data is still that from before. No key can have it.
    pub(crate) fn epoch(&self, shard: Shard) -> String {
        format!("{}:{{{:03x}}}: epoch", self.namespace.name(), shard.0)
    }

    /// The key that an entry's name stands for; none for names that are no entry's.
    pub(crate) fn key(&self, name: &str) -> Option<Key> {
        let rest = name.strip_prefix(self.namespace.name())?.strip_prefix(":{")?;
        let (tag, text) = rest.split_once("}:")?;
        let key = Key::new(text).ok()?;
        (tag == Shard::of(&key).tag()).then_some(key)
    }

    /// A pattern for `SCAN` that finds the entries whose keys begin with `prefix`, taken
    /// literally. It may find others too.
    pub(crate) fn pattern(&self, prefix: &str) -> String {
        let mut pattern = format!("{}:{{*}}:", self.namespace.name());
        for char in prefix.chars() {
            if matches!(char, '*' | '?' | '[' | ']' | '^' | '-' | '\\') {
                pattern.push('\\');
            }
            pattern.push(char);
        }
        pattern.push('*');
        pattern
    }
}

/// CRC-16/XMODEM: what a Cluster takes a key's slot from.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc: u16, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Key, Names, Namespace, SHARDS, SLOTS, Shard, crc16};

    fn names() -> Names {
        Names::new(Namespace::new("semel").expect("a namespace"))
    }

    #[test]
    fn the_checksum_is_that_of_a_cluster() {
        // Both are in the Cluster specification.
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(crc16(b"foo") % SLOTS, 12_182);
    }

    #[test]
    fn an_entry_and_its_counter_share_a_slot_whatever_is_in_the_key() {
        for text in ["plain", "{other}", "}{", "{}", "a{b}c", "ключ"] {
            let key = Key::new(text).expect("a key");
            let (entry, counter) = (names().entry(&key), names().counter(Shard::of(&key)));
            let tag = |name: &str| {
                let (_, rest) = name.split_once('{').expect("a tag");
                rest.split_once('}').expect("a tag").0.to_owned()
            };
            assert_eq!(tag(&entry), tag(&counter), "{text}");
            assert_eq!(crc16(tag(&entry).as_bytes()) % SLOTS, Shard::of(&key).slot());
        }
    }

    #[test]
    fn a_name_gives_its_key_back_and_other_names_give_none() {
        for text in ["k", "a:b", "}:x", "{1}:y", "ä"] {
            let key = Key::new(text).expect("a key");
            assert_eq!(names().key(&names().entry(&key)), Some(key));
        }
        let shard = Shard::first();
        let wrong = "semel:{xyz}:k".to_owned();
        for name in [names().counter(shard), names().probe(shard), wrong, "other".to_owned()] {
            assert_eq!(names().key(&name), None, "{name}");
        }
    }

    #[test]
    fn shards_are_shared_out_evenly() {
        let slots: HashSet<u16> = Shard::all().map(Shard::slot).collect();
        assert_eq!(slots.len(), usize::from(SHARDS), "no two shards share a slot");
        for primaries in [3, 6, 10, 16, 32] {
            let even = f64::from(SHARDS) / f64::from(primaries);
            for primary in 0..primaries {
                let bound = |at: u16| at * (SLOTS / primaries) + at.min(SLOTS % primaries);
                let share =
                    slots.iter().filter(|it| (bound(primary)..bound(primary + 1)).contains(it));
                let share = share.count() as f64 / even;
                assert!((0.96..1.04).contains(&share), "{primary} of {primaries}: {share}");
            }
        }
    }

    #[test]
    fn a_pattern_takes_its_prefix_literally() {
        assert_eq!(names().pattern("a*[b]?\\"), "semel:{*}:a\\*\\[b\\]\\?\\\\*");
    }
}
