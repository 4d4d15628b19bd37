//! Payments that arrive as messages from RabbitMQ and are booked once each, however often they
//! are delivered.
//!
//! ```text
//! $ inbox_rabbitmq publish amqp://localhost/%2f e-1 alice 1999    # any number of times
//! $ inbox_rabbitmq consume amqp://localhost/%2f sqlite:shop.db    # any number of processes
//! $ inbox_rabbitmq redrive amqp://localhost/%2f                   # what is in the dead-letter queue
//! ```
//!
//! A payment is booked for an account that there is; `consume` opens that of alice. With a store
//! alone the payment's row commits in one transaction with the record that its message was handled:
//! exactly one row for each event, whenever a consumer is killed. With `rows=FILE` the rows are in
//! another file of SQLite, which commits by itself: a consumer that is killed between the two
//! commits has booked a payment that its successor books again.
//!
//! More options of `consume`: `queue=NAME`, `lease=SECONDS`, `attempts=NUMBER`, `pause=MILLISECONDS`
//! (how long a payment takes, to have time to kill it in).

mod books;
mod broker;
mod options;

use std::error::Error;
use std::sync::Arc;

use futures_util::StreamExt;
use semel::inbox::{AttemptLimit, Consumer, Delivery, Disposition, Inbox, InboxError};
use semel::{Guarantee, Once, Policy};

use books::{Books, NotBooked, Payment};
use broker::Broker;
use options::{Consume, Options};

/// How many messages a process works on at once.
const AT_ONCE: u16 = 4;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    match Options::read()? {
        Options::Publish { amqp, queue, event, payment } => {
            let broker = Broker::connect(&amqp, &queue, AT_ONCE).await?;
            broker.publish(&event, payment.as_bytes()).await?;
        }
        Options::Redrive { amqp, queue } => {
            let moved = Broker::connect(&amqp, &queue, AT_ONCE).await?.redrive().await?;
            println!("{moved} messages");
        }
        Options::Consume(options) => consume(options).await?,
    }
    Ok(())
}

async fn consume(options: Consume) -> Result<()> {
    let (inbox, books) = open(&options).await?;
    let broker = Broker::connect(&options.amqp, &options.queue, AT_ONCE).await?;
    let messages = broker.messages().await?;
    println!("ready");
    // Each on its own: a message that takes long holds up nobody.
    messages
        .for_each_concurrent(usize::from(AT_ONCE), async |message| {
            let settled = match message {
                Ok(message) => handle(&inbox, &books, &broker, message).await,
                Err(error) => Err(error.into()),
            };
            // The broker is gone. What was not acknowledged it delivers again.
            settled.unwrap_or_else(|error| {
                eprintln!("{error}");
                std::process::exit(1)
            });
        })
        .await;
    Ok(())
}

async fn open(options: &Consume) -> Result<(Inbox, Books)> {
    let transactions = semel::open_with_transactions(&options.store).await?;
    let books = Books::open(options).await?;
    let guarantee = match books {
        Books::InTheFile(_) => Guarantee::Retryable,
        Books::WithTheRecord(_) => Guarantee::Transactional,
    };
    let policy = Policy::builder().guarantee(guarantee).in_progress_time_to_live(options.lease);
    let inbox =
        Inbox::builder(Once::with_transactions(transactions), Consumer::new("bookkeeping")?)
            .policy(Arc::new(policy.build()?))
            .attempt_limit(AttemptLimit::AtMost(options.attempts))
            .build()?;
    Ok((inbox, books))
}

/// Handles a message, and does with it what came of that.
async fn handle(
    inbox: &Inbox,
    books: &Books,
    broker: &Broker,
    message: lapin::message::Delivery,
) -> Result<()> {
    let Ok(envelope) = broker::envelope(&message) else {
        // Without an identity it can't be told from its repeats.
        broker.put_aside(message, "no CloudEvent").await?;
        return Ok(());
    };
    let receive = inbox.receive(&envelope);
    let payment = Payment::read(envelope.id().id(), &message.data);
    let delivered: std::result::Result<Delivery<NotBooked>, InboxError<NotBooked>> = match books {
        Books::InTheFile(file) => receive.run(async |_| file.book(payment?).await).await,
        Books::WithTheRecord(books) => {
            let book = async |_, transaction| books.book(payment?, transaction).await;
            receive.run_in_transaction(book).await
        }
    };
    println!("{}", word(&delivered));
    match Disposition::of(&delivered) {
        Disposition::Acknowledge => broker.acknowledge(&message).await?,
        Disposition::PutBack(_) => broker.put_back(message).await?,
        Disposition::DeadLetter => broker.put_aside(message, word(&delivered)).await?,
    }
    Ok(())
}

fn word(delivered: &std::result::Result<Delivery<NotBooked>, InboxError<NotBooked>>) -> &str {
    match delivered {
        Ok(Delivery::Handled | Delivery::Unprotected) => "booked",
        Ok(Delivery::Duplicate) => "booked before",
        Ok(Delivery::Later(_)) => "being booked elsewhere",
        Ok(Delivery::Poison { .. }) => "tried too often",
        Ok(Delivery::InDoubt { .. }) => "in doubt",
        Ok(Delivery::Refused(_)) => "another payment under the id of one that was booked",
        Err(InboxError::Failed { error: NotBooked::Malformed, .. }) => "malformed",
        Err(InboxError::Failed { error: NotBooked::NoAccount, .. }) => "no such account",
        Err(_) => "the store failed",
        Ok(_) => "unknown to this version",
    }
}
