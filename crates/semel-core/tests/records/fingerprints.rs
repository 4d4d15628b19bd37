//! Fingerprints: equal exactly when the covered parts are (M6).

use proptest::collection::vec;
use proptest::prelude::*;
use semel_core::{Fingerprint, FingerprintBuilder, PartDigest, PartHasher};

fn of(parts: &[(&'static str, &[u8])]) -> Fingerprint {
    let add = |builder: FingerprintBuilder, (name, bytes): &(&'static str, &[u8])| {
        builder.part(*name, bytes)
    };
    parts.iter().fold(Fingerprint::builder(), add).build()
}

fn differs(a: &Fingerprint, b: &Fingerprint) -> Vec<String> {
    a.differs_from(b).iter().map(|name| name.as_str().to_owned()).collect()
}

/// All byte strings over a small alphabet, up to this length.
fn words(longest: usize) -> Vec<Vec<u8>> {
    let mut words = vec![vec![]];
    for length in 0..longest {
        let longer: Vec<Vec<u8>> = words
            .iter()
            .filter(|word| word.len() == length)
            .flat_map(|word| [b'a', 0, 1].map(|last| [&word[..], &[last]].concat()))
            .collect();
        words.extend(longer);
    }
    words
}

#[test]
fn the_names_of_the_parts_that_differ_are_told_in_order() {
    let first = of(&[("query", b"a=1"), ("content-type", b"text"), ("body", b"x")]);
    let second = of(&[("query", b"a=2"), ("content-type", b"text"), ("body", b"y")]);
    assert_eq!(differs(&first, &second), ["query", "body"]);
    assert_eq!(differs(&first, &first), [""; 0]);
}

#[test]
fn what_only_one_side_covers_is_not_compared() {
    let wide = of(&[("query", b"a=1"), ("body", b"x")]);
    let narrow = of(&[("body", b"x")]);
    assert_eq!(differs(&wide, &narrow), [""; 0]);
    assert_eq!(differs(&narrow, &wide), [""; 0]);
}

#[test]
fn no_two_lists_of_fields_have_the_same_digest() {
    let words = words(2);
    let mut seen = std::collections::HashMap::new();
    let lists = words
        .iter()
        .map(|one| vec![one.clone()])
        .chain(words.iter().flat_map(|a| words.iter().map(move |b| vec![a.clone(), b.clone()])));
    for list in lists {
        let mut hasher = PartHasher::new();
        list.iter().for_each(|field| hasher.field(field));
        let digest = *hasher.finish().as_bytes();
        let earlier = seen.insert(digest, list.clone());
        assert_eq!(earlier, None, "{list:?} has the digest of another list");
    }
}

#[test]
fn a_name_that_is_added_twice_covers_both_and_still_equals_itself() {
    let both = of(&[("$.items", b"1"), ("$.items", b"2")]);
    assert_eq!(both.parts().len(), 1);
    assert_eq!(differs(&both, &both), [""; 0]);
    for other in [
        of(&[("$.items", b"1")]),
        of(&[("$.items", b"2")]),
        of(&[("$.items", b"2"), ("$.items", b"1")]),
        of(&[("$.items", b"1"), ("$.items", b"3")]),
    ] {
        assert_eq!(differs(&both, &other), ["$.items"]);
    }
}

proptest! {
    /// N2: however a body arrives in pieces, it has one digest.
    #[test]
    fn any_chunking_gives_the_same_digest(
        body in vec(any::<u8>(), 0..4000),
        cuts in vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.sort_unstable();
        let mut hasher = PartHasher::new();
        let mut from = 0;
        for to in cuts.into_iter().chain([body.len()]) {
            hasher.update(&body[from..to]);
            from = to;
        }
        prop_assert_eq!(hasher.finish(), PartDigest::of(&body));
    }

    #[test]
    fn fingerprints_are_equal_exactly_when_the_covered_parts_are(
        first in vec(vec(any::<u8>(), 0..3), 3),
        second in vec(vec(any::<u8>(), 0..3), 3),
    ) {
        let names = ["method", "query", "body"];
        let print = |parts: &[Vec<u8>]| {
            let parts: Vec<_> = names.into_iter().zip(parts.iter().map(|part| &part[..])).collect();
            of(&parts)
        };
        let changed = (0..3).filter(|at| first[*at] != second[*at]).map(|at| names[at]);
        prop_assert_eq!(differs(&print(&first), &print(&second)), changed.collect::<Vec<_>>());
        prop_assert_eq!(print(&first) == print(&second), first == second);
    }
}
