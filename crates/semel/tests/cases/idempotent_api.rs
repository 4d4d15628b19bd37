//! The tracker of IdempotentAPI.

use std::collections::BTreeMap;

use bytes::Bytes;
use semel::core::protocol::Status;
use semel::{
    Begun, Call, CallError, Extent, Finality, Finished, Form, Once, Operation, Outcome, Scope,
};
use serde::{Deserialize, Serialize};

use crate::support::Place;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Receipt {
    number: u64,
    paid: Option<i128>,
    lines: Vec<(String, f64)>,
    stock: BTreeMap<u8, Place2>,
    by: By,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Place2 {
    Shelf,
    Box(u8),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum By {
    Card { last: String },
}

fn receipt() -> Receipt {
    Receipt {
        number: u64::MAX,
        paid: None,
        lines: vec![("é".to_owned(), 0.5)],
        stock: [(0, Place2::Shelf), (1, Place2::Box(7))].into(),
        by: By::Card { last: "4242".to_owned() },
    }
}

/// What version 1 records of that value: CBOR, and in it names and values alone.
const RECEIPT: &str = "a5666e756d6265721bffffffffffffffff6470616964f6656c696e6573818262c3a9fb3fe0000000\
    0000006573746f636ba200655368656c6601a163426f7807626279a16443617264a1646c6173746434323432";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(hex: &str) -> Bytes {
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn call(once: &Once, key: &str) -> Call {
    let operation = Operation::new("orders.create").unwrap();
    Call::new(&once.default_policy(), &Scope::anonymous(), key, operation).unwrap()
}

async fn payload(once: &Once, key: &str) -> (Form, String) {
    match once.peek(call(once, key).key()).await.unwrap() {
        Status::Done(outcome) => (outcome.form, hex(&outcome.payload)),
        other => panic!("{other:?}"),
    }
}

/// Replays were rebuilt as objects by the names of their types, and broke when one was renamed or
/// moved. Here the bytes of this version are pinned: a later one that writes others, or can't read
/// these, fails.
#[tokio::test]
async fn n8_the_first_version_of_a_functions_records_is_written_and_read() {
    let once = Place::memory().engine().await;
    let of = |key| once.call(key).operation("orders.create");
    let fails = |_: &String| Finality::Final;
    of("value").run(async |_| Ok::<_, ()>(receipt())).await.unwrap();
    of("bytes").run_bytes(async |_| Ok::<_, ()>(Bytes::from_static(b"\xff\0"))).await.unwrap();
    let failed = of("error").failures(fails).run(async |_| Err::<u8, _>("no".to_owned())).await;
    assert!(matches!(failed, Err(CallError::Work(_))));
    let recorded = [
        ("value", (Form::Value, RECEIPT.to_owned())),
        ("bytes", (Form::Bytes, "ff00".to_owned())),
        ("error", (Form::Error, "626e6f".to_owned())),
    ];
    for (key, expected) in &recorded {
        assert_eq!(&payload(&once, key).await, expected, "{key}");
    }
    // As an earlier version left them.
    for (key, (form, hex)) in recorded {
        let key = format!("old-{key}");
        let Begun::Fresh(mut claim) = once.begin(&call(&once, &key)).await else { panic!() };
        let outcome = Outcome { form, extent: Extent::Whole, payload: unhex(&hex) };
        assert!(matches!(claim.record(outcome).await, Finished::Recorded));
    }
    assert_eq!(of("old-value").run(async |_| Err::<Receipt, _>("ran")).await.unwrap(), receipt());
    assert_eq!(&of("old-bytes").run_bytes(async |_| Err("ran")).await.unwrap()[..], b"\xff\0");
    let old = of("old-error").failures(fails).run(async |_| Ok(1_u8)).await;
    assert!(matches!(&old, Err(CallError::Work(error)) if error == "no"), "{old:?}");
}

/// And a value is nobody's type: one of another name and place, with the same fields, reads it,
/// from every store.
async fn a_type_of_another_name(place: Place) {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Renamed {
        number: u64,
        by: By,
        #[serde(default)]
        note: Option<String>,
    }
    let (ours, theirs) = (place.engine().await, place.engine().await);
    ours.call("k").run(async |_| Ok::<_, ()>(receipt())).await.unwrap();
    let renamed = theirs.call("k").run(async |_| Err::<Renamed, _>("ran")).await.unwrap();
    assert_eq!(renamed, Renamed { number: u64::MAX, by: receipt().by, note: None });
    assert_eq!(theirs.call("k").run(async |_| Err::<Receipt, _>("ran")).await.unwrap(), receipt());
}

macro_rules! over {
    ($store:ident, $place:expr) => {
        mod $store {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn n8_a_value_outlives_the_name_of_its_type() {
                a_type_of_another_name($place).await;
            }
        }
    };
}

over!(memory, Place::memory());
over!(sqlite, Place::file());
over!(redis, Place::redis().await);
over!(postgres, Place::postgres().await);
