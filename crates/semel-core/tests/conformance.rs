//! The memory store passes the conformance suite, bare and under every wrapper.

mod support;

use secrecy::SecretBox;
use semel_core::{SealKey, SealKeyId, SealKeys};

/// Sealing keys whose bits are their name over and over.
fn seal_keys(current: u8, older: &[u8]) -> SealKeys {
    let key = |id: u8| SealKey::new(SealKeyId::new(id), SecretBox::new(Box::new([id; 32])));
    SealKeys::new(key(current), older.iter().map(|id| key(*id))).expect("names of their own")
}

mod memory {
    use crate::support::MemoryFixture;

    async fn memory() -> MemoryFixture {
        MemoryFixture::new()
    }

    semel_core::conformance!(memory);
}

mod shared_pointer {
    use std::sync::Arc;

    use crate::support::{MemoryFixture, abilities};

    async fn shared_pointer() -> MemoryFixture {
        MemoryFixture::wrapped(abilities(), |store| Arc::new(Arc::new(store)))
    }

    semel_core::conformance!(shared_pointer);
}

mod prefix {
    use std::sync::Arc;

    use semel_core::{Namespace, Prefix};

    use crate::support::{MemoryFixture, abilities};

    async fn prefix() -> MemoryFixture {
        let mut abilities = abilities();
        abilities.key_limit -= "orders-2026/".len();
        MemoryFixture::wrapped(abilities, |store| {
            let namespace = Namespace::new("orders-2026").expect("a namespace");
            Arc::new(Prefix::new(store, namespace))
        })
    }

    semel_core::conformance!(prefix);
}

mod observe {
    use std::sync::Arc;

    use semel_core::Observe;

    use crate::support::{MemoryFixture, abilities, clock};

    async fn observe() -> MemoryFixture {
        MemoryFixture::wrapped(abilities(), |store| Arc::new(Observe::new(store, clock())))
    }

    semel_core::conformance!(observe);
}

mod fault {
    use std::sync::Arc;

    use semel_core::Fault;

    use crate::support::{MemoryFixture, abilities};

    async fn fault() -> MemoryFixture {
        MemoryFixture::wrapped(abilities(), |store| Arc::new(Fault::new(store)))
    }

    semel_core::conformance!(fault);
}

mod seal {
    use std::sync::Arc;

    use semel_core::{MemoryStore, Seal};

    use crate::seal_keys;
    use crate::support::{MemoryFixture, abilities};

    async fn seal() -> MemoryFixture {
        let mut abilities = abilities();
        abilities.value_limit -= Seal::<MemoryStore>::OVERHEAD;
        MemoryFixture::wrapped(abilities, |store| Arc::new(Seal::new(store, seal_keys(1, &[]))))
    }

    semel_core::conformance!(seal);
}

mod all_together {
    use std::sync::Arc;

    use semel_core::{Fault, MemoryStore, Namespace, Observe, Prefix, Seal};

    use crate::seal_keys;
    use crate::support::{MemoryFixture, abilities, clock};

    async fn all_together() -> MemoryFixture {
        let mut abilities = abilities();
        abilities.value_limit -= Seal::<MemoryStore>::OVERHEAD;
        abilities.key_limit -= "outer/inner/".len();
        MemoryFixture::wrapped(abilities, |store| {
            let namespace = |name| Namespace::new(name).expect("a namespace");
            let store = Prefix::new(Fault::new(store), namespace("inner"));
            let store = Prefix::new(Seal::new(store, seal_keys(2, &[1])), namespace("outer"));
            Arc::new(Observe::new(store, clock()))
        })
    }

    semel_core::conformance!(all_together);
}

/// A fixture that declares that hints reach nobody, with a store that keeps to it.
mod without_hints {
    use std::sync::Arc;

    use semel_core::conformance::HintReach;
    use semel_core::{Fault, FaultAction, StoreOp};

    use crate::support::{MemoryFixture, abilities};

    async fn without_hints() -> MemoryFixture {
        let mut abilities = abilities();
        abilities.hints = HintReach::Nobody;
        MemoryFixture::wrapped(abilities, |store| {
            Arc::new(Fault::with_plan(store, |call| match call.op {
                StoreOp::Changed => FaultAction::LoseHint,
                _ => FaultAction::Pass,
            }))
        })
    }

    semel_core::conformance!(without_hints);
}
