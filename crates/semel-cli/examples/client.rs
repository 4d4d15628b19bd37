//! Orders over a network that is being cut all the time: each is made once.
//!
//! Start the service, and then this:
//!
//! ```console
//! cargo run --release -- demo
//! cargo run -p semel-cli --example client
//! ```
//!
//! Between the client and the service stands a proxy that breaks connections off: before the
//! request is through, after the service has worked and before its answer is back, in the middle
//! of the answer. The client tries again with the same key, and says of each order whether its
//! answer was the first one or a replay.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use semel::timer;
use semel_http::client::{AnswerInfo, ClientSettings, Origin, RequestKey, SafeRetryLayer};
use semel_testkit::{Cut, Direction, FaultProxy};
use serde_json::{Value, json};

const API_KEY: &str = "ApiKey dev-alice-key";

/// What happened to an order.
#[derive(Debug)]
pub(crate) struct Made {
    /// The order's number.
    pub(crate) id: u64,
    /// How often the request was sent.
    pub(crate) tries: u32,
    /// Whether the answer that came through was the recorded one of an earlier try.
    pub(crate) origin: Origin,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let service = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:5000".to_owned());
    for made in make_orders(service.parse()?, 20).await? {
        println!("order {:>4}: {:?} after {} tries", made.id, made.origin, made.tries);
    }
    Ok(())
}

/// Makes that many orders, one after the other, while the network is being cut.
///
/// # Errors
///
/// When the service can't be reached, or gives another answer than an order.
pub(crate) async fn make_orders(
    service: SocketAddr,
    count: usize,
) -> Result<Vec<Made>, Box<dyn Error>> {
    let proxy = FaultProxy::start(service).await?;
    let client = client()?;
    let mut made = Vec::new();
    for n in 0..count {
        fault(&proxy, n);
        made.push(make_order(&client, proxy.address(), n).await?);
    }
    Ok(made)
}

/// What is done to the connection of the order number `n`.
fn fault(proxy: &FaultProxy, n: usize) {
    match n % 4 {
        0 => proxy.cut_after(Direction::ToServer, 40, Cut::Reset),
        1 => proxy.cut_after(Direction::ToClient, 0, Cut::Close),
        2 => proxy.cut_after(Direction::ToClient, 150, Cut::Reset),
        _ => proxy.delay(Direction::ToClient, Duration::from_millis(5)),
    }
}

fn client() -> Result<ClientWithMiddleware, Box<dyn Error>> {
    let settings = ClientSettings::builder()
        .try_timeout(Duration::from_secs(10))
        .first_backoff(Duration::from_millis(20))
        .build()?;
    let retries = SafeRetryLayer::new(settings);
    let local = reqwest::Client::builder().no_proxy().build()?;
    Ok(ClientBuilder::new(local).with(retries).build())
}

async fn make_order(
    client: &ClientWithMiddleware,
    at: SocketAddr,
    n: usize,
) -> Result<Made, Box<dyn Error>> {
    // The intent, and its key: a program that may die writes both down before it sends anything.
    let key = RequestKey::fresh();
    let order = json!({ "name": format!("Keyboard {n}"), "amount": 1 });
    let request = client.post(format!("http://{at}/orders"));
    let request = request.header("authorization", API_KEY).with_extension(key).json(&order);
    let answer = timer::within(Duration::from_secs(120), request.send());
    let answer = answer.await.ok_or("no answer within two minutes")??.error_for_status()?;
    let info = answer.extensions().get::<AnswerInfo>().cloned().ok_or("an answer without info")?;
    let order: Value = answer.json().await?;
    let id = order["id"].as_u64().ok_or("an order without a number")?;
    Ok(Made { id, tries: info.tries(), origin: info.origin().clone() })
}
