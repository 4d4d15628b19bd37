//! Keys by prefix.

use semel::cache::{Cache, Lifetime};

use super::support::{Bench, secs};

async fn all(cache: &Cache, prefix: &str, limit: usize) -> Vec<String> {
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let page = cache.keys(prefix, after.as_deref(), limit).await.unwrap();
        assert!(page.keys.len() <= limit);
        keys.extend(page.keys.iter().map(|key| (**key).to_owned()));
        match page.next {
            Some(next) => after = Some(next),
            None => return keys,
        }
    }
}

#[tokio::test]
async fn keys_are_listed_a_page_at_a_time_in_the_order_of_their_bytes() {
    let bench = Bench::new();
    for number in 0..25 {
        bench.set(&format!("k{number:02}"), "v", Lifetime::default()).await;
    }
    bench.set("other", "v", Lifetime::default()).await;
    let due: Vec<String> = (0..25).map(|number| format!("k{number:02}")).collect();
    for limit in [1, 7, 25, 100] {
        assert_eq!(all(&bench.cache, "k", limit).await, due, "{limit} a page");
    }
    assert_eq!(all(&bench.cache, "", 9).await.len(), 26);
    assert_eq!(bench.cache.keys("k", Some("k22"), 9).await.unwrap().keys.len(), 2);
}

#[tokio::test]
async fn no_character_of_a_prefix_has_a_meaning() {
    let bench = Bench::new();
    for key in ["a%b", "a_b", "a*b", "a[b]", "a?b", "a\\b", "a:b", "axb"] {
        bench.cache.set(key, key, secs(9)).await.unwrap();
    }
    for prefix in ["a%", "a_", "a*", "a[", "a?", "a\\", "a:"] {
        let found = all(&bench.cache, prefix, 9).await;
        assert_eq!(found.len(), 1, "{prefix}: {found:?}");
        assert!(found[0].starts_with(prefix));
    }
    // No key has one, so there is nothing.
    assert_eq!(all(&bench.cache, "a b", 9).await.len(), 0);
    assert_eq!(all(&bench.cache, "%", 9).await.len(), 0);
}

#[tokio::test]
async fn a_listing_shows_one_cache_and_what_is_alive_in_it() {
    let bench = Bench::new();
    let store = bench.cache.store().clone();
    let named = Cache::builder(store).namespace("named").build().unwrap();
    bench.set("dead", "v", Lifetime::of(secs(9))).await;
    bench.set("lapsed", "v", Lifetime::sliding(secs(9)).at_most(secs(99))).await;
    bench.set("alive", "v", Lifetime::of(secs(99))).await;
    named.set("named", "v", secs(99)).await.unwrap();
    bench.pass(9);
    assert_eq!(all(&bench.cache, "", 1).await, ["alive"]);
    assert_eq!(all(&named, "", 1).await, ["named"]);
}
