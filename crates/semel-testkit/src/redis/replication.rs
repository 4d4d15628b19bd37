//! Replicas that have all that their primary has written.

use crate::error::TestkitResult;
use crate::redis::server::{LIMIT, RedisServer};
use crate::time::eventually;

/// Waits until these servers follow `primary`, have all that it has written by now, and it counts
/// them among those who acknowledge.
///
/// What both say of themselves is compared. `WAIT` alone would not do: it waits for what its own
/// connection wrote, and on a new one that is nothing.
pub(super) async fn in_step(primary: &RedisServer, replicas: &[&RedisServer]) -> TestkitResult<()> {
    for replica in replicas {
        eventually(LIMIT, "a replica in step", || async {
            let written = offset(primary, "master_repl_offset").await?;
            let link = replica.info("replication", "master_link_status").await.ok()??;
            let has = offset(replica, "slave_repl_offset").await?;
            (link == "up" && has >= written).then_some(())
        })
        .await?;
    }
    eventually(LIMIT, "replicas that acknowledge", || async {
        let count = i64::try_from(replicas.len()).ok()?;
        let acked = primary.command(&["WAIT", &count.to_string(), "100"]).await.ok()?;
        (acked.number()? >= count).then_some(())
    })
    .await
}

async fn offset(server: &RedisServer, field: &str) -> Option<u64> {
    server.info("replication", field).await.ok()??.parse().ok()
}
