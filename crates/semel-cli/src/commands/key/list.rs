//! `semel key ls`.

use semel::Once;
use semel::core::StoreError;
use serde_json::json;

use super::look;
use super::show;
use crate::output::{self, Form, Span, Table};
use crate::plan::WHOLE_KEYS;

const PREFIX: &str = "idem:";
const PAGE: usize = 256;

pub(super) async fn run(once: &Once, prefix: &str, form: Form) -> Result<(), StoreError> {
    let mut table = Table::new(&["KEY", "STATE", "OPERATION", "WRITTEN"]);
    let mut rows = 0_usize;
    let is_whole = WHOLE_KEYS.iter().any(|whole| prefix.starts_with(whole));
    let whole = if is_whole { prefix.to_owned() } else { own_or_all(prefix) };
    let mut after = None;
    loop {
        let page = once.store().scan(&whole, after.as_ref(), PAGE).await?;
        for (key, entry) in &page.entries {
            rows += 1;
            let looked = look::listed(&key.digest(), page.now, entry);
            match (form, looked) {
                (Form::Json, Some(looked)) => {
                    output::data(&show::json(key.as_str(), &looked).to_string());
                }
                (Form::Json, None) => {
                    output::data(&json!({ "key": key.as_str(), "state": "damaged" }).to_string());
                }
                (Form::Text, Some(looked)) => table.row(vec![
                    key.to_string(),
                    show::state(&looked, &looked.status()),
                    looked.operation().to_owned(),
                    format!("{} ago", Span(looked.age())),
                ]),
                (Form::Text, None) => {
                    table.row(vec![key.to_string(), "damaged: it can't be read".to_owned()]);
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
        (Form::Text, 0) => output::prose("semel: there are no keys"),
        (Form::Text, _) => output::data(&table.to_string()),
    }
    Ok(())
}

/// A prefix as `semel once` takes keys, or none: then all.
fn own_or_all(prefix: &str) -> String {
    if prefix.is_empty() {
        return PREFIX.to_owned();
    }
    match semel::Key::idempotency(&semel::Scope::anonymous(), prefix) {
        Ok(key) => key.to_string(),
        Err(_) => format!("{PREFIX}{prefix}"),
    }
}
