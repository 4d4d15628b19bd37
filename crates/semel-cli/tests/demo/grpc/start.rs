//! Starting with a gRPC face.

use super::{Grpc, start};
use crate::support::{Files, refused, until};

#[tokio::test]
async fn the_banner_says_how_to_try_it_with_grpcurl() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let log = until("the whole of the banner", async || {
        let log = files.log();
        log.contains("Ctrl-C").then_some(log)
    })
    .await;
    let at = format!("localhost:{} semel.demo.v1.Orders/Create", server.grpc.unwrap().port());
    for part in ["grpcurl -plaintext", "-H 'idempotency-key: order-1'", at.as_str()] {
        assert!(log.contains(part), "{part:?} is missing in: {log}");
    }
}

#[tokio::test]
async fn without_the_flag_there_is_no_grpc() {
    let files = Files::new();
    let server = files.start(&[]).await;
    assert!(server.grpc.is_none());
    until("the banner", async || files.log().contains("Ctrl-C").then_some(())).await;
    assert!(!files.log().contains("grpcurl"));
}

#[tokio::test]
async fn a_wrong_or_taken_address_is_refused_by_the_flags_name() {
    let (code, message) = refused(&["--grpc-listen=nowhere"]).await;
    assert_eq!(code, 64, "{message}");
    assert!(message.contains("--grpc-listen") && message.contains("HOST:PORT"), "{message}");
    let files = Files::new();
    let server = start(&files, &[]).await;
    let taken = server.grpc.unwrap().to_string();
    let (code, message) = files.refused(&["--grpc-listen", &taken]).await;
    assert_eq!(code, 69, "{message}");
    assert!(message.contains("--grpc-listen") && message.contains("in use"), "{message}");
    Grpc::of(&server).await.create("k").await.unwrap();
}
