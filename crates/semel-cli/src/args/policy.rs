//! Flags of the idempotency policy. Unset means: what the preset says.

use clap::Args;

/// One flag for each row of the settings; texts are judged in `plan`.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Policy (what is not set follows the preset)")]
pub(crate) struct PolicyArgs {
    /// Bundle of policies to start from: default, rest, xihan, stripe, ietf
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,

    /// What is promised when an owner is gone: retryable, at_most_once, cooperative
    #[arg(long, value_name = "NAME")]
    pub(crate) guarantee: Option<String>,

    /// How long a finished call is remembered, from its completion [default: 24h]
    #[arg(long, value_name = "TIME")]
    pub(crate) time_to_live: Option<String>,

    /// Lease of a running call: the longest a key is blocked after a crash [default: 60s]
    #[arg(long, value_name = "TIME")]
    pub(crate) in_progress_time_to_live: Option<String>,

    /// How long the lease of one running call is renewed [default: 1h]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_execution: Option<String>,

    /// What a repeat does while the first call runs: wait, reject
    #[arg(long, value_name = "POLICY")]
    pub(crate) in_flight: Option<String>,

    /// How long a repeat waits for the first call [default: 5s]
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<String>,

    /// Retry-After of "still runs" answers: a time of whole seconds, or off [default: 5s]
    #[arg(long, value_name = "TIME")]
    pub(crate) retry_after: Option<String>,

    /// Which answers are recorded: final_below_500, all, success_only
    #[arg(long, value_name = "POLICY")]
    pub(crate) failures: Option<String>,

    /// What a panic does to the key: release, record, doubt
    #[arg(long, value_name = "POLICY")]
    pub(crate) on_exception: Option<String>,

    /// What a caller finds after an owner vanished: rerun, reject
    #[arg(long, value_name = "POLICY")]
    pub(crate) in_doubt: Option<String>,

    /// What happens while the store can't be reached: closed, open
    #[arg(long, value_name = "POLICY")]
    pub(crate) store_down: Option<String>,

    /// What a call without a key gets: require, optional
    #[arg(long, value_name = "POLICY")]
    pub(crate) missing_key: Option<String>,

    /// How the key's header is read: lenient (quoted or bare), strict (quoted)
    #[arg(long, value_name = "POLICY")]
    pub(crate) header_syntax: Option<String>,

    /// Header to read the key from; repeat it for several, in order [default: Idempotency-Key]
    #[arg(long, value_name = "NAME")]
    pub(crate) header_name: Vec<String>,

    /// Baggage member to read the key from; empty for none [default: xihan.idempotency-key]
    #[arg(long, value_name = "NAME")]
    pub(crate) baggage_key: Option<String>,

    /// Methods that are covered, with commas between them, or all [default: POST,PATCH,PUT]
    #[arg(long, value_name = "LIST")]
    pub(crate) methods: Option<String>,

    /// A key that is used for another operation: reject, separate
    #[arg(long, value_name = "POLICY")]
    pub(crate) bind_operation: Option<String>,

    /// What two requests with one key are compared by: request, body, off, or a JSONPath into the
    /// body, repeated for several [default: request]
    #[arg(long, value_name = "POLICY")]
    pub(crate) fingerprint: Vec<String>,

    /// Form a key must have: any, uuid, uuid-v7, ulid, pattern:REGEX
    #[arg(long, value_name = "FORMAT")]
    pub(crate) key_format: Option<String>,

    /// How the key is kept in the store: plain, digest
    #[arg(long, value_name = "POLICY")]
    pub(crate) key_storage: Option<String>,

    /// Secret of 64 hexadecimal digits for `--key-storage digest`; better set in the environment
    #[arg(long, value_name = "HEX", env = "SEMEL_KEY_SECRET", hide_env_values = true)]
    pub(crate) key_secret: Option<String>,

    /// Largest request body [default: 1MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_request_body: Option<String>,

    /// Largest response body that is kept for replay [default: 256KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_cached_response: Option<String>,

    /// What a repeat gets when the response was larger: unavailable, status
    #[arg(long, value_name = "POLICY")]
    pub(crate) oversized: Option<String>,

    /// Header that marks a replay; empty for none [default: Idempotent-Replayed]
    #[arg(long, value_name = "NAME")]
    pub(crate) replay_marker: Option<String>,

    /// What a vanished client means for its call: finish, cancel
    #[arg(long, value_name = "POLICY")]
    pub(crate) on_disconnect: Option<String>,

    /// Refuse UUIDv7 and ULID keys that are older than the retention: true, false
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) detect_expired: Option<String>,

    /// How many repeats may wait for one call; more are rejected [default: 1000]
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_waiters_per_key: Option<String>,
}
