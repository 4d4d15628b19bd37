use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Cut, Direction, FaultProxy};
use crate::time::within;

const LIMIT: Duration = Duration::from_secs(10);

/// A server that sends back what it gets, and the proxy in front of it.
async fn echo() -> FaultProxy {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.into_split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    FaultProxy::start(address).await.expect("a proxy")
}

async fn connect(proxy: &FaultProxy) -> TcpStream {
    TcpStream::connect(proxy.address()).await.expect("a connection")
}

async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).await.expect("a write");
}

/// All that comes until the end, and whether that was an orderly one.
async fn rest(stream: &mut TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let read = within(LIMIT, "the end", stream.read_to_end(&mut bytes)).await.expect("an end");
    (bytes, read.is_ok())
}

async fn exactly(stream: &mut TcpStream, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let read = within(LIMIT, "an echo", stream.read_exact(&mut bytes)).await;
    read.expect("in time").expect("a read");
    bytes
}

#[tokio::test]
async fn bytes_pass_both_ways_and_are_counted() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    send(&mut stream, b"hello").await;
    assert_eq!(exactly(&mut stream, 5).await, b"hello");
    assert_eq!(proxy.passed(Direction::ToServer), 5);
    assert_eq!(proxy.passed(Direction::ToClient), 5);
    assert_eq!(proxy.accepted(), 1);
}

#[tokio::test]
async fn a_connection_is_cut_after_exactly_so_many_bytes() {
    let proxy = echo().await;
    for after in 0..5 {
        let mut stream = connect(&proxy).await;
        proxy.cut_after(Direction::ToClient, after, Cut::Close);
        send(&mut stream, b"hello").await;
        let (bytes, orderly) = rest(&mut stream).await;
        assert_eq!(bytes.len() as u64, after, "so many must arrive");
        assert!(orderly, "it must end in an orderly way");
        assert!(!proxy.uncut(Direction::ToClient), "the rule must be over");
    }
    // Whatever is cut on the way there never comes back.
    let mut stream = connect(&proxy).await;
    proxy.cut_after(Direction::ToServer, 3, Cut::Close);
    let before = proxy.passed(Direction::ToServer);
    send(&mut stream, b"hello").await;
    let (bytes, _) = rest(&mut stream).await;
    assert!(bytes.len() <= 3, "no more than three can come back");
    assert_eq!(proxy.passed(Direction::ToServer) - before, 3);
}

#[tokio::test]
async fn a_reset_is_no_orderly_end() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    send(&mut stream, b"hello").await;
    exactly(&mut stream, 5).await;
    proxy.sever(Cut::Reset);
    assert!(!rest(&mut stream).await.1, "a reset must show as one");
}

#[tokio::test]
async fn a_half_close_leaves_the_other_direction() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    proxy.cut_after(Direction::ToServer, 2, Cut::HalfClose);
    send(&mut stream, b"hello").await;
    // The server sees the end of what we send, and its answer still comes.
    assert_eq!(rest(&mut stream).await, (b"he".to_vec(), true));
}

#[tokio::test]
async fn what_is_held_arrives_after_its_release() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    proxy.hold(Direction::ToClient);
    send(&mut stream, b"hello").await;
    let early = within(Duration::from_millis(50), "nothing", stream.read_u8()).await;
    assert!(early.is_err(), "nothing may arrive while it is held");
    assert_eq!(proxy.passed(Direction::ToServer), 5, "the other way must be open");
    proxy.release(Direction::ToClient);
    assert_eq!(exactly(&mut stream, 5).await, b"hello");
}

#[tokio::test]
async fn a_silent_connection_neither_carries_nor_ends() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    send(&mut stream, b"hello").await;
    exactly(&mut stream, 5).await;
    proxy.sever(Cut::Silence);
    send(&mut stream, b"again").await;
    let seen = within(Duration::from_millis(50), "nothing", stream.read_u8()).await;
    assert!(seen.is_err(), "neither bytes nor an end may be seen");
    // Others are not concerned.
    let mut other = connect(&proxy).await;
    send(&mut other, b"other").await;
    assert_eq!(exactly(&mut other, 5).await, b"other");
}

#[tokio::test]
async fn dropped_bytes_never_arrive_and_delayed_ones_do() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    proxy.drop_bytes(Direction::ToServer, true);
    send(&mut stream, b"lost").await;
    let seen = within(Duration::from_millis(50), "nothing", stream.read_u8()).await;
    assert!(seen.is_err(), "what was dropped can't come back");
    proxy.drop_bytes(Direction::ToServer, false);
    proxy.delay(Direction::ToServer, Duration::from_millis(20));
    send(&mut stream, b"late").await;
    assert_eq!(exactly(&mut stream, 4).await, b"late");
}

#[tokio::test]
async fn a_piece_is_passed_on_as_something_else_once() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    proxy.substitute(Direction::ToClient, *b"other");
    send(&mut stream, b"hello").await;
    assert_eq!(exactly(&mut stream, 5).await, b"other");
    send(&mut stream, b"hello").await;
    assert_eq!(exactly(&mut stream, 5).await, b"hello");
}

#[tokio::test]
async fn whoever_is_refused_is_cut_off() {
    let proxy = echo().await;
    proxy.refuse(true);
    if let Ok(mut stream) = TcpStream::connect(proxy.address()).await {
        let _ = stream.write_all(b"hello").await;
        assert_eq!(rest(&mut stream).await.0, b"", "nothing may come back");
    }
    proxy.refuse(false);
    let mut stream = connect(&proxy).await;
    send(&mut stream, b"hello").await;
    assert_eq!(exactly(&mut stream, 5).await, b"hello");
}
