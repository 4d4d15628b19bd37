//! Several processes on one file.

use std::collections::HashSet;

use semel_core::{Store, Touch};

use crate::child::{ADDED, Other, number};
use crate::support::{Place, key};

const PROCESSES: usize = 4;

#[tokio::test]
async fn of_increments_by_four_processes_none_is_lost_and_no_version_comes_twice() {
    let place = Place::new();
    let others: Vec<_> = (0..PROCESSES).map(|_| Other::start("count", &place.path())).collect();
    let versions: Vec<u64> = others
        .into_iter()
        .flat_map(Other::finish)
        .map(|version| version.parse().unwrap())
        .collect();
    let store = place.open().await;
    let seen = store.read(&key("sum"), Touch::No).await.unwrap().entry.unwrap();
    assert_eq!(number(&seen.value), u64::try_from(PROCESSES * ADDED).unwrap());
    assert_eq!(versions.len(), PROCESSES * ADDED);
    assert_eq!(versions.iter().collect::<HashSet<_>>().len(), versions.len());
    assert_eq!(versions.iter().max(), Some(&seen.version.get()));
}

#[tokio::test]
async fn processes_that_make_a_file_together_all_find_a_store() {
    for _ in 0..5 {
        let place = Place::new();
        let others: Vec<_> = (0..8).map(|_| Other::start("open", &place.path())).collect();
        for other in others {
            other.finish();
        }
        place.open().await;
    }
}
