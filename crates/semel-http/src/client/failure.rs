//! What a failure without an answer means.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use hyper_util::client::legacy;

/// What a failure of one try says about the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// Proven: no byte of the request reached the service. No connection could be made.
    NeverSent,
    /// The request may have been carried out, or may still be: a connection was cut, an answer
    /// took too long.
    Unknown,
    /// Trying again can't help: the request itself is at fault.
    Permanent,
}

type Judge = dyn Fn(&(dyn Error + 'static)) -> Failure + Send + Sync;

/// A function that says what a failure means.
#[derive(Clone)]
pub(super) struct Classify(pub(super) Arc<Judge>);

impl fmt::Debug for Classify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Classify(..)")
    }
}

/// What an error of an inner tower service says. Only what is proven was never sent.
pub(super) fn of_service(error: &(dyn Error + 'static)) -> Failure {
    let mut link = Some(error);
    while let Some(error) = link {
        if is_failure_to_connect(error) {
            return Failure::NeverSent;
        }
        link = error.source();
    }
    Failure::Unknown
}

fn is_failure_to_connect(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect)
        || error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// What an error of `reqwest` says.
pub(super) fn of_reqwest(error: &reqwest_middleware::Error) -> Failure {
    match error {
        // A middleware further in refused: nobody knows why, or whether it will think again.
        reqwest_middleware::Error::Middleware(_) => Failure::Permanent,
        reqwest_middleware::Error::Reqwest(error) if error.is_builder() => Failure::Permanent,
        reqwest_middleware::Error::Reqwest(error) if error.is_connect() => Failure::NeverSent,
        reqwest_middleware::Error::Reqwest(error)
            if error.is_timeout() || error.is_request() || error.is_body() =>
        {
            Failure::Unknown
        }
        reqwest_middleware::Error::Reqwest(_) => Failure::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] io::Error);

    #[test]
    fn only_a_refused_connection_proves_that_nothing_was_sent() {
        let refused = Outer(io::ErrorKind::ConnectionRefused.into());
        assert_eq!(of_service(&refused), Failure::NeverSent);
        for kind in [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::TimedOut,
            io::ErrorKind::UnexpectedEof,
        ] {
            assert_eq!(of_service(&Outer(kind.into())), Failure::Unknown, "{kind}");
        }
    }
}
