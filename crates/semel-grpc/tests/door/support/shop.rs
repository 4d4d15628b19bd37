//! The service, written by hand: two methods.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use http_body::Body;
use semel::{Permit, TransactionHandle};
use tonic::server::{Grpc, NamedService, ServerStreamingService, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower_service::Service;

/// An order.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Order {
    #[prost(string, tag = "1")]
    pub(crate) sku: String,
    #[prost(uint32, tag = "2")]
    pub(crate) quantity: u32,
}

/// What became of it.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Placed {
    #[prost(uint64, tag = "1")]
    pub(crate) number: u64,
    #[prost(string, tag = "2")]
    pub(crate) sku: String,
}

/// A call that reached the handler.
pub(crate) struct Asked {
    /// The how-many-eth execution it is.
    pub(crate) run: usize,
    pub(crate) order: Order,
    pub(crate) permit: Option<Permit>,
    pub(crate) transaction: Option<TransactionHandle>,
}

type Replied = Result<Response<Placed>, Status>;
type Work = Arc<dyn Fn(Asked) -> BoxFuture<'static, Replied> + Send + Sync>;
type Watched = BoxStream<'static, Result<Placed, Status>>;

#[derive(Clone)]
pub(crate) struct Shop {
    work: Work,
    watch: Arc<dyn Fn() -> Watched + Send + Sync>,
    runs: Arc<AtomicUsize>,
}

impl Shop {
    /// A shop whose executions are numbered.
    pub(crate) fn new() -> Self {
        Self::with(|asked| async move { Ok(Response::new(asked.placed())) })
    }

    pub(crate) fn with<F>(work: impl Fn(Asked) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Replied> + Send + 'static,
    {
        Self {
            work: Arc::new(move |asked| Box::pin(work(asked))),
            watch: Arc::new(|| Box::pin(futures_util::stream::empty())),
            runs: Arc::default(),
        }
    }

    pub(crate) fn watched(mut self, watch: impl Fn() -> Watched + Send + Sync + 'static) -> Self {
        self.watch = Arc::new(watch);
        self
    }

    /// How often an order was carried out.
    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

impl Asked {
    pub(crate) fn placed(&self) -> Placed {
        Placed { number: self.run as u64, sku: self.order.sku.clone() }
    }
}

impl UnaryService<Order> for Shop {
    type Response = Placed;
    type Future = BoxFuture<'static, Replied>;

    fn call(&mut self, request: Request<Order>) -> Self::Future {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let permit = request.extensions().get::<Permit>().cloned();
        let transaction = request.extensions().get::<TransactionHandle>().cloned();
        (self.work)(Asked { run, permit, transaction, order: request.into_inner() })
    }
}

impl ServerStreamingService<Order> for Shop {
    type Response = Placed;
    type ResponseStream = Watched;
    type Future = BoxFuture<'static, Result<Response<Watched>, Status>>;

    fn call(&mut self, _: Request<Order>) -> Self::Future {
        let watched = (self.watch)();
        Box::pin(async { Ok(Response::new(watched)) })
    }
}

impl NamedService for Shop {
    const NAME: &'static str = "shop.Orders";
}

impl<B> Service<http::Request<B>> for Shop
where
    B: Body + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send,
{
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let shop = self.clone();
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<Placed, Order>::default());
            Ok(match request.uri().path() {
                super::CREATE => grpc.unary(shop, request).await,
                super::WATCH => grpc.server_streaming(shop, request).await,
                _ => Status::unimplemented("no such method").into_http(),
            })
        })
    }
}
