//! Payments for orders.

use rusqlite::{Row, params};
use serde::Serialize;

use super::database::{DataError, Database};
use crate::commands::demo::accounts::Account;

/// A payment that isn't there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewPayment {
    pub(crate) order: i64,
    pub(crate) amount: i64,
}

/// A payment, as callers see it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payment {
    pub(crate) id: i64,
    pub(crate) order: i64,
    pub(crate) amount: i64,
    /// RFC 3339, UTC, by the database's clock.
    pub(crate) created_at: String,
    pub(crate) tenant: String,
    pub(crate) subject: String,
}

/// What a payment came to.
#[derive(Debug, Clone)]
pub(crate) enum Paid {
    Made(Payment),
    /// The caller's tenant has no such order.
    NoOrder,
}

fn payment(row: &Row<'_>) -> rusqlite::Result<Payment> {
    Ok(Payment {
        id: row.get(0)?,
        order: row.get(1)?,
        amount: row.get(2)?,
        created_at: row.get(3)?,
        tenant: row.get(4)?,
        subject: row.get(5)?,
    })
}

impl Database {
    /// Makes a payment for an order of the caller's tenant. One order may be
    /// paid any number of times: a double payment is to be seen, not hidden.
    pub(crate) async fn pay(&self, by: Account, new: NewPayment) -> Result<Paid, DataError> {
        const INSERT: &str = "
            INSERT INTO payments (tenant, subject, order_id, amount)
            SELECT ?1, ?2, id, ?4 FROM orders WHERE tenant = ?1 AND id = ?3
            RETURNING id, order_id, amount, created_at, tenant, subject";
        self.write(move |tx| {
            let row = params![by.tenant, by.subject, new.order, new.amount];
            match tx.query_row(INSERT, row, payment) {
                Ok(made) => Ok(Paid::Made(made)),
                Err(rusqlite::Error::QueryReturnedNoRows) => Ok(Paid::NoOrder),
                Err(error) => Err(error),
            }
        })
        .await
    }
}
