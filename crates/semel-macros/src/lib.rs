//! The attribute of crate `semel`, which documents it: `#[semel::once(..)]`.

mod expand;
mod options;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::Result;
use syn::parse::Parser;

/// Runs an `async fn` once for each key. Use it as `semel::once`, which has the manual.
#[proc_macro_attribute]
pub fn once(
    options: proc_macro::TokenStream,
    function: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let expanded = expanded(options.into(), function.into());
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn expanded(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let mut given = options::Given::default();
    syn::meta::parser(|option| given.take(&option)).parse2(options)?;
    expand::expand(given.complete()?, syn::parse2(function)?)
}
