//! The same in a transaction of `sqlx`.

use semel_core::{Fence, GateAnswer, GateError};
use sqlx::{AssertSqlSafe, Postgres, Row, Transaction};

use super::{Asked, FenceGate};
use crate::transactional::in_sqlx_transaction;

impl FenceGate {
    /// The same in a transaction of `sqlx`.
    ///
    /// # Errors
    ///
    /// As [`FenceGate::check`].
    ///
    /// # Cancel safety
    ///
    /// As [`FenceGate::check`].
    pub async fn check_sqlx(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        resource: &str,
        fence: Fence,
    ) -> Result<GateAnswer, GateError> {
        let asked = Asked::new(resource, fence)?;
        // The only thing in it that comes from outside is a quoted name. Without a name of its own,
        // for poolers.
        let query = sqlx::query(AssertSqlSafe(self.sql())).persistent(false);
        let row = query.bind(asked.resource).bind(asked.number).fetch_one(&mut **tx).await;
        let highest = row.and_then(|row| row.try_get(0)).map_err(in_sqlx_transaction)?;
        asked.answer(highest)
    }
}
