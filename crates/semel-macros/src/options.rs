//! What stands between the attribute's parentheses.

use proc_macro2::{Ident, Span};
use syn::meta::ParseNestedMeta;
use syn::parse::Parse;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Result, Token, parenthesized};

const TAKES: &str = "it takes `with`, `key`, `operation`, `scope`, `policy`, `input(..)`, \
                     `failures` and `permit`";

/// The options as they are read.
#[derive(Default)]
pub(crate) struct Given {
    with: Option<Expr>,
    key: Option<Expr>,
    operation: Option<LitStr>,
    rest: Rest,
}

/// Those that may be missing.
#[derive(Default)]
pub(crate) struct Rest {
    pub(crate) scope: Option<Expr>,
    pub(crate) policy: Option<Expr>,
    pub(crate) failures: Option<Expr>,
    pub(crate) input: Option<Punctuated<Expr, Token![,]>>,
    pub(crate) permit: Option<Ident>,
}

/// Options that make a call.
pub(crate) struct Options {
    pub(crate) with: Expr,
    pub(crate) key: Expr,
    pub(crate) operation: LitStr,
    pub(crate) rest: Rest,
}

impl Given {
    /// Takes one option.
    pub(crate) fn take(&mut self, option: &ParseNestedMeta<'_>) -> Result<()> {
        let name = option.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "with" => set(&mut self.with, option, value),
            "key" => set(&mut self.key, option, value),
            "operation" => set(&mut self.operation, option, |option| named(value(option)?)),
            "scope" => set(&mut self.rest.scope, option, value),
            "policy" => set(&mut self.rest.policy, option, value),
            "failures" => set(&mut self.rest.failures, option, value),
            "permit" => set(&mut self.rest.permit, option, value),
            "input" => set(&mut self.rest.input, option, list),
            _ => Err(option.error(format!("`#[semel::once]` has no such option: {TAKES}"))),
        }
    }

    /// All that must be there.
    pub(crate) fn complete(self) -> Result<Options> {
        Ok(Options {
            with: needed(self.with, "`with = ENGINE`: the `semel::Once` to run on")?,
            key: needed(self.key, "`key = TEXT`: an expression over the arguments")?,
            operation: needed(self.operation, "`operation = \"NAME\"`: what the function does")?,
            rest: self.rest,
        })
    }
}

fn needed<T>(option: Option<T>, what: &str) -> Result<T> {
    option.ok_or_else(|| Error::new(Span::call_site(), format!("`#[semel::once]` needs {what}")))
}

fn set<T>(
    place: &mut Option<T>,
    option: &ParseNestedMeta<'_>,
    read: impl Fn(&ParseNestedMeta<'_>) -> Result<T>,
) -> Result<()> {
    if place.is_some() {
        return Err(option.error("this option is here twice"));
    }
    *place = Some(read(option)?);
    Ok(())
}

fn value<T: Parse>(option: &ParseNestedMeta<'_>) -> Result<T> {
    option.value()?.parse()
}

fn list(option: &ParseNestedMeta<'_>) -> Result<Punctuated<Expr, Token![,]>> {
    let inputs;
    parenthesized!(inputs in option.input);
    let inputs = Punctuated::parse_terminated(&inputs)?;
    if inputs.is_empty() {
        return Err(option.error("without arguments nothing is compared: leave `input` out"));
    }
    Ok(inputs)
}

/// What `Operation::new` takes, told where it is written rather than when it runs.
fn named(operation: LitStr) -> Result<LitStr> {
    match operation.value().as_str() {
        "-" => Err(Error::new(operation.span(), "`-` stands for a call without an operation")),
        name if name.is_empty() || name.len() > 1024 => {
            Err(Error::new(operation.span(), "an operation's name has 1 to 1024 bytes"))
        }
        _ => Ok(operation),
    }
}
