//! One connection.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::io::tcp::{TcpSettings, socket2};
use redis::{
    AsyncConnectionConfig, Client, ClientTlsConfig, Cmd, ConnectionAddr, ConnectionInfo,
    IntoConnectionInfo, Pipeline, ProtocolVersion, PushInfo, PushKind, RedisConnectionInfo,
    TlsCertificates, Value,
};
use secrecy::ExposeSecret;
use tokio::sync::Notify;

use crate::address::Address;
use crate::script::Doing;
use crate::settings::Settings;
use crate::trouble::{Failure, Trouble};
use crate::url::{Login, Tls};

/// How to wire a connection, whomever to.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    pub(crate) login: Login,
    pub(crate) database: u32,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) connect_timeout: Duration,
    pub(crate) response_timeout: Duration,
}

/// What the files of a TLS connection hold.
#[derive(Clone)]
pub(crate) struct TlsFiles(TlsCertificates);

impl fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsFiles")
    }
}

impl Wiring {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        let target = &settings.target;
        Ok(Self {
            login: target.login.clone(),
            database: target.database,
            tls: target.tls.as_ref().map(TlsFiles::read).transpose()?,
            connect_timeout: settings.connect_timeout,
            response_timeout: settings.response_timeout,
        })
    }

    /// The same for a server with another login, and no databases: a Sentinel.
    pub(crate) fn with_login(&self, login: Login) -> Self {
        Self { login, database: 0, ..self.clone() }
    }

    /// The same with more time for answers.
    pub(crate) fn slower_by(&self, more: Duration) -> Self {
        Self { response_timeout: self.response_timeout + more, ..self.clone() }
    }

    fn client(&self, address: &Address) -> Result<Client, Failure> {
        let wrong = |_| Failure::unusable("the certificates or the key can't be used");
        let host = address.host.clone();
        let at = match self.tls {
            None => ConnectionAddr::Tcp(host, address.port),
            Some(_) => {
                let (port, insecure, tls_params) = (address.port, false, None);
                ConnectionAddr::TcpTls { host, port, insecure, tls_params }
            }
        };
        let info = self.info(at).map_err(wrong)?;
        match &self.tls {
            None => Client::open(info),
            Some(files) => Client::build_with_tls(info, files.0.clone()),
        }
        .map_err(wrong)
    }

    fn info(&self, at: ConnectionAddr) -> Result<ConnectionInfo, redis::RedisError> {
        let mut redis = RedisConnectionInfo::default()
            .set_protocol(ProtocolVersion::RESP3)
            .set_db(i64::from(self.database))
            .set_skip_set_lib_name();
        if let Some(user) = &self.login.user {
            redis = redis.set_username(user);
        }
        if let Some(password) = &self.login.password {
            redis = redis.set_password(password.expose_secret());
        }
        // An idle connection that nobody is behind any more is noticed within half a minute.
        let keepalive = socket2::TcpKeepalive::new()
            .with_time(Duration::from_secs(10))
            .with_interval(Duration::from_secs(5))
            .with_retries(3);
        let tcp = TcpSettings::default()
            .set_nodelay(true)
            .set_keepalive(keepalive)
            .set_user_timeout(Duration::from_secs(10));
        Ok(at.into_connection_info()?.set_redis_settings(redis).set_tcp_settings(tcp))
    }

    /// Connects. Pushed messages go to `pushed`.
    pub(crate) async fn connect(
        &self,
        address: &Address,
        pushed: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<Live, Failure> {
        let ended = Arc::new(Ended::default());
        let end = Arc::clone(&ended);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.connect_timeout))
            .set_response_timeout(Some(self.response_timeout))
            .set_push_sender(move |info: PushInfo| {
                if info.kind == PushKind::Disconnection {
                    end.set();
                }
                pushed(info);
                Ok::<(), redis::aio::SendError>(())
            });
        let connecting = self.client(address)?;
        let connection = connecting.get_multiplexed_async_connection_with_config(&config).await;
        let connection = connection.map_err(|error| not_connected(&error).at(address))?;
        Ok(Live { address: address.clone(), connection, ended })
    }
}

