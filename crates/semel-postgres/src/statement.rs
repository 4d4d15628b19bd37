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
    parameters: Vec<Parameter>,
}

/// A value that goes with a statement, of the type that its column or argument has.
pub(crate) enum Parameter {
    Text(String),
    Bytes(Option<Bytes>),
    Digests(Vec<Vec<u8>>),
    Int(Option<i32>),
    Bigint(Option<i64>),
}

impl Statement {
    pub(crate) const fn new(sql: String, effect: Effect) -> Self {
        Self { sql, effect, parameters: Vec::new() }
    }

    fn with(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.with(Parameter::Text(text.to_owned()))
    }

    pub(crate) fn bytes(self, bytes: Option<Bytes>) -> Self {
        self.with(Parameter::Bytes(bytes))
    }

    pub(crate) fn digests(self, digests: Vec<[u8; 16]>) -> Self {
        self.with(Parameter::Digests(digests.into_iter().map(Vec::from).collect()))
    }

    pub(crate) fn int(self, number: Option<i32>) -> Self {
        self.with(Parameter::Int(number))
    }

    pub(crate) fn bigint(self, number: Option<i64>) -> Self {
        self.with(Parameter::Bigint(number))
    }

    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    pub(crate) const fn effect(&self) -> Effect {
        self.effect
    }

    pub(crate) fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.parameters.iter().map(|given| (given as &(dyn ToSql + Sync), given.of())).collect()
    }

    /// The statement and its parameters, for another library.
    #[cfg(feature = "sqlx")]
    pub(crate) fn into_parts(self) -> (String, Vec<Parameter>) {
        (self.sql, self.parameters)
    }
}

impl fmt::Debug for Statement {
    /// Never prints a parameter: it may be a key or somebody's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement").field("effect", &self.effect).finish_non_exhaustive()
    }
}

impl fmt::Debug for Parameter {
    /// Only its type, for the same reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.of())
    }
}

impl Parameter {
    const fn of(&self) -> Type {
        match self {
            Self::Text(_) => Type::TEXT,
            Self::Bytes(_) => Type::BYTEA,
            Self::Digests(_) => Type::BYTEA_ARRAY,
            Self::Int(_) => Type::INT4,
            Self::Bigint(_) => Type::INT8,
        }
    }
}

impl ToSql for Parameter {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Text(text) => text.to_sql(of, out),
            Self::Bytes(bytes) => bytes.as_deref().to_sql(of, out),
            Self::Digests(digests) => digests.to_sql(of, out),
            Self::Int(number) => number.to_sql(of, out),
            Self::Bigint(number) => number.to_sql(of, out),
        }
    }

    /// Each is sent with its own type.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
