//! A server that answers what it should not.

use semel_core::{Expect, Store, StoreErrorKind, Touch};
use semel_testkit::{Direction, FaultProxy, RedisServer};

use crate::support::{hasty, key, kind, lasting, open, patient, recovered, value};

fn nested(depth: usize) -> Vec<u8> {
    "*1\r\n".repeat(depth).into_bytes()
}

/// What no script of ours answers.
fn answers() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 18] = [
        b"+OK\r\n",
        b"_\r\n",
        b":0\r\n",
        b"$-1\r\n",
        b"*0\r\n",
        b"*1\r\n:0\r\n",
        b"*2\r\n:0\r\n$3\r\nabc\r\n",
        b"*2\r\n:0\r\n:-5\r\n",
        b"*4\r\n:1\r\n:1\r\n:1\r\n$1\r\nx\r\n",
        b"*6\r\n:0\r\n:100\r\n:5\r\n:50\r\n:50\r\n$1\r\nv\r\n",
        b"*2\r\n:9\r\n:9\r\n",
        b"%1\r\n+a\r\n:1\r\n",
        b"#t\r\n",
        b"garbage\r\n",
        b"\xff\xfe\x00\r\n",
        b"$536870912\r\nshort",
        b"*2147483647\r\n:1\r\n",
        b"-ERR no such thing\r\n",
    ];
    let mut answers: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
    answers.extend([nested(10), nested(50_000), Vec::new()]);
    answers
}

/// Never taken for absence, never for a won swap, and no other call gets the rest of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_none_of_ours_is_unknown_and_ends_its_connection() {
    let server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let store = open(hasty(&server.url_at(proxy.address()))).await;
    let direct = open(patient(&server.url())).await;
    for (number, answer) in answers().into_iter().enumerate() {
        recovered(&store).await;
        let key = key(&format!("k:{number}"));
        proxy.substitute(Direction::ToClient, answer);
        let swap = store.swap(&key, Expect::Absent, lasting("v")).await;
        assert_eq!(kind(swap), StoreErrorKind::Unknown, "answer {number}");
        assert_eq!(value(&direct, &key).await.expect("it was applied"), "v");
        recovered(&store).await;
        assert_eq!(value(&store, &key).await.expect("the next answer is whole"), "v");
    }
}

/// An answer too many: all after it would be another's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_answers_to_one_question_never_make_others_get_the_wrong_one() {
    let server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let store = open(hasty(&server.url_at(proxy.address()))).await;
    for round in 0..20 {
        recovered(&store).await;
        proxy.substitute(Direction::ToClient, *b"*2\r\n:0\r\n:7\r\n*2\r\n:0\r\n:8\r\n");
        let first = store.read(&key("k"), Touch::No).await.expect("it looks like one of ours");
        assert_eq!(first.now.as_micros(), 7);
        // The second answer came while nobody asked: it is nobody's.
        let second = store.read(&key("k"), Touch::No).await.expect("a read");
        assert!(second.now.as_micros() > 1_000_000, "round {round}: {second:?}");
    }
}
