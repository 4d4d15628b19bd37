//! Values of one type.

use std::collections::HashMap;

use semel::cache::{CacheError, TryAdded, TryRemoved, TryReplaced};
use serde::{Deserialize, Serialize};

use super::support::{Bench, secs};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Price {
    cents: u64,
    currency: String,
    note: Option<String>,
}

fn price(cents: u64) -> Price {
    Price { cents, currency: "EUR".into(), note: None }
}

#[tokio::test]
async fn a_value_comes_back_equal() {
    let bench = Bench::new();
    let prices = bench.cache.typed::<Price>();
    assert_eq!(prices.get("k").await.unwrap(), None);
    prices.set("k", &price(1), secs(9)).await.unwrap();
    assert_eq!(prices.get("k").await.unwrap(), Some(price(1)));
    let present = TryAdded::Present(price(1));
    assert_eq!(prices.try_add("k", &price(2), secs(9)).await.unwrap(), present);
    let replaced = prices.try_replace("other", &price(1), secs(9)).await.unwrap();
    assert_eq!(replaced, TryReplaced::Absent);
    assert_eq!(prices.try_remove("k", &price(2)).await.unwrap(), TryRemoved::Differs);
    assert_eq!(prices.try_remove("k", &price(1)).await.unwrap(), TryRemoved::Removed);
    assert_eq!(prices.try_add("k", &price(2), secs(9)).await.unwrap(), TryAdded::Added);
}

#[tokio::test]
async fn nothing_that_serde_takes_is_absent() {
    let bench = Bench::new();
    macro_rules! check {
        ($($value:expr),+ $(,)?) => {$({
            let cache = bench.cache.typed();
            cache.set("k", &$value, secs(9)).await.unwrap();
            assert_eq!(cache.get("k").await.unwrap(), Some($value));
        })+};
    }
    check!(0_u8, false, String::new(), Vec::<u8>::new(), (), None::<u8>, Some(0_i64), u64::MAX);
}

/// The same map may be written in another order.
#[tokio::test]
async fn equal_values_are_removed_whatever_their_bytes() {
    let bench = Bench::new();
    let cache = bench.cache.typed::<HashMap<String, u32>>();
    for round in 0..20 {
        let map = || (0..20).map(|n| (format!("{round}-{n}"), n)).collect::<HashMap<_, _>>();
        cache.set("k", &map(), secs(9)).await.unwrap();
        assert_eq!(cache.try_remove("k", &map()).await.unwrap(), TryRemoved::Removed);
    }
}

#[tokio::test]
async fn a_value_of_another_type_is_an_error_and_not_absent() {
    let bench = Bench::new();
    bench.cache.typed::<String>().set("k", &"text".to_owned(), secs(9)).await.unwrap();
    let prices = bench.cache.typed::<Price>();
    for error in [
        prices.get("k").await.unwrap_err(),
        prices.try_add("k", &price(1), secs(9)).await.unwrap_err(),
    ] {
        assert!(matches!(error, CacheError::OtherType(_)), "{error:?}");
        assert_eq!(error.problem(), None);
    }
    assert_eq!(prices.try_remove("k", &price(1)).await.unwrap(), TryRemoved::Differs);
}

#[derive(Debug, Deserialize)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

#[tokio::test]
async fn a_value_that_can_not_be_written_changes_nothing() {
    let bench = Bench::new();
    let cache = bench.cache.typed::<Unwritable>();
    let error = cache.set("k", &Unwritable, secs(9)).await.unwrap_err();
    assert!(matches!(error, CacheError::Encode(_)), "{error:?}");
    assert_eq!(bench.trips(), (0, 0));
}
