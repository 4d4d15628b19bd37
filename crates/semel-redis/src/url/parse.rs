//! From a URL to where and how to connect. No error repeats what may hold a password.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::percent::decode;
use crate::address::Address;

/// Where and how to connect, and the settings that the URL makes.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) topology: Topology,
    pub(crate) login: Login,
    pub(crate) database: u32,
    pub(crate) tls: Option<Tls>,
    /// Parameters that are not about connecting, in the order they were written.
    pub(crate) settings: Vec<(String, String)>,
}

/// What kind of servers they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Topology {
    Single(Address),
    Sentinel { sentinels: Vec<Address>, service: String, login: Login },
    Cluster { seeds: Vec<Address> },
}

/// A user and a password.
#[derive(Clone, Default)]
pub(crate) struct Login {
    pub(crate) user: Option<String>,
    pub(crate) password: Option<SecretString>,
}

impl PartialEq for Login {
    fn eq(&self, other: &Self) -> bool {
        use secrecy::ExposeSecret;
        let exposed =
            |login: &Self| login.password.as_ref().map(|it| it.expose_secret().to_owned());
        self.user == other.user && exposed(self) == exposed(other)
    }
}

impl Eq for Login {}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.password.is_some() { "Login(***)" } else { "Login" })
    }
}

/// Files of a TLS connection. Without an authority the system's are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tls {
    pub(crate) authority: Option<PathBuf>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

const TAKES: &str = "a store's URL is redis://HOST, rediss://HOST, \
                     redis-sentinel://SENTINEL,SENTINEL/SERVICE or redis-cluster://HOST,HOST";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Single,
    Sentinel,
    Cluster,
}

impl Scheme {
    const fn port(self) -> u16 {
        if matches!(self, Self::Sentinel) { 26_379 } else { 6379 }
    }
}

/// Reads a URL.
pub(crate) fn parse(url: &str) -> Result<Target, String> {
    let (scheme, rest) = url.split_once("://").ok_or(TAKES)?;
    let (scheme, tls) = match scheme {
        "redis" => (Scheme::Single, false),
        "rediss" => (Scheme::Single, true),
        "redis-sentinel" => (Scheme::Sentinel, false),
        "redis-cluster" => (Scheme::Cluster, false),
        _ => return Err(TAKES.to_owned()),
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, hosts) = match authority.rsplit_once('@') {
        Some((login, hosts)) => (parse_login(login)?, hosts),
        None => (Login::default(), authority),
    };
    let mut query = Query::parse(query, tls)?;
    let addresses = parse_hosts(hosts, scheme.port())?;
    let (topology, database) =
        topology(scheme, addresses, path, std::mem::take(&mut query.sentinel))?;
    Ok(Target { topology, login, database, tls: query.tls()?, settings: query.settings })
}

fn parse_login(text: &str) -> Result<Login, String> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let decoded = |text| decode(text).ok_or("the user or password is not percent-encoded");
    let present = |text: String| (!text.is_empty()).then_some(text);
    Ok(Login {
        user: present(decoded(user)?),
        password: present(decoded(password)?).map(SecretString::from),
    })
}

fn parse_hosts(text: &str, port: u16) -> Result<Vec<Address>, String> {
    text.split(',').map(|host| parse_host(host, port)).collect()
}

fn parse_host(text: &str, port: u16) -> Result<Address, String> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("an IPv6 address lacks its ]")?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    if host.is_empty() {
        return Err("a host is missing in the URL".to_owned());
    }
    let port = match rest.strip_prefix(':') {
        Some(number) => {
            number.parse().map_err(|_| format!("the port of {host} is not a number below 65536"))?
        }
        None if rest.is_empty() => port,
        None => return Err(format!("there is more than a port behind {host}")),
    };
    Ok(Address::new(host, port))
}

fn topology(
    scheme: Scheme,
    mut addresses: Vec<Address>,
    path: &str,
    login: Login,
) -> Result<(Topology, u32), String> {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let topology = match scheme {
        Scheme::Single if addresses.len() == 1 => Topology::Single(addresses.remove(0)),
        Scheme::Single => return Err("redis:// takes one host".to_owned()),
        Scheme::Cluster => Topology::Cluster { seeds: addresses },
        Scheme::Sentinel => {
            let service = parts.next().and_then(decode).ok_or(
                "redis-sentinel:// needs the name of the service: redis-sentinel://HOST/NAME",
            )?;
            Topology::Sentinel { sentinels: addresses, service, login }
        }
    };
    let database = match parts.next() {
        Some(number) => number.parse().map_err(|_| "the database in the URL is not a number")?,
        None => 0,
    };
    if parts.next().is_some() {
        return Err("there is more than a database in the path of the URL".to_owned());
    }
    if scheme == Scheme::Cluster && database != 0 {
        return Err("a cluster has no databases but 0".to_owned());
    }
    Ok((topology, database))
}

// ===== parameters =====

#[derive(Default)]
struct Query {
    with_tls: bool,
    files: Tls,
    sentinel: Login,
    settings: Vec<(String, String)>,
}

impl Query {
    fn parse(text: &str, tls: bool) -> Result<Self, String> {
        let mut query = Self { with_tls: tls, ..Self::default() };
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)
                .ok_or_else(|| format!("the value of `{name}` is not percent-encoded"))?;
            query.take(name, value)?;
        }
        Ok(query)
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "tls" => self.with_tls = truth(name, &value)?,
            "tls_ca" => self.files.authority = Some(value.into()),
            "tls_cert" => self.files.certificate = Some(value.into()),
            "tls_key" => self.files.key = Some(value.into()),
            "sentinel_username" => self.sentinel.user = Some(value),
            "sentinel_password" => self.sentinel.password = Some(value.into()),
            _ => self.settings.push((name.to_owned(), value)),
        }
        Ok(())
    }

    fn tls(&self) -> Result<Option<Tls>, String> {
        if self.with_tls {
            return Ok(Some(self.files.clone()));
        }
        if self.files != Tls::default() {
            return Err("certificates are given, but the connection is not to use TLS".to_owned());
        }
        Ok(None)
    }
}

fn truth(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("`{name}` takes true or false")),
    }
}

/// Reads a duration: `500ms`, `2s`, `5m`.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
