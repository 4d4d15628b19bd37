//! `/payments`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use super::operation::CREATE_PAYMENT;
use super::perform::perform;
use crate::commands::demo::call::Call;
use crate::commands::demo::data::{Database, Paid};
use crate::commands::demo::input;
use crate::commands::demo::problem::Problem;

/// `POST /payments`
pub(crate) async fn create_payment(
    State(data): State<Database>,
    call: Call,
) -> Result<Response, Problem> {
    let work = async {
        match data.pay(call.by, input::payment(&call.body)?).await? {
            Paid::Made(payment) => Ok((StatusCode::CREATED, Json(payment)).into_response()),
            Paid::NoOrder => Err(input::no_such_order()),
        }
    };
    perform(&data, CREATE_PAYMENT, &call, work).await
}
