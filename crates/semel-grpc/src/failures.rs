//! Which replies of the handler are final.

use std::fmt;
use std::sync::Arc;

use http::response;
use semel::Guarantee;
use semel_http::{Failures, Finality};
use tonic::Code;

/// Which replies are recorded and replayed, and which free the key for a retry.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum GrpcFailures {
    /// What HTTP answers below 500, by the mapping of `google/rpc/code.proto`: `OK`,
    /// `INVALID_ARGUMENT`, `NOT_FOUND`, `ALREADY_EXISTS`, `PERMISSION_DENIED`,
    /// `FAILED_PRECONDITION`, `OUT_OF_RANGE` and `UNAUTHENTICATED` are final. Default.
    ///
    /// `CANCELLED`, `ABORTED` and `RESOURCE_EXHAUSTED` say "again" or "later" by themselves, as 408,
    /// 425 and 429 do, and free the key; so do `UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`,
    /// `INTERNAL`, `UNAVAILABLE` and `DATA_LOSS`, which are 5xx.
    #[default]
    ClientErrorsAreFinal,
    /// Everything that the handler replied.
    All,
    /// Only `OK`.
    SuccessOnly,
    /// As a function of the reply's code says.
    Custom(Arc<dyn Fn(Code) -> Finality + Send + Sync>),
}

impl GrpcFailures {
    /// Judges a reply of the handler by its code.
    #[must_use]
    pub fn judge(&self, code: Code) -> Finality {
        let is_final = match self {
            Self::ClientErrorsAreFinal => matches!(
                code,
                Code::Ok
                    | Code::InvalidArgument
                    | Code::NotFound
                    | Code::AlreadyExists
                    | Code::PermissionDenied
                    | Code::FailedPrecondition
                    | Code::OutOfRange
                    | Code::Unauthenticated
            ),
            Self::All => true,
            Self::SuccessOnly => code == Code::Ok,
            Self::Custom(judge) => return judge(code),
        };
        if is_final { Finality::Final } else { Finality::Transient }
    }

    /// As a guarantee says where nothing else was chosen.
    pub(crate) fn of_guarantee(guarantee: Guarantee) -> Self {
        if guarantee.freezes_failures() { Self::All } else { Self::default() }
    }

    /// For the layer within, which sees HTTP.
    pub(crate) fn into_http(self) -> Failures {
        Failures::Custom(Arc::new(move |head: &response::Parts| {
            // What is no gRPC has no code: a router's own 404, which did nothing.
            let coded = head.extensions.get::<Coded>();
            coded.map_or(Finality::Transient, |Coded(code)| self.judge(*code))
        }))
    }
}

impl fmt::Debug for GrpcFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientErrorsAreFinal => "ClientErrorsAreFinal",
            Self::All => "All",
            Self::SuccessOnly => "SuccessOnly",
            Self::Custom(_) => "Custom(..)",
        })
    }
}

/// In the extensions of a handler's reply: its code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coded(pub(crate) Code);

#[cfg(test)]
mod tests {
    use super::*;

    fn finals(failures: &GrpcFailures) -> Vec<i32> {
        let is_final = |number: &i32| failures.judge(Code::from_i32(*number)) == Finality::Final;
        (0..=16).filter(is_final).collect()
    }

    #[test]
    fn what_a_client_did_wrong_is_final_and_what_may_pass_is_not() {
        assert_eq!(finals(&GrpcFailures::default()), [0, 3, 5, 6, 7, 9, 11, 16]);
        assert_eq!(finals(&GrpcFailures::SuccessOnly), [0]);
        assert_eq!(finals(&GrpcFailures::All).len(), 17);
        let guaranteed = GrpcFailures::of_guarantee(Guarantee::AtMostOnce);
        assert_eq!(finals(&guaranteed).len(), 17);
    }
}
