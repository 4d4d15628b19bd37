//! Idempotency for gRPC services: a tower layer for tonic.
