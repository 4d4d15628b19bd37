//! The memory store passes the conformance suite.

mod support;

use support::MemoryFixture;

async fn memory() -> MemoryFixture {
    MemoryFixture::new()
}

semel_core::conformance!(memory);
