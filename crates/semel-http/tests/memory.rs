//! How much memory a long answer takes. In a process of its own, for it looks at the whole of it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::convert::Infallible;
use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use semel::timer::SystemClock;
use semel::{MemoryStore, Once};
use semel_http::{Anonymous, IdempotencyLayer};
use tower::{Layer, ServiceExt};

const MIB: usize = 1 << 20;

/// The most memory that was resident since [`forget_the_most`], in bytes.
fn most() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

fn forget_the_most() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Streams so many MiB through the layer, and says how much was read.
async fn stream(once: &Once, key: &str, mib: usize, says: bool) -> usize {
    let handler = tower::service_fn(move |_| async move {
        let pieces = stream::iter(0..mib * 16)
            .map(|_| Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'x'; MIB / 16]))));
        let mut response = Response::builder();
        if says {
            response = response.header("content-length", mib * MIB);
        }
        Ok::<_, Infallible>(response.body(StreamBody::new(pieces)).unwrap())
    });
    let service = IdempotencyLayer::new(once.clone()).anonymous(Anonymous::Shared).layer(handler);
    let request = Request::post("/").header("idempotency-key", key);
    let response = service.oneshot(request.body(Full::<Bytes>::default()).unwrap()).await.unwrap();
    let mut body = response.into_body();
    let mut read = 0;
    while let Some(frame) = body.frame().await {
        read += frame.unwrap().into_data().unwrap().len();
    }
    read
}

use futures_util::StreamExt;

#[tokio::test]
async fn a_hundred_mib_take_less_than_four() {
    let once = Once::new(Arc::new(MemoryStore::new(SystemClock::new())));
    // The first time everything that is set up once is set up.
    for says in [false, true] {
        stream(&once, &format!("warm-{says}"), 2, says).await;
    }
    for says in [false, true] {
        forget_the_most();
        let before = most();
        assert_eq!(stream(&once, &format!("k-{says}"), 100, says).await, 100 * MIB);
        let taken = most() - before;
        assert!(taken < 4 * MIB, "{taken} bytes more were in memory at once");
    }
    // The measure can tell: what is held shows.
    forget_the_most();
    let before = most();
    let held = vec![1_u8; 8 * MIB];
    assert!(most() - before >= 4 * MIB, "{} bytes are held and don't show", held.len());
}