/// A connection that did not come about: nothing was sent, and only a refused login is for good.
fn not_connected(error: &redis::RedisError) -> Failure {
    if error.kind() == redis::ErrorKind::RESP3NotSupported {
        return Failure::unusable("the server is older than Redis 6.2");
    }
    match Trouble::of(error) {
        trouble @ (Trouble::NotLetIn | Trouble::Forbidden) => trouble.failure(Doing::Read),
        Trouble::NotYet(says) => Failure::not_applied(says),
        _ if error.is_timeout() => Failure::not_applied("no connection in time"),
        // The system's words, or those of TLS. They repeat nothing that we sent.
        _ if error.is_io_error() => Failure::not_applied(format!("no connection: {error}")),
        _ => Failure::not_applied("no connection"),
    }
}

impl TlsFiles {
    fn read(tls: &Tls) -> Result<Self, Failure> {
        let read = |path: &std::path::PathBuf| {
            std::fs::read(path).map_err(|error| {
                Failure::unusable(format!("{} can't be read: {error}", path.display()))
            })
        };
        let client_tls = match (&tls.certificate, &tls.key) {
            (Some(certificate), Some(key)) => {
                Some(ClientTlsConfig { client_cert: read(certificate)?, client_key: read(key)? })
            }
            (None, None) => None,
            _ => return Err(Failure::unusable("tls_cert and tls_key go together")),
        };
        let root_cert = tls.authority.as_ref().map(read).transpose()?;
        // Several libraries in one program may bring their own; who comes first decides.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self(TlsCertificates { client_tls, root_cert }))
    }
}

// ===== Live =====

/// A connection that is up, as far as is known. Clones share it.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) address: Address,
    connection: MultiplexedConnection,
    ended: Arc<Ended>,
}

#[derive(Default)]
struct Ended {
    flag: AtomicBool,
    told: Notify,
    useful: AtomicBool,
}

impl Ended {
    fn set(&self) {
        self.flag.store(true, Ordering::Release);
        self.told.notify_waiters();
    }
}

impl Live {
    /// Sends one command. An error the server answers with is an error here.
    pub(crate) async fn ask(&self, command: &Cmd) -> Result<Value, Trouble> {
        let mut connection = self.connection.clone();
        let answer = connection.send_packed_command(command).await;
        answer.and_then(Value::extract_error).map_err(|error| self.noted(&error))
    }

    /// Sends several in one go. An error the server answers one of them with stays in its place.
    pub(crate) async fn ask_all(
        &self,
        commands: impl IntoIterator<Item = Cmd>,
    ) -> Result<Vec<Result<Value, Trouble>>, Trouble> {
        let mut pipeline = Pipeline::new();
        let mut count = 0;
        for command in commands {
            pipeline.add_command(command);
            count += 1;
        }
        let mut connection = self.connection.clone();
        let answers = connection.send_packed_commands(&pipeline, 0, count).await;
        let answers = answers.map_err(|error| self.noted(&error))?;
        if answers.len() != count {
            return Err(Trouble::Lost("the answer can't be read"));
        }
        let answers = answers.into_iter();
        Ok(answers.map(|it| it.extract_error().map_err(|error| self.noted(&error))).collect())
    }

    fn noted(&self, error: &redis::RedisError) -> Trouble {
        let trouble = Trouble::of(error);
        if trouble.ends_connection() {
            self.give_up();
        }
        trouble
    }

    /// A call was answered on it.
    pub(crate) fn was_of_use(&self) {
        self.ended.useful.store(true, Ordering::Relaxed);
    }

    /// Whether any call was answered on it.
    pub(crate) fn has_been_of_use(&self) -> bool {
        self.ended.useful.load(Ordering::Relaxed)
    }

    /// Nobody uses it for anything new. What is under way on it may come to its end.
    pub(crate) fn give_up(&self) {
        self.ended.set();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.flag.load(Ordering::Acquire)
    }

    /// Comes back when it has ended or was given up.
    pub(crate) async fn end(&self) {
        let mut told = std::pin::pin!(self.ended.told.notified());
        told.as_mut().enable();
        if !self.has_ended() {
            told.await;
        }
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("address", &self.address)
            .field("ended", &self.has_ended())
            .finish()
    }
}
