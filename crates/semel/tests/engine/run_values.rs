//! The function form: every kind of value comes back as it was.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use proptest::prelude::*;
use semel::{CallError, Code, Once};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::support::{faulty, fresh, recorded};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    One(u8),
    Two(i64, String),
    Named { x: Option<()>, y: Vec<Shape> },
    Nested(Box<Shape>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Wrapper(u64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Tagged {
    Paid { amount: u64 },
    Declined,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Flat {
    id: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

async fn once_and_again<T>(once: &Once, key: &str, value: &T) -> T
where
    T: Serialize + DeserializeOwned + Clone,
{
    let run = async |value: T| {
        let work = once.call(key).run(async |_| Ok::<_, ()>(value)).await;
        work.unwrap_or_else(|error| panic!("{key}: {error:?}"))
    };
    let first = run(value.clone()).await;
    drop(first);
    // The second work would give another value: it is not run.
    once.call(key).run(async |_| Err::<T, _>("it ran again")).await.unwrap()
}

macro_rules! each_comes_back {
    ($($value:expr),+ $(,)?) => {{
        let (_, once) = faulty();
        let mut n = 0;
        $({
            n += 1;
            let value = $value;
            assert_eq!(once_and_again(&once, &format!("k{n}"), &value).await, value);
        })+
    }};
}

#[tokio::test(start_paused = true)]
async fn what_is_nothing_or_false_is_a_value_like_any_other() {
    each_comes_back![
        0_u8,
        0_i64,
        0.0_f64,
        false,
        String::new(),
        '\0',
        Vec::<u8>::new(),
        (),
        None::<u8>,
        Some(()),
        Unit,
        BTreeMap::<u8, u8>::new(),
        [None::<u8>; 3],
        Duration::ZERO,
    ];
}

#[tokio::test(start_paused = true)]
async fn numbers_keep_their_range_and_their_sign() {
    each_comes_back![
        u64::MAX,
        i64::MIN,
        u128::MAX,
        i128::MAX,
        i128::MIN,
        -1_i128,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
        0.1_f64,
        0.1_f32,
    ];
    let (_, once) = faulty();
    let minus_zero = once_and_again(&once, "zero", &-0.0_f64).await;
    assert!(minus_zero == 0.0 && minus_zero.is_sign_negative());
    assert!(once_and_again(&once, "nan", &f64::NAN).await.is_nan());
}

#[tokio::test(start_paused = true)]
async fn enums_maps_and_nested_values_come_back() {
    let nested = Shape::Nested(Box::new(Shape::Nested(Box::new(Shape::Unit))));
    let named = Shape::Named { x: Some(()), y: vec![Shape::One(0), nested.clone()] };
    each_comes_back![
        Shape::Unit,
        Shape::Two(-5, "é\u{0}".to_owned()),
        Shape::Named { x: None, y: vec![] },
        named,
        nested,
        Some(Shape::Unit),
        vec![Some(()), None],
        Wrapper(u64::MAX),
        Untagged::Number(-1),
        Untagged::Text("1".to_owned()),
        Tagged::Paid { amount: 7 },
        Tagged::Declined,
        Flat { id: 1, rest: [("z".to_owned(), -1)].into(), note: None },
        Flat { id: 1, rest: BTreeMap::new(), note: Some(String::new()) },
        BTreeMap::from([((1_u8, true), "pair"), ((0, false), "")].map(|(k, v)| (k, v.to_owned()))),
        BTreeMap::from([(None, 1_u8), (Some(3_u8), 2)]),
        HashMap::from([(vec![0_u8, 255], ()), (vec![], ())]),
        Ok::<u8, String>(3),
        Err::<u8, String>("declined".to_owned()),
        (1_u8, "a".to_owned(), None::<()>),
        Duration::new(3, 999_999_999),
        IpAddr::from([127, 0, 0, 1]),
        "\u{10FFFF}".repeat(1_000),
        (0..=255_u8).collect::<Vec<_>>(),
        vec![vec![Vec::<u8>::new(); 3]; 3],
    ];
}

/// Bytes by serde's own name for them, which is not that of a list of numbers.
#[derive(Debug, Clone, PartialEq)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Blob;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_large_numbers_and_what_is_no_number_come_back() {
    each_comes_back![
        Blob(vec![]),
        Blob((0..=255).collect()),
        vec![Blob(vec![0]), Blob(vec![])],
        BTreeMap::from([(u64::MAX, i64::MIN), (0, i64::MAX)]),
        BTreeMap::from([(-1_i128, u128::MAX)]),
        BTreeMap::from([(' ', Shape::Unit)]),
        HashMap::from([(Shape2::Left(1), Some(0_u64)), (Shape2::Right, None)]),
        (u64::from(u32::MAX) + 1, 1_i64 - (1 << 53), u128::from(u64::MAX) + 1),
        [Some(()), None],
    ];
    let (_, once) = faulty();
    for (key, bits) in [("quiet", 0x7ff8_0000_0000_0001_u64), ("minus", 0xfff8_0000_0000_0000)] {
        let again = once_and_again(&once, key, &f64::from_bits(bits)).await;
        assert_eq!(again.to_bits(), bits, "{key}");
    }
    assert!(once_and_again(&once, "narrow", &f32::NAN).await.is_nan());
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Shape2 {
    Left(u8),
    Right,
}

/// The one that does not: an option is written as what is in it, so an option of nothing is
/// nothing. `CallBuilder::run` says so.
#[tokio::test(start_paused = true)]
async fn an_option_of_nothing_comes_back_as_nothing() {
    let (_, once) = faulty();
    assert_eq!(once_and_again(&once, "k", &Some(None::<u8>)).await, None);
}

/// An error that is an answer for good is a value.
#[tokio::test(start_paused = true)]
async fn an_error_in_the_value_is_recorded_and_replayed() {
    let (_, once) = faulty();
    let declined = || Err::<u8, _>("declined".to_owned());
    let first = once.call("k").run(async |_| Ok::<_, ()>(declined())).await;
    assert_eq!(first.unwrap(), declined());
    let again = once.call("k").run(async |_| Ok::<Result<u8, String>, ()>(Ok(1))).await;
    assert_eq!(again.unwrap(), declined());
}

/// N8: a record outlives the type that it was written from, or it is said not to.
#[tokio::test(start_paused = true)]
async fn a_value_of_another_type_is_unavailable_and_not_run_again() {
    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    struct Old {
        id: u8,
    }
    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    struct Compatible {
        id: u64,
        #[serde(default)]
        note: String,
    }
    #[derive(Debug, Serialize, Deserialize)]
    struct Incompatible {
        name: String,
    }
    let (_, once) = faulty();
    once.call("k").run(async |_| Ok::<_, ()>(Old { id: 7 })).await.unwrap();
    let compatible = once.call("k").run(async |_| Err::<Compatible, _>("ran")).await.unwrap();
    assert_eq!(compatible, Compatible { id: 7, note: String::new() });
    for _ in 0..2 {
        let result = once.call("k").run(async |_| Err::<Incompatible, _>("ran")).await;
        let Err(CallError::Refused(problem)) = result else { panic!("{result:?}") };
        assert_eq!(problem.code(), Code::ResponseUnavailable);
    }
}

/// Whatever is asked for instead: refused, and the work does not run.
#[tokio::test(start_paused = true)]
async fn a_value_is_not_taken_for_one_of_another_type() {
    let (_, once) = faulty();
    once.call("list").run(async |_| Ok::<_, ()>((1_u8, 2_u8, 3_u8))).await.unwrap();
    once.call("text").run(async |_| Ok::<_, ()>("7".to_owned())).await.unwrap();
    once.call("large").run(async |_| Ok::<_, ()>(256_u64)).await.unwrap();
    once.call("nothing").run(async |_| Ok::<_, ()>(None::<u8>)).await.unwrap();
    once.call("shape").run(async |_| Ok::<_, ()>(Shape::One(1))).await.unwrap();
    not_of_type::<(u8, u8)>(&once, "list").await;
    not_of_type::<(u8, u8, u8, u8)>(&once, "list").await;
    not_of_type::<u8>(&once, "list").await;
    not_of_type::<u8>(&once, "text").await;
    not_of_type::<bool>(&once, "text").await;
    not_of_type::<u8>(&once, "large").await;
    not_of_type::<String>(&once, "large").await;
    not_of_type::<u8>(&once, "nothing").await;
    not_of_type::<Tagged>(&once, "shape").await;
    not_of_type::<Shape2>(&once, "shape").await;
    assert_eq!(once.call("list").run(async |_| Err::<[u8; 3], _>(())).await.unwrap(), [1, 2, 3]);
}

/// A type that reads less than there is. It would be given a value that nobody recorded.
#[tokio::test(start_paused = true)]
async fn a_value_that_is_read_in_part_only_is_not_given_out() {
    #[derive(Debug, Serialize)]
    struct First(u8);
    impl<'de> Deserialize<'de> for First {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct Head;
            impl<'de> serde::de::Visitor<'de> for Head {
                type Value = First;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a list")
                }

                fn visit_seq<A>(self, mut list: A) -> Result<First, A::Error>
                where
                    A: serde::de::SeqAccess<'de>,
                {
                    Ok(First(list.next_element()?.unwrap_or_default()))
                }
            }
            from.deserialize_seq(Head)
        }
    }
    let (_, once) = faulty();
    once.call("one").run(async |_| Ok::<_, ()>([1_u8])).await.unwrap();
    once.call("two").run(async |_| Ok::<_, ()>([1_u8, 2])).await.unwrap();
    assert_eq!(once.call("one").run(async |_| Err::<First, _>("ran")).await.unwrap().0, 1);
    not_of_type::<First>(&once, "two").await;
}

async fn not_of_type<T: DeserializeOwned + Serialize + std::fmt::Debug>(once: &Once, key: &str) {
    let result = once.call(key).run(async |_| Err::<T, _>("ran")).await;
    let Err(CallError::Refused(problem)) = result else { panic!("{key}: {result:?}") };
    assert_eq!(problem.code(), Code::ResponseUnavailable);
}

/// What was recorded as bytes is no value, although these bytes would be one.
#[tokio::test(start_paused = true)]
async fn an_outcome_of_another_form_is_no_value() {
    let (_, once) = faulty();
    let call = super::support::call(&once.default_policy(), "k");
    let mut claim = fresh(&once, &call).await;
    recorded(&mut claim, super::support::bytes(&[0x07])).await;
    let result = once.call("k").operation("charge").run(async |_| Err::<u8, _>("ran")).await;
    let Err(CallError::Refused(problem)) = result else { panic!("{result:?}") };
    assert_eq!(problem.code(), Code::ResponseUnavailable);
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Unit),
        any::<u8>().prop_map(Shape::One),
        (any::<i64>(), any::<String>()).prop_map(|(n, text)| Shape::Two(n, text)),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|shape| Shape::Nested(Box::new(shape))),
            (any::<Option<()>>(), prop::collection::vec(inner, 0..4))
                .prop_map(|(x, y)| Shape::Named { x, y }),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_comes_back(
        shape in shapes(),
        map in prop::collection::hash_map(any::<(i8, bool)>(), any::<Option<f32>>(), 0..8),
        text in any::<String>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let value = (shape, map, text);
        let again = runtime.block_on(async {
            let (_, once) = faulty();
            once_and_again(&once, "k", &value).await
        });
        prop_assert_eq!(&again.0, &value.0);
        prop_assert_eq!(&again.2, &value.2);
        prop_assert_eq!(format!("{:?}", sorted(again.1)), format!("{:?}", sorted(value.1)));
    }
}

fn sorted<K: Ord, V>(map: HashMap<K, V>) -> BTreeMap<K, V> {
    map.into_iter().collect()
}
