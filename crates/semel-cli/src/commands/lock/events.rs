//! What happens to a command under a lock, told on stderr: a line for people, or JSON.

use semel::LockGuard;
use serde_json::{Value, json};

use crate::output::{self, Form, safe};

/// Tells what happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Events<'a> {
    pub(super) form: Form,
    pub(super) resource: &'a str,
}

impl Events<'_> {
    /// People see the command's own output; programs are told where it begins.
    pub(super) fn acquired(self, guard: &LockGuard) {
        if self.form == Form::Json {
            self.tell("acquired", &json!({ "fence": guard.fence().get() }));
        }
    }

    pub(super) fn held(self, line: &str) {
        match self.form {
            Form::Text => output::prose(&format!("semel: {line}")),
            Form::Json => self.tell("held", &json!({ "message": line })),
        }
    }

    /// The command was ended for it, or ran on without it.
    pub(super) fn lost(self, why: &str, ended: &str) {
        match self.form {
            Form::Text => {
                output::prose(&format!(
                    "semel: {} was lost: {}; {ended}",
                    self.resource,
                    safe(why)
                ));
            }
            Form::Json => self.tell("lost", &json!({ "reason": why, "message": ended })),
        }
    }

    pub(super) fn ended(self, code: u8) {
        if self.form == Form::Json {
            self.tell("ended", &json!({ "exit_code": code }));
        }
    }

    /// What happened with the release, where that is worth a word.
    pub(super) fn released(self, trouble: Option<&str>) {
        match (self.form, trouble) {
            (Form::Text, None) => {}
            (Form::Text, Some(trouble)) => output::prose(&format!("semel: {trouble}")),
            (Form::Json, None) => self.tell("released", &json!({})),
            (Form::Json, Some(trouble)) => {
                self.tell("not_released", &json!({ "message": trouble }))
            }
        }
    }

    fn tell(self, event: &str, more: &Value) {
        let mut line = json!({ "event": event, "resource": self.resource });
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        output::prose(&line.to_string());
    }
}
