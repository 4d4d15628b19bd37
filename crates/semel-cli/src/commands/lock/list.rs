//! `semel lock ls`.

use semel::core::Owner;
use semel::core::protocol::lock::LockStatus;
use semel::{LockError, Locks};
use serde_json::json;

use super::show;
use crate::output::{self, Form, Span, Table};

const PAGE: usize = 256;

pub(super) async fn run(locks: &Locks, prefix: &str, form: Form) -> Result<(), LockError> {
    let mut table = Table::new(&["LOCK", "HOLDER", "STATE", "SINCE", "LEFT", "WAITING"]);
    let mut rows = 0_usize;
    let mut after: Option<std::sync::Arc<str>> = None;
    loop {
        let page = locks.list(prefix, after.as_deref(), PAGE).await?;
        for lock in &page.locks {
            rows += 1;
            match (form, &lock.status) {
                (Form::Json, Some(status)) => {
                    output::data(&show::json(&lock.resource, status).to_string());
                }
                (Form::Json, None) => {
                    output::data(
                        &json!({ "resource": *lock.resource, "state": "damaged" }).to_string(),
                    );
                }
                (Form::Text, Some(status)) => text(&mut table, &lock.resource, status),
                (Form::Text, None) => {
                    let damaged = "damaged: it can't be read".to_owned();
                    table.row(vec![lock.resource.to_string(), String::new(), damaged]);
                }
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    match (form, rows) {
        (Form::Json, _) => {}
        (Form::Text, 0) => output::prose("semel: no lock is held"),
        (Form::Text, _) => output::data(&table.to_string()),
    }
    Ok(())
}

/// A row for each holder; one without a holder for a lock that is merely waited for.
fn text(table: &mut Table, resource: &str, status: &LockStatus) {
    let waiting = status.queue.len().to_string();
    if status.holders.is_empty() {
        let free = "free".to_owned();
        table.row(vec![
            resource.to_owned(),
            String::new(),
            free,
            String::new(),
            String::new(),
            waiting,
        ]);
        return;
    }
    for holder in &status.holders {
        table.row(vec![
            resource.to_owned(),
            holder.owner.as_ref().map_or("somebody", Owner::as_str).to_owned(),
            show::stage(holder),
            holder
                .since
                .map_or_else(String::new, |since| format!("{} ago", Span(status.now.since(since)))),
            Span(holder.left.as_duration()).to_string(),
            waiting.clone(),
        ]);
    }
}
