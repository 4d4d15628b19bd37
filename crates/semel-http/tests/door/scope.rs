//! Whose key it is, and what it belongs to.

use http::{HeaderValue, StatusCode};
use semel::{BindOperation, Code, KeyStorage, Scope};
use semel_http::Anonymous;

use crate::support::logs::Logs;
use crate::support::{Door, Order, once, order, policy};

fn by(scope: Option<Scope>) -> Order {
    let mut order = order("k", "{}");
    order.extensions_mut().clear();
    if let Some(scope) = scope {
        order.extensions_mut().insert(scope);
    }
    order
}

fn of(tenant: &str, subject: &str) -> Scope {
    Scope::new(tenant, subject).unwrap()
}

/// Callers of different scopes never share a record, however their names are put together.
#[tokio::test]
async fn tenants_and_subjects_never_share_a_key() {
    for storage in [KeyStorage::Plain, KeyStorage::digest([7; 32])] {
        let policy = policy(|policy| policy.key_storage(storage));
        let door = Door::counting(once(), |layer| layer.policy(policy));
        let scopes = [
            of("acme", "alice"),
            of("acme", "bob"),
            of("globex", "alice"),
            of("alice", "acme"),
            of("acme:alice", "x"),
            of("acme", "alice:x"),
            of("a", "cme:alice"),
            of("acme", "alice%3Ax"),
            of("acme", "-"),
            of("-", "alice"),
            Scope::anonymous().with_subject("alice").unwrap(),
            Scope::anonymous().with_tenant("acme").unwrap(),
            Scope::anonymous(),
            of("ACME", "alice"),
            of("acme", "alice "),
        ];
        for (n, scope) in scopes.iter().enumerate() {
            let answer = door.send(by(Some(scope.clone()))).await;
            answer.assert_is_the_handlers(201, &format!("order {}", n + 1));
        }
        for (n, scope) in scopes.iter().enumerate() {
            let answer = door.send(by(Some(scope.clone()))).await;
            answer.assert_is_the_handlers(201, &format!("order {}", n + 1));
            assert!(answer.is_marked());
        }
    }
}

/// C1: without an identity all callers would share one space of keys. That is refused, and the
/// log says what is missing; it can be chosen.
#[tokio::test]
async fn c1_a_request_without_a_scope_is_a_fault_of_the_service_unless_that_is_chosen() {
    let (logs, _guard) = Logs::begin();
    let door = Door::counting(once(), |layer| layer);
    let refused = door.send(by(None)).await;
    assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert_eq!(refused.json()["sameKey"], true);
    assert_eq!(door.runs.count(), 0);
    assert!(logs.text().contains("no Scope in the request's extensions"), "{}", logs.text());

    let door = Door::counting(once(), |layer| layer.anonymous(Anonymous::Shared));
    for scope in [None, None, Some(Scope::anonymous())] {
        door.send(by(scope)).await.assert_is_the_handlers(201, "order 1");
    }
    // Who is known still has keys of their own.
    door.send(by(Some(of("acme", "alice")))).await.assert_is_the_handlers(201, "order 2");
}

/// C6: a token that was refreshed between two tries is the same caller, and two callers behind
/// one address or one token are two.
#[tokio::test]
async fn c6_the_scope_is_the_subject_not_the_credential() {
    let door = Door::counting(once(), |layer| layer);
    for token in ["Bearer first", "Bearer refreshed"] {
        let mut request = by(Some(of("acme", "alice")));
        request.headers_mut().insert("authorization", HeaderValue::from_static(token));
        request.headers_mut().insert("x-forwarded-for", HeaderValue::from_static("192.0.2.1"));
        door.send(request).await.assert_is_the_handlers(201, "order 1");
    }
    let mut bob = by(Some(of("acme", "bob")));
    bob.headers_mut().insert("authorization", HeaderValue::from_static("Bearer first"));
    bob.headers_mut().insert("x-forwarded-for", HeaderValue::from_static("192.0.2.1"));
    door.send(bob).await.assert_is_the_handlers(201, "order 2");
}

