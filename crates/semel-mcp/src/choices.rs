//! The single choices. Each says what it trades.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, Tool};
use semel::UnknownWord;
use semel_http::Finality;

/// Judges a tool by its name and its description.
type ToolRule = dyn Fn(&str, Option<&Tool>) -> Protection + Send + Sync;
/// Judges an answer.
type AnswerRule = dyn Fn(Result<&CallToolResult, &ErrorData>) -> Finality + Send + Sync;

// ===== Tools =====

/// Which tools are protected. The calls of all others pass, keys unread.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Tools {
    /// All but those that say that they only read (`annotations.readOnlyHint`). Default.
    ///
    /// What a tool says of itself is what [`ServerHandler::get_tool`] gives, which the macro
    /// `tool_handler` writes; a tool that it does not know counts as one that has an effect.
    ///
    /// [`ServerHandler::get_tool`]: rmcp::ServerHandler::get_tool
    #[default]
    NotReadOnly,
    /// All of them.
    All,
    /// Those of these names.
    Only(BTreeSet<Arc<str>>),
    /// As a function of the name and of the tool's description says.
    Custom(Arc<ToolRule>),
}

/// Whether a tool's calls are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protection {
    /// Calls that bring a key run once.
    Protected,
    /// Calls pass, whatever they bring.
    Passed,
}

impl Tools {
    /// Those of these names.
    pub fn only<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Only(names.into_iter().map(Arc::from).collect())
    }

    pub(crate) fn protection(&self, name: &str, tool: impl FnOnce() -> Option<Tool>) -> Protection {
        let protected = match self {
            Self::NotReadOnly => !tool().is_some_and(|tool| is_read_only(&tool)),
            Self::All => true,
            Self::Only(names) => names.contains(name),
            Self::Custom(judge) => return judge(name, tool().as_ref()),
        };
        if protected { Protection::Protected } else { Protection::Passed }
    }
}

fn is_read_only(tool: &Tool) -> bool {
    tool.annotations.as_ref().and_then(|notes| notes.read_only_hint) == Some(true)
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReadOnly => f.write_str("NotReadOnly"),
            Self::All => f.write_str("All"),
            Self::Only(names) => f.debug_tuple("Only").field(names).finish(),
            Self::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}

// ===== Failures =====

/// Which answers are recorded and given again, and which free the key for a retry.
///
/// A tool fails in two ways: it gives a result that says `isError`, which its caller sees, or a
/// protocol error, which says that the request could not be served. Neither has a status that would
/// tell "no" from "not now".
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Failures {
    /// Only results that don't say `isError`. Default: a retry after a failure runs.
    #[default]
    SuccessOnly,
    /// Every result, `isError` or not: right where a tool uses `isError` for answers that stand,
    /// such as a card that was declined. Protocol errors free the key.
    Results,
    /// Protocol errors too. What [`Guarantee::AtMostOnce`](semel::Guarantee::AtMostOnce) asks for,
    /// where a failed try may have had the one effect that is allowed.
    All,
    /// As a function of the answer says.
    Custom(Arc<AnswerRule>),
}

impl Failures {
    /// The words that this setting takes.
    pub const WORDS: &[&str] = &["success_only", "results", "all"];

    /// Judges an answer of a tool.
    #[must_use]
    pub fn judge(&self, answer: Result<&CallToolResult, &ErrorData>) -> Finality {
        let is_final = match self {
            Self::SuccessOnly => answer.is_ok_and(|result| result.is_error != Some(true)),
            Self::Results => answer.is_ok(),
            Self::All => true,
            Self::Custom(judge) => return judge(answer),
        };
        if is_final { Finality::Final } else { Finality::Transient }
    }
}

impl FromStr for Failures {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "success_only" => Ok(Self::SuccessOnly),
            "results" => Ok(Self::Results),
            "all" => Ok(Self::All),
            _ => Err(UnknownWord::new(word, Self::WORDS)),
        }
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SuccessOnly => "SuccessOnly",
            Self::Results => "Results",
            Self::All => "All",
            Self::Custom(_) => "Custom(..)",
        })
    }
}
