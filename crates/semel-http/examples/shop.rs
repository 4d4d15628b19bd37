//! Sessions, cached prices, locks and idempotent orders in one store: `shop [URL [ADDRESS]]`.
//!
//! Start it twice over `sqlite:shop.db`, or on two machines over `redis://…`, and it is one shop: who
//! has logged in here is logged in there, a retry that reaches the other one gets the first answer,
//! and of both only one asks for a price that nobody knows.
//!
//! ```text
//! $ shop sqlite:shop.db &
//! $ curl -c jar -b jar localhost:3000/login --json '{"name": "alice"}'
//! $ curl -c jar -b jar localhost:3000/orders -H 'idempotency-key: order-1' --json '{"item": "tea"}'
//! {"number":1,"buyer":"alice","item":"tea","cents":300}
//! ```

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use semel::cache::TypedCache;
use semel::{Cache, Locks, Once, Scope, Store};
use semel_http::{CacheSessionStore, IdempotencyLayer};
use serde::{Deserialize, Serialize};
use tower_sessions::{Session, SessionManagerLayer};

const MINUTE: Duration = Duration::from_secs(60);
const BUYER: &str = "buyer";

/// What all requests share. The orders are in this process for brevity: yours are in a database.
pub(crate) struct Shop {
    prices: TypedCache<u64>,
    locks: Locks,
    /// How many orders there are.
    pub(crate) orders: AtomicUsize,
    /// How often the supplier was asked for a price.
    pub(crate) asked: AtomicUsize,
}

#[derive(Clone, Deserialize)]
struct Buyer {
    name: String,
}

#[derive(Deserialize)]
struct Wish {
    item: String,
}

#[derive(Serialize)]
struct Order {
    number: usize,
    buyer: String,
    item: String,
    cents: u64,
}

impl Shop {
    pub(crate) fn over(store: &Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            prices: Cache::new(Arc::clone(store)).typed(),
            locks: Locks::new(Arc::clone(store)),
            orders: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
        })
    }

    /// The cached price; if there is none, one of all who want to know asks for it, under a lock.
    async fn price(&self, item: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
        let key = format!("price:{item}");
        if let Some(price) = self.prices.get(&key).await? {
            return Ok(price);
        }
        let guard = self.locks.lock(&key).wait(MINUTE).acquire().await?;
        let price = match self.prices.get(&key).await? {
            // Somebody asked while we waited.
            Some(price) => price,
            None => {
                let price = self.ask(item).await;
                self.prices.set(&key, &price, 10 * MINUTE).await?;
                price
            }
        };
        guard.release().await?;
        Ok(price)
    }

    /// Takes long and costs money.
    async fn ask(&self, item: &str) -> u64 {
        self.asked.fetch_add(1, Ordering::SeqCst);
        semel::timer::sleep(Duration::from_millis(50)).await;
        item.len() as u64 * 100
    }
}

async fn login(session: Session, Json(buyer): Json<Buyer>) -> Result<StatusCode, StatusCode> {
    let failed = |_| StatusCode::SERVICE_UNAVAILABLE;
    // Who logs in gets another id: one that was foisted on them beforehand is worth nothing.
    session.cycle_id().await.map_err(failed)?;
    session.insert(BUYER, buyer.name).await.map_err(failed)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn logout(session: Session) -> Result<StatusCode, StatusCode> {
    session.flush().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whose request it is, from the session: keys of different buyers never meet.
async fn authenticate(session: Session, mut request: Request, next: Next) -> Response {
    let name = match session.get::<String>(BUYER).await {
        Ok(Some(name)) => name,
        Ok(None) => return StatusCode::UNAUTHORIZED.into_response(),
        Err(_) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    let Ok(scope) = Scope::new("shop", name.as_str()) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    request.extensions_mut().insert(scope);
    request.extensions_mut().insert(Buyer { name });
    next.run(request).await
}

/// Runs once for each key, whichever instance its retries reach.
async fn order(
    State(shop): State<Arc<Shop>>,
    Extension(buyer): Extension<Buyer>,
    Json(wish): Json<Wish>,
) -> Result<(StatusCode, Json<Order>), StatusCode> {
    let price = shop.price(&wish.item).await;
    let cents = price.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let number = shop.orders.fetch_add(1, Ordering::SeqCst) + 1;
    let order = Order { number, buyer: buyer.name, item: wish.item, cents };
    Ok((StatusCode::CREATED, Json(order)))
}

async fn me(Extension(buyer): Extension<Buyer>) -> String {
    buyer.name
}

/// The service: sessions outermost, then who it is, then whether it was done already.
pub(crate) fn app(shop: Arc<Shop>, store: Arc<dyn Store>) -> Router {
    let once = Once::new(Arc::clone(&store));
    // Without TLS, for trying it out; with it, leave `with_secure` away.
    let sessions = SessionManagerLayer::new(CacheSessionStore::new(store)).with_secure(false);
    Router::new()
        .route("/orders", post(order))
        .route("/me", get(me))
        .layer(IdempotencyLayer::new(once))
        .layer(from_fn(authenticate))
        .route("/login", post(login))
        .route("/logout", post(logout))
        .layer(sessions)
        .with_state(shop)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "sqlite:shop.db".to_owned());
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let store = semel::open(&url).await?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/orders", listener.local_addr()?);
    Ok(axum::serve(listener, app(Shop::over(&store), store)).await?)
}
