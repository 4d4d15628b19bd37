//! The tables: whether they are there, of which version, and how they are made.

use semel_core::{Refusal, StoreError, StoreErrorKind, StoreResult};

use crate::failure::{self, Effect};
use crate::link::Link;
use crate::row;
use crate::settings::{Migrations, Settings};
use crate::sql::{Sql, quoted};
use crate::statement::Statement;

/// All steps there are: step `n` leads from version `n` to `n + 1`. A step that has been released
/// is never changed; a later one leaves the functions of the version before it working, for
/// processes that still run it.
const STEPS: [&str; 1] = [include_str!("../migrations/0001_lease_rows.sql")];

/// Only one process at a time makes tables.
const TURN: &str = "SELECT pg_advisory_xact_lock(8315466894937718881)";

/// The version of the tables that this program works on.
pub(crate) fn newest() -> i32 {
    i32::try_from(STEPS.len()).unwrap_or(i32::MAX)
}

/// The version of the tables that are there; 0 when there are none.
pub(crate) async fn found(link: &Link, sql: &Sql) -> StoreResult<i32> {
    let there = ask(link, sql.are_there()).await?;
    if !row::scalar::<bool>(&there)? {
        return Ok(0);
    }
    row::scalar(&ask(link, sql.version()).await?)
}

/// Brings the tables to the version of this program, or says why they can't be used.
pub(crate) async fn settle(link: &Link, sql: &Sql, settings: &Settings) -> StoreResult<()> {
    let version = found(link, sql).await?;
    check(version, settings)?;
    if version == newest() {
        return Ok(());
    }
    if settings.migrations == Migrations::Expect {
        return Err(missing(version, settings));
    }
    let migrated = migrate(link, sql, settings).await;
    if migrated.is_err() {
        // The first failure is what is told.
        let _ = link.run("ROLLBACK").await;
    }
    migrated.map_err(|error| explained(error, settings))
}

async fn migrate(link: &Link, sql: &Sql, settings: &Settings) -> StoreResult<()> {
    run(link, &format!("BEGIN ISOLATION LEVEL READ COMMITTED; {TURN}")).await?;
    // Somebody else may have done it while this process waited for its turn.
    let version = found(link, sql).await?;
    check(version, settings)?;
    let schema = quoted(&settings.schema);
    if version == 0 && !has_schema(link, settings).await? {
        run(link, &format!("CREATE SCHEMA {schema}")).await?;
    }
    run(link, &format!("SET LOCAL search_path = {schema}, pg_temp")).await?;
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or(usize::MAX)) {
        run(link, step).await?;
    }
    run(link, "COMMIT").await
}

/// A role that may use a schema need not be one that may make schemas.
async fn has_schema(link: &Link, settings: &Settings) -> StoreResult<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)".to_owned();
    let rows = ask(link, Statement::new(sql, Effect::Reads).text(&settings.schema)).await?;
    row::scalar(&rows)
}

fn check(version: i32, settings: &Settings) -> StoreResult<()> {
    if (0..=newest()).contains(&version) {
        return Ok(());
    }
    let message = format!(
        "the tables in schema `{}` are of version {version}, this program knows up to {}; use \
         the newer program that made them, or another schema",
        settings.schema,
        newest()
    );
    Err(StoreError::refused(Refusal::Unusable, message))
}

fn missing(version: i32, settings: &Settings) -> StoreError {
    let what = if version == 0 { "missing".to_owned() } else { format!("of version {version}") };
    let message = format!(
        "the tables in schema `{}` are {what}, this program needs version {}; run the files in \
         crates/semel-postgres/migrations/ from {:04} on",
        settings.schema,
        newest(),
        version + 1
    );
    StoreError::refused(Refusal::Unusable, message)
}

fn explained(error: StoreError, settings: &Settings) -> StoreError {
    if error.kind() != StoreErrorKind::Refused(Refusal::Credentials) {
        return error;
    }
    let message = format!(
        "this role may not make the tables in schema `{}`; run the files in \
         crates/semel-postgres/migrations/ as a role that may",
        settings.schema
    );
    StoreError::refused(Refusal::Credentials, message).caused_by(error)
}

async fn ask(link: &Link, statement: Statement) -> StoreResult<Vec<tokio_postgres::Row>> {
    let rows = link.rows(&statement).await;
    rows.map_err(|error| failure::of_statement(error, statement.effect()).error)
}

async fn run(link: &Link, sql: &str) -> StoreResult<()> {
    // Nothing is done until the commit, and that can be looked for again.
    link.run(sql).await.map_err(|error| failure::of_statement(error, Effect::Reads).error)
}
