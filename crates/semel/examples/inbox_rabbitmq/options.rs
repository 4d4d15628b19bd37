//! What the program is called with.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

const USAGE: &str = "usage: inbox_rabbitmq publish AMQP_URL EVENT ACCOUNT CENTS [queue=NAME]
       inbox_rabbitmq consume AMQP_URL STORE_URL [rows=FILE] [queue=NAME] [lease=SECONDS]
                              [attempts=NUMBER] [pause=MILLISECONDS]
       inbox_rabbitmq redrive AMQP_URL [queue=NAME]";

pub(crate) enum Options {
    Publish { amqp: String, queue: String, event: String, payment: String },
    Consume(Consume),
    Redrive { amqp: String, queue: String },
}

pub(crate) struct Consume {
    pub(crate) amqp: String,
    pub(crate) queue: String,
    pub(crate) store: String,
    /// A file of SQLite for the rows; none where they are in the store's database.
    pub(crate) rows: Option<String>,
    pub(crate) lease: Duration,
    pub(crate) attempts: u32,
    /// How long a payment takes.
    pub(crate) pause: Duration,
}

impl Options {
    pub(crate) fn read() -> Result<Self, Box<dyn Error>> {
        let (named, words): (Vec<String>, Vec<String>) = std::env::args()
            .skip(1)
            .partition(|argument| argument.contains('=') && !is_url(argument));
        let named: HashMap<&str, &str> =
            named.iter().filter_map(|argument| argument.split_once('=')).collect();
        let number = |name, usual: u64| named.get(name).map_or(Ok(usual), |text| text.parse());
        let queue = named.get("queue").copied().unwrap_or("payments").to_owned();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(match words[..] {
            ["publish", amqp, event, account, cents] => Self::Publish {
                amqp: amqp.to_owned(),
                queue,
                event: event.to_owned(),
                payment: format!("{account} {cents}"),
            },
            ["consume", amqp, store] => Self::Consume(Consume {
                amqp: amqp.to_owned(),
                queue,
                store: store.to_owned(),
                rows: named.get("rows").map(|file| (*file).to_owned()),
                lease: Duration::from_secs(number("lease", 30)?),
                attempts: u32::try_from(number("attempts", 5)?)?,
                pause: Duration::from_millis(number("pause", 0)?),
            }),
            ["redrive", amqp] => Self::Redrive { amqp: amqp.to_owned(), queue },
            _ => return Err(USAGE.into()),
        })
    }
}

/// A URL may hold the sign that names an option.
fn is_url(argument: &str) -> bool {
    let schemes = ["amqp:", "amqps:", "sqlite:", "postgres:", "postgresql:"];
    schemes.iter().any(|scheme| argument.starts_with(scheme))
}
