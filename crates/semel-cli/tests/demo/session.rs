//! The session that the demo prints, word for word.

use crate::support::{Answer, Call, Files, Http, Server, over_both};

/// The first curl line of the banner.
fn printed() -> Call {
    Call::post("/orders", r#"{"name":"Keyboard","amount":2}"#)
        .add("baggage", "xihan.idempotency-key=order-20261031-0001")
}

async fn send(server: &Server, http: Http) -> Answer {
    server.client(http).await.send(printed()).await
}

over_both! {
    async fn an_order_sent_again_is_the_same_order_also_after_kill_9(http) {
        let files = Files::new();
        let server = files.start(&[]).await;
        let first = send(&server, http).await;
        first.assert_fresh(201);
        assert_eq!(first.header("location"), Some("/orders/1"));
        let order = first.json();
        assert_eq!((&order["name"], &order["amount"]), (&"Keyboard".into(), &2.into()));

        send(&server, http).await.assert_replays(&first);
        assert_eq!(server.orders().await, ["Keyboard"]);

        server.kill().await;
        let server = files.start(&[]).await;
        send(&server, http).await.assert_replays(&first);
        assert_eq!(server.orders().await, ["Keyboard"]);
        assert_eq!(server.executions("POST /orders").await, 1);
    }
}
