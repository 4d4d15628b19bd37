//! What the operations do. Each is written as if retries didn't exist.

mod executions;
mod orders;
mod payments;
mod perform;

pub(crate) use executions::executions;
pub(crate) use orders::{create_order, delete_order, list_orders, show_order};
pub(crate) use payments::create_payment;
pub(crate) use perform::{Wished, begin};

/// Operations that have an effect, and so are counted. They are named as the
/// idempotency layer names them: method and matched route.
pub(crate) mod operation {
    pub(crate) const CREATE_ORDER: &str = "POST /orders";
    pub(crate) const CREATE_PAYMENT: &str = "POST /payments";
    pub(crate) const DELETE_ORDER: &str = "DELETE /orders/{id}";
    pub(crate) const ALL: [&str; 3] = [CREATE_ORDER, CREATE_PAYMENT, DELETE_ORDER];
}
