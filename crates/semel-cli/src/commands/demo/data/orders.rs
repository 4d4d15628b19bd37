//! Orders of a tenant.

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::database::{DataError, Database};
use crate::commands::demo::accounts::Account;

/// An order that isn't there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewOrder {
    pub(crate) name: String,
    pub(crate) amount: i64,
}

/// An order, as callers see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) amount: i64,
    /// RFC 3339, UTC, by the database's clock.
    pub(crate) created_at: String,
    pub(crate) tenant: String,
    pub(crate) subject: String,
}

const COLUMNS: &str = "id, name, amount, created_at, tenant, subject";

fn order(row: &Row<'_>) -> rusqlite::Result<Order> {
    Ok(Order {
        id: row.get(0)?,
        name: row.get(1)?,
        amount: row.get(2)?,
        created_at: row.get(3)?,
        tenant: row.get(4)?,
        subject: row.get(5)?,
    })
}

impl Database {
    /// Makes an order.
    pub(crate) async fn add_order(&self, by: Account, new: NewOrder) -> Result<Order, DataError> {
        let insert = format!(
            "INSERT INTO orders (tenant, subject, name, amount) VALUES (?1, ?2, ?3, ?4)
             RETURNING {COLUMNS}"
        );
        self.write(move |tx| {
            tx.query_row(&insert, params![by.tenant, by.subject, new.name, new.amount], order)
        })
        .await
    }

    /// All orders of the caller's tenant, oldest first.
    pub(crate) async fn orders(&self, of: Account) -> Result<Vec<Order>, DataError> {
        let select = format!("SELECT {COLUMNS} FROM orders WHERE tenant = ?1 ORDER BY id");
        self.read(move |db| db.prepare_cached(&select)?.query_map([of.tenant], order)?.collect())
            .await
    }

    /// One order, if it is there and the caller's tenant's.
    pub(crate) async fn order(&self, of: Account, id: i64) -> Result<Option<Order>, DataError> {
        let select = format!("SELECT {COLUMNS} FROM orders WHERE tenant = ?1 AND id = ?2");
        self.read(move |db| db.query_row(&select, params![of.tenant, id], order).optional()).await
    }

    /// Deletes an order and says whether there was one.
    pub(crate) async fn delete_order(&self, of: Account, id: i64) -> Result<Deleted, DataError> {
        self.write(move |tx| {
            let gone = tx.execute(
                "DELETE FROM orders WHERE tenant = ?1 AND id = ?2",
                params![of.tenant, id],
            )?;
            Ok(if gone == 0 { Deleted::Absent } else { Deleted::Gone })
        })
        .await
    }
}

/// What a deletion found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deleted {
    Gone,
    Absent,
}
