//! `semel fence check`.

use crate::support::Bench;

#[tokio::test]
async fn a_fence_passes_until_a_higher_one_was_seen() {
    let bench = Bench::new();
    for (fence, code) in
        [("7", 0), ("7", 0), ("9", 0), ("8", 1), ("9", 0), ("18446744073709551615", 0)]
    {
        let done = bench.run(["fence", "check", "orders", fence]).await;
        assert_eq!((done.code, done.out.as_str()), (code, ""), "{fence}: {}", done.err);
        assert_eq!(done.err.contains("has seen fence 9"), code == 1, "{}", done.err);
    }
    let json = bench.run(["fence", "check", "orders", "1", "--json"]).await;
    let told: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &told["passed"]), (1, &false.into()));
    assert_eq!(told["seen"], u64::MAX);
}

#[tokio::test]
async fn a_late_holder_is_kept_out_by_its_fence() {
    let bench = Bench::new();
    let semel = env!("CARGO_BIN_EXE_semel");
    let late = bench.locked("a", &[], "echo $SEMEL_LOCK_FENCE").await;
    let check = format!("{semel} fence check a $SEMEL_LOCK_FENCE && echo in");
    assert_eq!(bench.locked("a", &[], &check).await.out, "in\n");
    assert_eq!(bench.run(["fence", "check", "a", late.out.trim()]).await.code, 1);
}

#[tokio::test]
async fn what_is_no_fence_or_no_resource_is_64_and_a_store_that_is_away_69() {
    let bench = Bench::new();
    for (resource, fence) in
        [("a", "-1"), ("a", "x"), ("a", "18446744073709551616"), ("", "1"), ("a b", "1")]
    {
        assert_eq!(
            bench.run(["fence", "check", resource, fence]).await.code,
            64,
            "{resource} {fence}"
        );
    }
    let away = Bench::on("redis://127.0.0.1:1");
    assert_eq!(away.run(["fence", "check", "a", "1"]).await.code, 69);
}
