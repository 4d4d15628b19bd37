//! D1, D2, N6: many identical calls at once, one execution.

use std::sync::Arc;

use tokio::sync::Barrier;

use crate::support::{Answer, Call, Client, Files, Http, Server, keyboard, over_both};

/// Sends the same call `count` times at one moment, spread over the clients.
async fn together(clients: &[Client], count: usize, call: Call) -> Vec<Answer> {
    let gate = Arc::new(Barrier::new(count));
    let calls: Vec<_> = (0..count)
        .map(|number| {
            let (client, call) = (clients[number % clients.len()].clone(), call.clone());
            let gate = Arc::clone(&gate);
            tokio::spawn(async move {
                gate.wait().await;
                client.send(call).await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers
}

/// One fresh answer, and all others its replays.
async fn assert_one_execution(answers: &[Answer], server: &Server) {
    let fresh: Vec<_> = answers.iter().filter(|answer| !answer.is_replay()).collect();
    assert_eq!(fresh.len(), 1, "{fresh:?}");
    fresh[0].assert_fresh(201);
    for answer in answers {
        answer.assert_equals(fresh[0]);
    }
    assert_eq!(server.executions("POST /orders").await, 1);
    assert_eq!(server.orders().await.len(), 1);
}

async fn on_one_process(count: usize, call: Call, http: Http) {
    let server = Files::new_server(&[]).await;
    let client = server.1.client(http).await;
    let answers = together(&[client], count, call).await;
    assert_one_execution(&answers, &server.1).await;
}

async fn on_two_processes(count: usize, call: Call, http: Http) {
    let files = Files::new();
    let (one, two) = (files.start(&[]).await, files.start(&[]).await);
    let clients = [one.client(http).await, two.client(http).await];
    let answers = together(&clients, count, call).await;
    assert_one_execution(&answers, &one).await;
}

over_both! {
    async fn five_at_once_run_once(http) {
        on_one_process(5, keyboard("k"), http).await;
    }

    async fn two_hundred_at_once_run_once(http) {
        on_one_process(200, keyboard("k"), http).await;
    }

    async fn two_hundred_at_once_wait_for_a_slow_one(http) {
        on_one_process(200, keyboard("k").demo("slow=500ms"), http).await;
    }

    async fn five_at_once_run_once_over_two_processes(http) {
        on_two_processes(5, keyboard("k"), http).await;
    }

    async fn two_hundred_at_once_run_once_over_two_processes(http) {
        on_two_processes(200, keyboard("k"), http).await;
    }

    async fn two_hundred_at_once_wait_for_a_slow_one_over_two_processes(http) {
        on_two_processes(200, keyboard("k").demo("slow=500ms"), http).await;
    }

    async fn two_hundred_different_calls_at_once_all_run(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let calls: Vec<_> = (0..200)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move { client.send(keyboard(&format!("k{number}"))).await })
            })
            .collect();
        for call in calls {
            call.await.unwrap().assert_fresh(201);
        }
        assert_eq!(server.executions("POST /orders").await, 200);
        assert_eq!(server.orders().await.len(), 200);
    }
}
