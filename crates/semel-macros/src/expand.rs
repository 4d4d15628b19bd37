//! The function with its call around its work.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemFn, Result, ReturnType, Type};

use crate::options::{Options, Rest};

/// The same function, whose body is the work of a call.
pub(crate) fn expand(options: Options, mut function: ItemFn) -> Result<TokenStream> {
    let output = output(&function)?.clone();
    let Options { with, key, operation, rest } = options;
    // Names of ours that the function's own body can't see.
    let [once, text, call] =
        ["once", "key", "call"].map(|name| Ident::new(name, Span::mixed_site()));
    let engine = quote_spanned!(with.span()=> ::core::clone::Clone::clone(&(#with)));
    let key = quote_spanned!(key.span()=> ::core::convert::AsRef::<str>::as_ref(&(#key)));
    let settings = settings(&rest, &call);
    let permit = rest.permit.map_or_else(|| quote!(_), Ident::into_token_stream);
    let work = &function.block;
    // What can't be recorded, or can't hold a refusal: the return type is what has to change.
    let run = quote_spanned!(output.span()=> run);
    let error = Ident::new("error", Span::mixed_site().located_at(output.span()));
    let told = quote_spanned!(output.span()=> ::core::convert::From::from);
    let body = quote!({
        let #once: ::semel::Once = #engine;
        // The work may move what the key was made from.
        let #text: ::std::string::String = ::std::borrow::ToOwned::to_owned(#key);
        let #call = #once.call(&#text).operation(#operation);
        #settings
        let #call = #call.#run(async move |#permit: ::semel::Permit| -> #output #work);
        #call.await.map_err(|#error| #told(#error))
    });
    *function.block = syn::parse2(body)?;
    Ok(function.into_token_stream())
}

/// What the function returns, if it can be the work of a call.
fn output(function: &ItemFn) -> Result<&Type> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        let why = "`#[semel::once]` goes on an `async fn`: the store is asked before it runs";
        return Err(Error::new(signature.fn_token.span(), why));
    }
    match &signature.output {
        ReturnType::Type(_, output) => Ok(output),
        ReturnType::Default => {
            let why = "`#[semel::once]` goes on a function that returns a `Result`: it may be \
                       refused";
            Err(Error::new(signature.ident.span(), why))
        }
    }
}

/// The settings of the call that are given.
fn settings(rest: &Rest, call: &Ident) -> TokenStream {
    let input = rest.input.iter().map(|inputs| {
        let inputs = inputs.iter();
        quote!(let #call = #call.input(&(#(&(#inputs),)*));)
    });
    let scope = rest.scope.iter().map(|scope| quote!(let #call = #call.scope(#scope);));
    let policy = rest.policy.iter().map(|policy| quote!(let #call = #call.policy(#policy);));
    let failures = rest.failures.iter().map(|rule| quote!(let #call = #call.failures(#rule);));
    quote!(#(#input)* #(#scope)* #(#policy)* #(#failures)*)
}
