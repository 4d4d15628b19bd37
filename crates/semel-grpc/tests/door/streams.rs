//! Streams pass as they come.

use futures_util::StreamExt;
use semel_grpc::GrpcIdempotencyLayer;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::support::{Placed, Running, Shop, WATCH, layer, once};

fn placed(number: u64) -> Placed {
    Placed { number, sku: "pen".to_owned() }
}

fn watched() -> (Shop, mpsc::UnboundedSender<Placed>) {
    let (send, receive) = mpsc::unbounded_channel();
    let receive = std::sync::Mutex::new(Some(receive));
    let shop = Shop::new().watched(move || {
        let receive = receive.lock().unwrap().take();
        match receive {
            Some(receive) => UnboundedReceiverStream::new(receive).map(Ok).boxed(),
            None => futures_util::stream::empty().boxed(),
        }
    });
    (shop, send)
}

#[tokio::test]
async fn a_stream_that_passes_is_not_held_back() {
    let (shop, send) = watched();
    let server = Running::serve(layer(), shop).await;
    let client = server.client().await;
    let mut stream = client.watch("k").await.unwrap().into_inner();
    for number in 1..=3 {
        // Each is there before the next one is sent.
        send.send(placed(number)).unwrap();
        assert_eq!(stream.message().await.unwrap(), Some(placed(number)));
    }
    drop(send);
    assert_eq!(stream.message().await.unwrap(), None);
    // Its key was nobody's.
    assert_eq!(client.create("k").await.unwrap().get_ref().number, 1);
}

/// Said to be unary and none: it is let through once that shows, and replayed whole.
#[tokio::test]
async fn a_stream_that_was_said_to_be_unary_passes_once_its_second_message_comes() {
    let (shop, send) = watched();
    let layer = GrpcIdempotencyLayer::new(once()).unary(WATCH);
    let server = Running::serve(layer, shop).await;
    let client = server.client().await;
    send.send(placed(1)).unwrap();
    send.send(placed(2)).unwrap();
    let mut stream = client.watch("k").await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(placed(1)));
    assert_eq!(stream.message().await.unwrap(), Some(placed(2)));
    send.send(placed(3)).unwrap();
    assert_eq!(stream.message().await.unwrap(), Some(placed(3)));
    drop(send);
    assert_eq!(stream.message().await.unwrap(), None);
    let again = client.watch("k").await.unwrap().into_inner();
    let again: Vec<_> = again.map(|message| message.unwrap().number).collect().await;
    assert_eq!(again, [1, 2, 3]);
}
