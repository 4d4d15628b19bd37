//! The order service by itself: callers, orders, payments, refusals.

use crate::support::{ALICE, BOB, CAROL, Call, Files, Http, keyboard, over_both};

over_both! {
    async fn nobody_gets_in_without_a_known_key(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        for call in [
            keyboard("k").without("authorization"),
            keyboard("k").by("dev-mallory-key"),
            keyboard("k").set("authorization", "Bearer dev-alice-key"),
            Call::get("/orders").without("authorization"),
        ] {
            let answer = client.send(call).await;
            answer.assert_fresh(401);
            assert_eq!(answer.header("www-authenticate"), Some("ApiKey"));
            assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        }
        // What was refused outside took no key: it is free for the right caller.
        client.send(keyboard("k")).await.assert_fresh(201);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn a_tenant_sees_its_own_orders_and_no_others(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let made = client.send(keyboard("k")).await;
        let path = made.header("location").unwrap();
        let order = made.json();
        assert_eq!((&order["tenant"], &order["subject"]), (&"acme".into(), &"alice".into()));

        for (who, list, one) in [(ALICE, 1, 200), (BOB, 1, 200), (CAROL, 0, 404)] {
            let orders = client.send(Call::get("/orders").by(who)).await;
            assert_eq!(orders.json().as_array().unwrap().len(), list, "{who}");
            let answer = client.send(Call::get(path).by(who)).await;
            assert_eq!(answer.status, one, "{who}");
            if one == 200 {
                assert_eq!(answer.json(), order);
            }
        }
    }

    async fn an_order_is_deleted_once_and_then_absent(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        client.send(keyboard("k")).await.assert_fresh(201);
        let delete = || Call::new(http::Method::DELETE, "/orders/1");
        client.send(delete().by(CAROL)).await.assert_fresh(404);
        client.send(delete()).await.assert_fresh(204);
        client.send(delete()).await.assert_fresh(404);
        assert!(server.orders().await.is_empty());
        assert_eq!(server.executions("DELETE /orders/{id}").await, 3);
    }

    async fn a_payment_needs_an_order_of_the_tenant(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        client.send(keyboard("order")).await.assert_fresh(201);
        let pay = |key: &str| Call::post("/payments", r#"{"order":1,"amount":7}"#).key(key);
        let paid = client.send(pay("a")).await;
        paid.assert_fresh(201);
        assert_eq!((&paid.json()["order"], &paid.json()["amount"]), (&1.into(), &7.into()));
        client.send(pay("b").by(CAROL)).await.assert_fresh(422);
        assert_eq!(server.executions("POST /payments").await, 2);
    }

    async fn what_the_handler_refuses_is_its_own_problem_and_is_recorded(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        for (body, status) in [("{", 400), (r#"{"name":" ","amount":0}"#, 422)] {
            let call = || Call::post("/orders", body).key(&format!("refused-{status}"));
            let first = client.send(call()).await;
            first.assert_fresh(status);
            assert_eq!(first.header("content-type"), Some("application/problem+json"));
            client.send(call()).await.assert_replays(&first);
        }
        assert_eq!(server.executions("POST /orders").await, 2);
        assert!(server.orders().await.is_empty());
    }

    async fn an_unknown_wish_is_refused_with_the_known_ones(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let answer = server.client(http).await.send(keyboard("k").demo("explode")).await;
        answer.assert_fresh(400);
        assert!(answer.json()["detail"].as_str().unwrap().contains("fail-once"));
    }

    async fn unknown_paths_and_methods_are_refused_and_take_no_key(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        client.send(keyboard("k").path("/nowhere")).await.assert_fresh(404);
        let wrong = client.send(keyboard("k").path("/orders/1")).await;
        wrong.assert_fresh(405);
        assert!(wrong.header("allow").unwrap().contains("DELETE"));
        client.send(keyboard("k")).await.assert_fresh(201);
    }
}
