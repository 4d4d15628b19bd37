//! Statements with their parameters, as they are sent: parsed, bound and run in one trip, under no
//! name, so that a pooler may give each to another server connection.

use std::error::Error;
use std::fmt;

use bytes::{Bytes, BytesMut};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::failure::Effect;

/// A statement about to be sent.
pub(crate) struct Statement {
    sql: String,
    effect: Effect,
    parameters: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
}

impl Statement {
    pub(crate) const fn new(sql: String, effect: Effect) -> Self {
        Self { sql, effect, parameters: Vec::new() }
    }

    fn with(mut self, value: impl ToSql + Sync + Send + 'static, of: Type) -> Self {
        self.parameters.push((Box::new(value), of));
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.with(text.to_owned(), Type::TEXT)
    }

    pub(crate) fn bytes(self, bytes: Option<Bytes>) -> Self {
        self.with(bytes.map(Blob), Type::BYTEA)
    }

    pub(crate) fn digests(self, digests: Vec<[u8; 16]>) -> Self {
        let digests: Vec<Vec<u8>> = digests.into_iter().map(Vec::from).collect();
        self.with(digests, Type::BYTEA_ARRAY)
    }

    pub(crate) fn int(self, number: Option<i32>) -> Self {
        self.with(number, Type::INT4)
    }

    pub(crate) fn bigint(self, number: Option<i64>) -> Self {
        self.with(number, Type::INT8)
    }

    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    pub(crate) const fn effect(&self) -> Effect {
        self.effect
    }

    pub(crate) fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let given = self.parameters.iter();
        given.map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone())).collect()
    }
}

impl fmt::Debug for Statement {
    /// Never prints a parameter: it may be a key or somebody's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement").field("effect", &self.effect).finish_non_exhaustive()
    }
}

/// Bytes that are shared, not copied, until they are written to the connection.
struct Blob(Bytes);

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.0.len())
    }
}

impl ToSql for Blob {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::BYTEA
    }

    to_sql_checked!();
}
