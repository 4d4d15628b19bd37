//! gRPC's codes, and the HTTP statuses that stand for them (google/rpc/code.proto).

use http::{HeaderMap, StatusCode};
use tonic::{Code, Status};

/// The HTTP status that stands for a code.
pub(crate) const fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        // 499, "client closed request", has no name of its own and is not in the registry; 408 is
        // what the registry has for a client that was not there in time.
        Code::Cancelled => StatusCode::REQUEST_TIMEOUT,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The code of an answer that has none of its own: a fault of the service or the connection.
pub(crate) const fn code_of(status: StatusCode) -> Code {
    match status {
        StatusCode::BAD_REQUEST => Code::InvalidArgument,
        StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
        _ => Code::Internal,
    }
}

/// The code in headers or trailers; none where they have none.
pub(crate) fn in_fields(fields: &HeaderMap) -> Option<Code> {
    fields.get(Status::GRPC_STATUS).map(|value| Code::from_bytes(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_and_only_ok_is_a_success() {
        for number in 0..=16 {
            let code = Code::from_i32(number);
            let status = http_status(code);
            assert_eq!(status.is_success(), code == Code::Ok, "{code:?}");
            assert!(status.is_success() || status.as_u16() >= 400, "{code:?}");
        }
    }

    #[test]
    fn a_code_that_is_none_is_unknown() {
        for (value, code) in [("0", Code::Ok), ("14", Code::Unavailable), ("x", Code::Unknown)] {
            let mut fields = HeaderMap::new();
            fields.insert("grpc-status", value.parse().unwrap());
            assert_eq!(in_fields(&fields), Some(code), "{value}");
        }
        assert_eq!(in_fields(&HeaderMap::new()), None);
    }
}
