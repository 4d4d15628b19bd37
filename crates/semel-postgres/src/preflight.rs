//! What the server is like, and what that means for what the store promises.

use semel_core::{Preflight, StoreResult};

use crate::failure::{self, Effect};
use crate::link::{Link, Linker};
use crate::row::get;
use crate::schema;
use crate::settings::{HintSource, Settings};
use crate::sql::Sql;
use crate::statement::Statement;
use crate::target::Trust;

const FACTS: &str = "SELECT current_setting('server_version'), \
     current_setting('server_version_num')::int4, current_setting('server_encoding'), \
     current_setting('fsync'), current_setting('full_page_writes'), \
     current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
     current_setting('default_transaction_isolation'), \
     coalesce((SELECT s.ssl FROM pg_stat_ssl AS s WHERE s.pid = pg_backend_pid()), false)";

/// The oldest server that the statements were written for.
const OLDEST: i32 = 120_000;

/// What a server says about itself.
#[derive(Debug)]
pub(crate) struct Facts {
    version: String,
    number: i32,
    encoding: String,
    fsync: bool,
    full_page_writes: bool,
    synchronous_commit: String,
    standbys: String,
    isolation: String,
    encrypted: bool,
}

impl Facts {
    pub(crate) async fn ask(link: &Link) -> StoreResult<Self> {
        let statement = Statement::new(FACTS.to_owned(), Effect::Reads);
        let rows = link.rows(&statement).await;
        let rows = rows.map_err(|error| failure::of_statement(error, Effect::Reads).error)?;
        let row = rows.first().ok_or_else(|| failure::damaged("an answer"))?;
        let on = |at| get::<String>(row, at).map(|setting| setting == "on");
        Ok(Self {
            version: get(row, 0)?,
            number: get(row, 1)?,
            encoding: get(row, 2)?,
            fsync: on(3)?,
            full_page_writes: on(4)?,
            synchronous_commit: get(row, 5)?,
            standbys: get(row, 6)?,
            isolation: get(row, 7)?,
            encrypted: get(row, 8)?,
        })
    }
}

/// Connects, looks, and disconnects.
pub(crate) async fn look(settings: &Settings) -> StoreResult<Preflight> {
    let target = settings.target()?.clone();
    let linker = Linker::new(target, settings.call_timeout, settings.statement_timeout())?;
    let link = linker.first_link().await?;
    let facts = Facts::ask(&link).await?;
    let mut preflight = of(&facts, &linker, settings);
    let version = schema::found(&link, &Sql::new(settings)).await?;
    tables(&mut preflight, version, settings);
    Ok(preflight)
}

/// What follows from the facts.
pub(crate) fn of(facts: &Facts, linker: &Linker, settings: &Settings) -> Preflight {
    let mut to = Preflight::of(format!("PostgreSQL {} at {}", facts.version, linker.address()));
    to.fine("primary", "the server writes");
    server(&mut to, facts);
    durability(&mut to, facts);
    replication(&mut to, facts);
    connection(&mut to, facts, linker);
    hints(&mut to, linker, settings);
    to
}

fn server(to: &mut Preflight, facts: &Facts) {
    if facts.number < OLDEST {
        to.refuse("version", format!("the server is {}", facts.version), "use 12 or newer");
    }
    match facts.encoding.as_str() {
        "UTF8" => to.fine("encoding", "UTF8: every key can be kept"),
        other => to.refuse(
            "encoding",
            format!("the database holds {other}, which can't hold every key"),
            "use a database that was made with ENCODING 'UTF8'",
        ),
    }
    match facts.isolation.as_str() {
        "read committed" => to.fine("isolation", "read committed"),
        other => to.warn(
            "isolation",
            format!("the default is {other}: calls that meet on a key are undone and sent again"),
            "ALTER ROLE … SET default_transaction_isolation = 'read committed'",
        ),
    }
}

fn durability(to: &mut Preflight, facts: &Facts) {
    if facts.fsync {
        to.fine("fsync", "what is acknowledged is on the disk");
    } else {
        to.warn(
            "fsync",
            "off: when the machine stops, what was acknowledged may be gone and the data damaged",
            "set fsync = on",
        );
    }
    if !facts.full_page_writes {
        to.warn(
            "full_page_writes",
            "off: a page that is half written when the machine stops stays damaged",
            "set full_page_writes = on, unless the file system never writes half a page",
        );
    }
    if facts.synchronous_commit == "off" {
        to.fine(
            "synchronous_commit",
            "off by default; on for each claim and outcome, which this store sets itself",
        );
    }
}

fn replication(to: &mut Preflight, facts: &Facts) {
    let waits = !facts.standbys.is_empty()
        && matches!(facts.synchronous_commit.as_str(), "on" | "off" | "remote_apply");
    if waits {
        let found = format!(
            "synchronous ({}): what is acknowledged is on a standby's disk too",
            facts.standbys
        );
        to.fine("replication", found);
        return;
    }
    to.warn(
        "replication",
        "none, or not waited for: a fail-over to a standby may lose the last claims and outcomes, \
         and a lost claim may run again",
        "set synchronous_standby_names (and leave synchronous_commit on) where there is a standby \
         that may take over; with a single server there is nothing to change",
    );
}

fn connection(to: &mut Preflight, facts: &Facts, linker: &Linker) {
    if linker.is_pooled() {
        to.fine("pooler", "reached through a pooler; the server's statement_timeout is not set");
    }
    match (facts.encrypted, linker.target().trust) {
        (true, Trust::Host) => to.fine("encryption", "TLS, and the host was verified"),
        (true, Trust::Authority) => to.fine("encryption", "TLS, and the authority was verified"),
        (true, _) => to.warn(
            "encryption",
            "TLS, but whoever stands in between could be the server",
            "set sslmode=verify-full, and sslrootcert where the authority is your own",
        ),
        (false, _) if linker.target().is_local() => to.fine("encryption", "none, on this machine"),
        (false, _) => to.warn(
            "encryption",
            "none that the server knows of: keys, recorded answers and the password may be read \
             on the way",
            "set sslmode=verify-full",
        ),
    }
}

fn hints(to: &mut Preflight, linker: &Linker, settings: &Settings) {
    match settings.hints {
        HintSource::Off => to.warn(
            "wake-ups",
            "off: waiting calls find out by polling, once a second or so",
            "leave them on where there is a connection to spare",
        ),
        HintSource::Server if linker.is_pooled() => to.warn(
            "wake-ups",
            "LISTEN does not work through a pooler in transaction mode: waiting calls find out by \
             polling, once a second or so",
            "name a URL past the pooler for them",
        ),
        HintSource::Server | HintSource::Url(_) => {
            to.fine("wake-ups", "by NOTIFY, with polling behind");
        }
    }
}

fn tables(to: &mut Preflight, version: i32, settings: &Settings) {
    let newest = schema::newest();
    if version == newest {
        to.fine("tables", format!("version {version} in schema `{}`", settings.schema));
    } else if version > newest {
        to.refuse(
            "tables",
            format!(
                "version {version} in schema `{}`; this program knows {newest}",
                settings.schema
            ),
            "use the newer program, or another schema",
        );
    } else {
        let found = match version {
            0 => format!("none in schema `{}`", settings.schema),
            version => format!("version {version} in schema `{}`", settings.schema),
        };
        let advice = "they are made when the store is opened, or by the files in \
                      crates/semel-postgres/migrations/";
        to.warn("tables", found, advice);
    }
}
