//! Which server, as whom, and how: a URL, read.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use semel_core::{Refusal, StoreError, StoreResult};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// After so long without traffic the connection is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// After so long without an acknowledgement by the other side's system the connection is over.
const USER_TIMEOUT: Duration = Duration::from_secs(10);
/// The library's default, which is "the system's": not set in the URL.
const UNSET_KEEPALIVE: Duration = Duration::from_secs(2 * 60 * 60);

/// What the URL may say beside user, password, host and database. TLS is ours, the rest the
/// library's.
const OPTIONS: [&str; 17] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "port",
    "sslnegotiation",
    "target_session_attrs",
    "user",
];

/// How other programs are told of a certificate of their own.
const CLIENT_CERTIFICATE: [&str; 4] = ["sslcert", "sslcertmode", "sslkey", "sslpassword"];

/// A server, and how to reach it. Its `Debug` shows no credential.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) config: Config,
    pub(crate) trust: Trust,
    pub(crate) root: Option<PathBuf>,
    pub(crate) schema: Option<String>,
}

/// What is asked of the server's certificate, in the words of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// `disable`: no encryption.
    Plain,
    /// `prefer`, `require`: encryption, whoever is at the other end.
    Anybody,
    /// `verify-ca`: somebody with a certificate of an authority that is trusted.
    Authority,
    /// `verify-full`: just the host that was named.
    Host,
}

impl Target {
    pub(crate) fn parse(url: &str) -> StoreResult<Self> {
        let scheme = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
        if !scheme {
            return Err(malformed("it begins with neither postgres:// nor postgresql://"));
        }
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let options = Options::read(query)?;
        // The library's own messages may repeat parts of the URL.
        let config = Config::from_str(&format!("{place}?{}", options.rest)).map_err(|_| {
            malformed("the part before `?`, or the value of an option, can't be read")
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(malformed("it names no host"));
        }
        let mut target =
            Self { config, trust: options.trust, root: options.root, schema: options.schema };
        target.config.ssl_mode(options.mode);
        target.set_defaults();
        Ok(target)
    }

    fn set_defaults(&mut self) {
        let config = &mut self.config;
        // A standby, or a primary that was made one, is passed over: each new connection is asked.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_keepalives_idle() == UNSET_KEEPALIVE {
            config.keepalives_idle(KEEPALIVE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(USER_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("semel");
        }
    }

    /// Whether nothing leaves this machine on the way.
    pub(crate) fn is_local(&self) -> bool {
        let addresses = self.config.get_hostaddrs();
        if !addresses.is_empty() {
            return addresses.iter().all(std::net::IpAddr::is_loopback);
        }
        self.config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => {
                name == "localhost"
                    || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => true,
        })
    }

    /// Where it is, for people: hosts, ports and database.
    pub(crate) fn address(&self) -> String {
        let ports = self.config.get_ports();
        let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let hosts = self.config.get_hosts().iter().enumerate().map(|(at, host)| match host {
            Host::Tcp(name) => format!("{name}:{}", port(at)),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        });
        let mut hosts: Vec<String> = hosts.collect();
        if hosts.is_empty() {
            let addresses = self.config.get_hostaddrs().iter().enumerate();
            hosts = addresses.map(|(at, address)| format!("{address}:{}", port(at))).collect();
        }
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("{}/{database}", hosts.join(","))
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("address", &self.address())
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}

// ===== options =====

/// What stands behind the `?`.
struct Options {
    mode: SslMode,
    trust: Trust,
    root: Option<PathBuf>,
    schema: Option<String>,
    /// What is left for the library.
    rest: String,
}

impl Options {
    fn read(query: &str) -> StoreResult<Self> {
        let (mut mode, mut root, mut schema, mut rest) = ("prefer", None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sslmode" => mode = value,
                "sslrootcert" => root = Some(unescaped(value)?),
                "semel_schema" => schema = Some(unescaped(value)?),
                name if CLIENT_CERTIFICATE.contains(&name) => return Err(no_certificate(name)),
                name if OPTIONS.contains(&name) => rest.push(pair),
                name => return Err(unknown_option(name)),
            }
        }
        let (mode, trust) = tls_of(mode, root.is_some())?;
        let root = root.filter(|root| root != "system").map(PathBuf::from);
        Ok(Self { mode, trust, root, schema, rest: rest.join("&") })
    }
}

/// What a value of `sslmode` means; as elsewhere, `require` with an authority at hand checks it.
fn tls_of(mode: &str, has_root: bool) -> StoreResult<(SslMode, Trust)> {
    Ok(match mode {
        "disable" => (SslMode::Disable, Trust::Plain),
        "prefer" | "allow" => (SslMode::Prefer, Trust::Anybody),
        "require" if has_root => (SslMode::Require, Trust::Authority),
        "require" => (SslMode::Require, Trust::Anybody),
        "verify-ca" => (SslMode::Require, Trust::Authority),
        "verify-full" => (SslMode::Require, Trust::Host),
        _ => {
            return Err(malformed(
                "`sslmode` takes disable, prefer, require, verify-ca and verify-full",
            ));
        }
    })
}

/// Undoes percent-encoding.
fn unescaped(value: &str) -> StoreResult<String> {
    let broken = || malformed("a percent-encoded value of an option can't be read");
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'%' {
            let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
            let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).ok_or_else(broken)?;
            bytes.push(byte);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).map_err(|_| broken())
}

