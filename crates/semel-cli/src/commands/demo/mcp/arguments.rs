//! What the tools take. The handlers judge it as they judge a body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrderArguments {
    /// What is ordered: 1 to 200 characters, not blank.
    name: String,
    /// How many: 1 to 1000000.
    amount: i64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaymentArguments {
    /// The id of the order that is paid.
    order: i64,
    /// How much: 1 to 1000000.
    amount: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrderId {
    /// The id of an order of your tenant.
    pub(crate) id: i64,
}
