//! The other half of fencing: compare, remember and write in one script.

mod ask;

use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Cmd, Value};
use semel_core::{Fence, GateAnswer, GateError, Key, Namespace, Refusal, StoreError};

use crate::script::{Doing, Script};
use crate::trouble::Trouble;
use ask::{Ask, Guarded};

/// A gate for keys under locks: in one script it refuses a fence that is smaller than the last one
/// seen, remembers one that is not, and writes the key that the lock guards.
///
/// It works on the caller's own connection, alone, behind Sentinel or in a Cluster.
///
/// ```no_run
/// # async fn show(fence: semel_core::Fence) -> Result<(), Box<dyn std::error::Error>> {
/// use semel_core::GateAnswer;
/// use semel_redis::{FenceGate, redis};
///
/// let client = redis::Client::open("redis://127.0.0.1/")?;
/// let mut connection = client.get_multiplexed_async_connection().await?;
///
/// let gate = FenceGate::new();
/// let total = format!("{}:total", FenceGate::tag("orders:42")?);   // {orders:42}:total
/// match gate.set(&mut connection, "orders:42", fence, &total, "1999").await? {
///     GateAnswer::Passed => {}
///     GateAnswer::Refused { seen } => eprintln!("fence {seen} was here: the lock is lost"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Names, and Cluster
///
/// The entry of a resource is `semel:fence:{<resource>}`, with `%`, `{` and `}` in the resource
/// written as `%25`, `%7B` and `%7D`. In a Cluster a script can only work on keys of one slot, so
/// there the guarded key must have the same tag, from [`FenceGate::tag`]; any other is refused by
/// the server (`CROSSSLOT`), and nothing is done. Elsewhere its name is free.
///
/// # How long a fence is remembered
///
/// For good, unless [`FenceGate::keep`] says otherwise: one entry of about a hundred bytes for each
/// resource. The server must not evict (`maxmemory-policy noeviction`), and forgets what a fail-over
/// loses or a wipe removes: then the next fence is taken for the first. Where late writes must not
/// get through that either, the guarded data and the gate belong into a database.
#[derive(Debug, Clone)]
pub struct FenceGate {
    namespace: String,
    keep: Option<Duration>,
}

impl FenceGate {
    /// A gate whose entries are kept for good, under `semel`.
    #[must_use]
    pub fn new() -> Self {
        Self { namespace: "semel".to_owned(), keep: None }
    }

    /// Entries under this namespace: `<namespace>:fence:{<resource>}`. All who guard the same
    /// resource must name the same one.
    #[must_use]
    pub fn in_namespace(namespace: &Namespace) -> Self {
        Self { namespace: namespace.name().to_owned(), keep: None }
    }

    /// Forgets a resource when no fence has passed for so long; at least a millisecond, at most ten
    /// years, and what is outside of that is taken as the nearest.
    ///
    /// A holder that comes later than this passes: choose it well above the longest time that work
    /// can stand still and go on, machines asleep and queues included.
    #[must_use]
    pub fn keep(mut self, keep: Duration) -> Self {
        const MOST: Duration = Duration::from_secs(10 * 366 * 24 * 3_600);
        self.keep = Some(keep.clamp(Duration::from_millis(1), MOST));
        self
    }

    /// The tag that puts a key into the slot of this resource's entry: `{<resource>}`.
    ///
    /// # Errors
    ///
    /// [`GateError::Resource`]: no lock can have that name.
    pub fn tag(resource: &str) -> Result<String, GateError> {
        // For its grammar: what can't be the name of a lock is guarded by none.
        Key::fence(resource)?;
        let mut tag = String::with_capacity(resource.len() + 2);
        tag.push('{');
        for char in resource.chars() {
            match char {
                '%' => tag.push_str("%25"),
                '{' => tag.push_str("%7B"),
                '}' => tag.push_str("%7D"),
                char => tag.push(char),
            }
        }
        tag.push('}');
        Ok(tag)
    }

    /// Shows a fence, and remembers one that passes. What follows on it is a step of its own: use
    /// [`FenceGate::set`] and [`FenceGate::delete`] for what must not be late at all.
    ///
    /// One round trip.
    ///
    /// # Errors
    ///
    /// [`GateError::Resource`] before anything is asked; [`GateError::Store`] when the server
    /// fails, or holds under the entry's name what is no fence (`Damaged`). After `Unknown` it may
    /// have been done: doing it again is right.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may be done or not; doing it again is right.
    pub async fn check(
        &self,
        connection: &mut impl ConnectionLike,
        resource: &str,
        fence: Fence,
    ) -> Result<GateAnswer, GateError> {
        self.ask(connection, resource, fence, Guarded::Nothing).await
    }

    /// Sets a key if the fence passes, in the same step. The key has no expiry afterwards.
    ///
    /// # Errors
    ///
    /// As [`FenceGate::check`]; whatever it is but `Unknown`, the key was not set.
    ///
    /// # Cancel safety
    ///
    /// As [`FenceGate::check`].
    pub async fn set(
        &self,
        connection: &mut impl ConnectionLike,
        resource: &str,
        fence: Fence,
        key: &str,
        value: impl AsRef<[u8]>,
    ) -> Result<GateAnswer, GateError> {
        let guarded = Guarded::Set { key, value: value.as_ref() };
        self.ask(connection, resource, fence, guarded).await
    }

    /// Deletes a key if the fence passes, in the same step.
    ///
    /// # Errors
    ///
    /// As [`FenceGate::set`].
    ///
    /// # Cancel safety
    ///
    /// As [`FenceGate::check`].
    pub async fn delete(
        &self,
        connection: &mut impl ConnectionLike,
        resource: &str,
        fence: Fence,
        key: &str,
    ) -> Result<GateAnswer, GateError> {
        self.ask(connection, resource, fence, Guarded::Delete { key }).await
    }

    async fn ask(
        &self,
        connection: &mut impl ConnectionLike,
        resource: &str,
        fence: Fence,
        guarded: Guarded<'_>,
    ) -> Result<GateAnswer, GateError> {
        let entry = format!("{}:fence:{}", self.namespace, Self::tag(resource)?);
        if guarded.key() == Some(&*entry) {
            let message = "the guarded key is the gate's own entry";
            return Err(StoreError::refused(Refusal::Unusable, message).into());
        }
        let ask = Ask { entry: &entry, fence, keep: self.keep, guarded };
        let reply = match sent(connection, &ask.by_hash()).await {
            Err(Trouble::NoScript) => sent(connection, &ask.by_source()).await,
            reply => reply,
        };
        let reply = reply.map_err(|trouble| trouble.failure(Doing::Write).error())?;
        Ok(ask::answer(reply)?)
    }
}

impl Default for FenceGate {
    fn default() -> Self {
        Self::new()
    }
}

async fn sent(connection: &mut impl ConnectionLike, command: &Cmd) -> Result<Value, Trouble> {
    let reply = connection.req_packed_command(command).await;
    // A connection may hand an error over as a value.
    reply.and_then(Value::extract_error).map_err(|error| Trouble::of(&error))
}
