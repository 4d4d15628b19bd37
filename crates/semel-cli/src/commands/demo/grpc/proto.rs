//! What the proto file makes. `tests/proto.rs` holds it against the file and writes it anew.
#![expect(
    unreachable_pub,
    unused_qualifications,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "a generator wrote it"
)]

include!(concat!(env!("CARGO_MANIFEST_DIR"), "/proto/generated/server.rs.in"));

/// The descriptors of the same file, for reflection and for the idempotency layer.
pub(super) const DESCRIPTORS: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/proto/generated/descriptors.bin"));
