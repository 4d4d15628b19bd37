//! Pages of a listing.

use semel_core::{Expect, Store};

use crate::support::{Place, key, put, won};

/// A page is held in memory as a whole: it ends early where the values are large.
#[tokio::test]
async fn pages_of_large_values_are_short_and_lead_on() {
    let place = Place::new();
    let store = place.open().await;
    for name in 0..10 {
        won(store.swap(&key(name), Expect::Absent, put(vec![0; 3 << 20])).await);
    }
    let (mut after, mut listed, mut pages) = (None, 0, 0);
    loop {
        let page = store.scan("", after.as_ref(), 1_000).await.unwrap();
        let bytes: usize = page.entries.iter().map(|(_, entry)| entry.value.len()).sum();
        assert!(bytes < 12 << 20, "a page holds {bytes} bytes");
        listed += page.entries.len();
        pages += 1;
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!(listed, 10);
    assert!(pages > 2, "{pages} pages");
}