/// X1: a client's key can't name anything but its own record.
#[tokio::test]
async fn x1_keys_stay_within_their_space() {
    let door = Door::counting(once(), |layer| layer);
    let keys = ["user", "idem:acme:alice:k", "lock:orders", "..", "k%3A", "k:", "-", "%"];
    for key in keys {
        door.send(order(key, "{}")).await;
    }
    assert_eq!(door.runs.count(), u32::try_from(keys.len()).unwrap());
    let page = door.once.store().scan("", None, 100).await.unwrap();
    assert_eq!(page.entries.len(), keys.len());
    for (key, _) in page.entries {
        assert!(key.as_str().starts_with("idem:acme:alice:"), "{key:?}");
        assert_eq!(key.as_str().matches(':').count(), 3, "{key:?}");
    }
}

/// With a digest neither the store nor what looks into it shows the client's key.
#[tokio::test]
async fn a_digest_keeps_the_clients_key_from_the_store() {
    let digest = policy(|policy| policy.key_storage(KeyStorage::digest([1; 32])));
    let door = Door::counting(once(), |layer| layer.policy(digest));
    door.send(order("order-secret", "{}")).await;
    assert!(door.send(order("order-secret", "{}")).await.is_marked());
    let page = door.once.store().scan("", None, 10).await.unwrap();
    let [(key, _)] = &page.entries[..] else { panic!("one record") };
    for part in ["secret", "acme", "alice"] {
        assert!(!key.as_str().contains(part), "{key:?}");
    }
}

fn refund(key: &str) -> Order {
    let mut refund = order(key, "{}");
    *refund.uri_mut() = "/refunds".parse().unwrap();
    refund
}

/// D4: a key that belongs to another operation is refused, and its record is not touched.
#[tokio::test]
async fn d4_a_key_belongs_to_one_operation() {
    let door = Door::counting(once(), |layer| layer);
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    door.send(refund("k")).await.assert_is(Code::KeyReused);
    assert!(door.post("k", "{}").await.is_marked());
    let mut put = order("k", "{}");
    *put.method_mut() = http::Method::PUT;
    door.send(put).await.assert_is(Code::KeyReused);
    assert_eq!(door.runs.count(), 1);
}

#[tokio::test]
async fn or_each_operation_has_keys_of_its_own() {
    for storage in [KeyStorage::Plain, KeyStorage::digest([7; 32])] {
        let separate =
            policy(|policy| policy.bind_operation(BindOperation::Separate).key_storage(storage));
        let door = Door::counting(once(), |layer| layer.policy(separate));
        for _ in 0..2 {
            door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
            door.send(refund("k")).await.assert_is_the_handlers(201, "order 2");
        }
        assert_eq!(door.runs.count(), 2);
    }
}

#[tokio::test]
async fn a_named_operation_has_its_name_whatever_the_path() {
    let shared = once();
    let orders = Door::counting(shared.clone(), |layer| layer.operation("orders.create"));
    let refunds = Door::counting(shared, |layer| layer.operation("refunds.create"));
    orders.post("k", "{}").await;
    let told = refunds.post("k", "{}").await;
    told.assert_is(Code::KeyReused);
    let params = told.json()["params"].clone();
    assert_eq!(params["operation"], "refunds.create");
    assert_eq!(params["recorded"], "orders.create");
}

/// A path of any length is an operation.
#[tokio::test]
async fn long_paths_are_protected_too() {
    let door = Door::counting(once(), |layer| layer);
    let at = |path: &str| {
        let mut order = order("k", "{}");
        *order.uri_mut() = path.parse().unwrap();
        order
    };
    let long = format!("/{}", "x".repeat(8_000));
    for _ in 0..2 {
        door.send(at(&long)).await.assert_is_the_handlers(201, "order 1");
    }
    door.send(at(&format!("{long}y"))).await.assert_is(Code::KeyReused);
}
