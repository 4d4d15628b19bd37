//! Functions under `#[semel::once(..)]`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use semel::{CallError, Code, Finality, Guarantee, Once, Permit, Policy, Problem, Scope};
use serde::{Deserialize, Serialize};

use super::support::{faulty, policy};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum PayError {
    Declined,
    Timeout,
    Refused(String),
}

impl From<CallError<Self>> for PayError {
    fn from(error: CallError<Self>) -> Self {
        match error {
            CallError::Work(error) => error,
            CallError::Refused(problem) => Self::Refused(problem.code().code().to_owned()),
            other => Self::Refused(other.to_string()),
        }
    }
}

const fn judge(error: &PayError) -> Finality {
    match error {
        PayError::Declined => Finality::Final,
        PayError::Timeout | PayError::Refused(_) => Finality::Transient,
    }
}

struct Payments {
    once: Once,
    policy: Arc<Policy>,
    runs: AtomicU32,
}

struct Payment {
    key: String,
    tenant: &'static str,
    cents: Vec<u64>,
}

type Paid = Result<(String, u64), PayError>;

impl Payments {
    fn new() -> Self {
        let policy = policy(|policy| policy.guarantee(Guarantee::AtMostOnce));
        Self { once: faulty().1, policy, runs: AtomicU32::new(0) }
    }

    /// The arguments are moved, the return type has another name, and the body has names like ours.
    #[semel::once(
        with = self.once,
        key = payment.key,
        operation = "payments.charge",
        scope = Scope::new(payment.tenant, "alice").unwrap(),
        policy = Arc::clone(&self.policy),
        input(payment.cents, currency),
        failures = judge,
        permit = permit,
    )]
    async fn charge(&self, mut payment: Payment, currency: &str) -> Paid {
        let (once, call) = (self.runs.fetch_add(1, Ordering::SeqCst), permit.derive("psp"));
        let key = payment.key;
        if once > 100 {
            return Err(PayError::Timeout);
        }
        parse(currency)?;
        payment.cents.push(1);
        tokio::task::yield_now().await;
        Ok((format!("{key} {currency} {call}"), payment.cents.into_iter().sum()))
    }

    fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }
}

fn parse(currency: &str) -> Result<(), PayError> {
    match currency {
        "EUR" => Ok(()),
        "???" => Err(PayError::Declined),
        _ => Err(PayError::Timeout),
    }
}

fn payment(key: &str, cents: u64) -> Payment {
    Payment { key: key.to_owned(), tenant: "acme", cents: vec![cents] }
}

#[tokio::test(start_paused = true)]
async fn a_function_under_the_attribute_runs_once_for_each_key() {
    let payments = Arc::new(Payments::new());
    let first = payments.charge(payment("k", 5), "EUR").await.unwrap();
    assert_eq!(first.1, 6);
    // What it makes can be sent to another thread, as the function's own future could.
    let again = Arc::clone(&payments);
    let again = tokio::spawn(async move { again.charge(payment("k", 5), "EUR").await });
    assert_eq!(again.await.unwrap().unwrap(), first);
    assert_eq!(payments.runs(), 1);
    let other = Payment { tenant: "other", ..payment("k", 5) };
    assert_ne!(payments.charge(other, "EUR").await.unwrap(), first);
    assert_eq!(payments.runs(), 2);
}

#[tokio::test(start_paused = true)]
async fn its_refusals_and_its_errors_come_as_its_own_error() {
    let payments = Payments::new();
    payments.charge(payment("k", 5), "EUR").await.unwrap();
    let refused = |code: Code| Err(PayError::Refused(code.code().to_owned()));
    assert_eq!(payments.charge(payment("k", 6), "EUR").await, refused(Code::PayloadMismatch));
    assert_eq!(payments.charge(payment("", 6), "EUR").await, refused(Code::KeyInvalid));
    // One that stands, and one that is in doubt, as the policy says.
    for _ in 0..2 {
        assert_eq!(payments.charge(payment("e", 5), "???").await, Err(PayError::Declined));
    }
    assert_eq!(payments.charge(payment("t", 5), "!").await, Err(PayError::Timeout));
    assert_eq!(payments.charge(payment("t", 5), "!").await, refused(Code::InDoubt));
    assert_eq!(payments.runs(), 3);
}

/// A function of its own, with a type parameter and the least that there is to say.
#[semel::once(with = once, key = key, operation = "store")]
async fn store<T>(once: &Once, key: impl AsRef<str>, value: T) -> Result<T, Refused>
where
    T: Serialize + serde::de::DeserializeOwned,
{
    Ok(value)
}

#[derive(Debug)]
struct Refused(#[expect(dead_code, reason = "shown where a test fails")] Option<Problem>);

impl From<CallError<Self>> for Refused {
    fn from(error: CallError<Self>) -> Self {
        match error {
            CallError::Work(refused) => refused,
            CallError::Refused(problem) => Self(Some(problem)),
            _ => Self(None),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_free_function_and_the_builder_are_one_call() {
    let (_, once) = faulty();
    assert_eq!(store(&once, "k", 7_u8).await.unwrap(), 7);
    assert_eq!(store(&once, String::from("k"), 8_u8).await.unwrap(), 7);
    let work = async |_: Permit| Err::<u8, _>("ran");
    assert_eq!(once.call("k").operation("store").run(work).await.unwrap(), 7);
}
