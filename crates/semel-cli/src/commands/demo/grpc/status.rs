//! The order service's refusals, as gRPC says them.

use http::StatusCode;
use tonic::{Code, Status};

use crate::commands::demo::data::DataError;
use crate::commands::demo::problem::Problem;

impl From<Problem> for Status {
    fn from(problem: Problem) -> Self {
        Self::new(code(problem.status()), problem.detail())
    }
}

/// A failure of the order data.
pub(super) fn of_data(error: DataError) -> Status {
    Problem::from(error).into()
}

/// The code that stands for a status of the order service.
pub(super) fn code(status: StatusCode) -> Code {
    match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Code::InvalidArgument,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::NOT_FOUND => Code::NotFound,
        StatusCode::CONFLICT => Code::FailedPrecondition,
        StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
        _ => Code::Internal,
    }
}
