//! `/orders`.

use axum::Extension;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};

use super::operation::{CREATE_ORDER, DELETE_ORDER};
use super::perform::perform;
use crate::commands::demo::accounts::Account;
use crate::commands::demo::call::Call;
use crate::commands::demo::data::{Database, Deleted, Order};
use crate::commands::demo::input;
use crate::commands::demo::problem::Problem;

/// `POST /orders`
pub(crate) async fn create_order(
    State(data): State<Database>,
    call: Call,
) -> Result<Response, Problem> {
    let work = async {
        let order = data.add_order(call.by, input::order(&call.body)?).await?;
        let location = format!("/orders/{}", order.id);
        Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(order)).into_response())
    };
    perform(&data, CREATE_ORDER, &call, work).await
}

/// `GET /orders`
pub(crate) async fn list_orders(
    State(data): State<Database>,
    Extension(by): Extension<Account>,
) -> Result<Json<Vec<Order>>, Problem> {
    Ok(Json(data.orders(by).await?))
}

/// `GET /orders/{id}`
pub(crate) async fn show_order(
    State(data): State<Database>,
    Extension(by): Extension<Account>,
    Path(id): Path<String>,
) -> Result<Json<Order>, Problem> {
    let id = order_id(&id)?;
    data.order(by, id).await?.map(Json).ok_or_else(|| Problem::no_order(id))
}

/// `DELETE /orders/{id}`
pub(crate) async fn delete_order(
    State(data): State<Database>,
    Path(id): Path<String>,
    call: Call,
) -> Result<Response, Problem> {
    let work = async {
        let id = order_id(&id)?;
        match data.delete_order(call.by, id).await? {
            Deleted::Gone => Ok(StatusCode::NO_CONTENT.into_response()),
            Deleted::Absent => Err(Problem::no_order(id)),
        }
    };
    perform(&data, DELETE_ORDER, &call, work).await
}

/// Ids are numbers; of anything else there is no order.
fn order_id(text: &str) -> Result<i64, Problem> {
    text.parse().map_err(|_| {
        let detail = "The id of an order is a whole number.";
        Problem::new(StatusCode::NOT_FOUND, "DEMO_NO_ORDER", "There is no such order", detail)
    })
}
