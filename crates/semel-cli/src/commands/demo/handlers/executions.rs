//! `/executions`: the meter. It holds no business data, so it needs no key.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;

use super::operation;
use crate::commands::demo::data::Database;
use crate::commands::demo::problem::Problem;

/// `GET /executions`: how often each operation's handler ran, over all tenants
/// and processes, since the data file was made. One that never ran counts 0.
pub(crate) async fn executions(
    State(data): State<Database>,
) -> Result<Json<BTreeMap<String, i64>>, Problem> {
    let mut counts: BTreeMap<String, i64> =
        operation::ALL.into_iter().map(|name| (name.to_owned(), 0)).collect();
    counts.extend(data.executions().await?);
    Ok(Json(counts))
}