/// Names the option only if it looks like one: it may be the rest of a password that was not
/// encoded.
fn unknown_option(name: &str) -> StoreError {
    let is_name = name.len() <= 40 && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
    if is_name {
        malformed(&format!("there is no option `{name}`"))
    } else {
        malformed("what follows `?` is no list of options")
    }
}

/// It must not be passed over: the server would let in somebody else, or nobody.
fn no_certificate(name: &str) -> StoreError {
    let message = format!(
        "the option `{name}` of the PostgreSQL store's URL is not supported: the store shows no \
         certificate of its own; give it a password (SCRAM) instead, over `sslmode=verify-full`"
    );
    StoreError::refused(Refusal::Unusable, message)
}

fn malformed(why: &str) -> StoreError {
    let message = format!(
        "this is no URL of a PostgreSQL store: {why}; it is written \
         postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE, each part percent-encoded"
    );
    StoreError::refused(Refusal::Unusable, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "s3cr3t";

    #[test]
    fn a_url_is_read_and_its_address_shown_without_credentials() {
        let url = "postgresql://app:s3cr3t@db-1:6432,db-2:6433/shop?sslmode=verify-full&\
                   sslrootcert=%2Fetc%2Fca.pem&connect_timeout=7&semel_schema=idem";
        let target = Target::parse(url).expect("a URL");
        assert_eq!(target.address(), "db-1:6432,db-2:6433/shop");
        assert_eq!((target.trust, target.schema.as_deref()), (Trust::Host, Some("idem")));
        assert_eq!(target.root, Some(PathBuf::from("/etc/ca.pem")));
        assert_eq!(target.config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        assert!(!format!("{target:?}").contains(SECRET));
    }

    #[test]
    fn each_mode_of_tls_means_what_it_means_elsewhere() {
        let trust = |options: &str| {
            Target::parse(&format!("postgres://db/x?{options}"))
                .map(|t| (t.config.get_ssl_mode(), t.trust))
        };
        for (options, due) in [
            ("", (SslMode::Prefer, Trust::Anybody)),
            ("sslmode=disable", (SslMode::Disable, Trust::Plain)),
            ("sslmode=require", (SslMode::Require, Trust::Anybody)),
            ("sslmode=require&sslrootcert=a", (SslMode::Require, Trust::Authority)),
            ("sslmode=verify-ca", (SslMode::Require, Trust::Authority)),
            ("sslmode=verify-full&sslrootcert=system", (SslMode::Require, Trust::Host)),
        ] {
            assert_eq!(trust(options).expect("a URL"), due, "{options}");
        }
        assert!(trust("sslmode=verify").is_err(), "a mode that is none must be refused");
    }

    #[test]
    fn what_can_not_be_read_is_refused_without_being_repeated() {
        for url in [
            "mysql://u:s3cr3t@db/x",
            "postgres://u:s3cr3t@db:port/x",
            "postgres://u:a?s3cr3t@db/x",
            "postgres://u:s3cr3t@/x",
            "postgres://u@db/x?password=s3cr3t&nonsense=1",
            "postgres://u:s3cr3t@db/x?semel_schema=%zz",
        ] {
            let error = Target::parse(url).expect_err(url);
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains(SECRET), "{shown}");
        }
    }

    #[test]
    fn a_certificate_of_ones_own_is_refused_by_name_and_not_passed_over() {
        for option in ["sslcert=%2Fa.crt", "sslkey=%2Fa.key", "sslpassword=s3cr3t"] {
            let error = Target::parse(&format!("postgres://db/x?{option}")).expect_err(option);
            let name = option.split('=').next().expect("a name");
            assert!(error.message().contains(&format!("`{name}`")), "{error}");
            assert!(error.message().contains("password (SCRAM)"), "{error}");
            assert!(!error.message().contains(SECRET), "{error}");
        }
    }

    #[test]
    fn an_option_that_is_none_is_named() {
        let error = Target::parse("postgres://db/x?ssl_mode=require").expect_err("no option");
        assert!(error.message().contains("`ssl_mode`"), "{error}");
    }
}
