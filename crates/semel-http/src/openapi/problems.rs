//! The answers of the layer itself.

use http::Method;
use semel::Code;
use serde_json::Value;
use utoipa::openapi::content::Content;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{AllOfBuilder, AnyOfBuilder, Schema};
use utoipa::openapi::{Header, ObjectBuilder, Ref, RefOr, Response, Type};

use super::codes;
use crate::door::Door;

/// The name of the schema component.
pub(super) const SCHEMA: &str = "SemelProblem";
/// What the layer's part of a description begins with.
const OWN: &str = "Refused before the handler: ";
const MEDIA_TYPE: &str = "application/problem+json";

/// The schema of every problem document that a layer makes (RFC 9457).
///
/// Those without a code (an upload that broke off, a service that is going away) have neither
/// `messageKey` nor `params` either.
pub(super) fn schema() -> Schema {
    let text = |description: &str| {
        ObjectBuilder::new().schema_type(Type::String).description(Some(description))
    };
    let mut codes: Vec<&str> = Code::ALL.iter().map(|code| code.code()).collect();
    codes.dedup();
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("Why a request was not carried out (RFC 9457)."))
        .property("type", text("A URI of the kind: `urn:semel:problem:` and the code."))
        .property("title", text("The kind in words, in the language of `Content-Language`."))
        .property("status", ObjectBuilder::new().schema_type(Type::Integer))
        .property("detail", text("What is wrong with this request, and what to do."))
        .property("code", text("The kind, for programs.").enum_values(Some(codes)))
        .property("messageKey", text("The key of a text of one's own."))
        .property("params", ObjectBuilder::new().schema_type(Type::Object))
        .property(
            "sameKey",
            ObjectBuilder::new()
                .schema_type(Type::Boolean)
                .description(Some("Whether the same key may be sent again.")),
        );
    let required = ["type", "title", "status", "detail", "sameKey"];
    required.into_iter().fold(object, ObjectBuilder::required).build().into()
}

/// Whether a response is the layer's alone: the handler never answers so.
pub(super) fn is_alone(response: &Response) -> bool {
    response.description.starts_with(OWN)
}

/// Adds what the layer answers with this status to what the handler answers with it.
pub(super) fn add(
    door: &Door,
    method: &Method,
    path: &str,
    codes: &[Code],
    response: &mut Response,
) {
    response.description = with_codes(&response.description, codes);
    response.headers.insert("Idempotency-Error".to_owned(), error_header(codes).into());
    response.headers.insert("Content-Language".to_owned(), language_header().into());
    if codes::may_say_when(door, codes) {
        response.headers.insert("Retry-After".to_owned(), retry_after_header().into());
    }
    let content =
        response.content.entry(MEDIA_TYPE.to_owned()).or_insert_with(|| Content::default().into());
    // What a component says of this media type stays: beside a reference there is no place.
    if let RefOr::T(content) = content {
        merge(content, own_schema(codes));
        for code in codes {
            if let Some(value) = codes::example(door, method, path, *code) {
                let example = ExampleBuilder::new().value(Some(value)).build();
                content.examples.insert(code.message_key().to_owned(), RefOr::T(example));
            }
        }
    }
}

/// Adds the problem that stands for work which gave no answer: it has no code.
pub(super) fn add_without_code(response: &mut Response) {
    if let RefOr::T(content) =
        response.content.entry(MEDIA_TYPE.to_owned()).or_insert_with(|| Content::default().into())
    {
        merge(content, own_schema(&[]));
    }
}

fn merge(content: &mut Content, own: RefOr<Schema>) {
    content.schema = Some(match content.schema.take() {
        None => own,
        Some(there) if there == own || is_ours(&there) => there,
        Some(there) => RefOr::T(AnyOfBuilder::new().item(there).item(own).build().into()),
    });
}

/// Whether a schema was made here, alone or beside the handler's.
fn is_ours(schema: &RefOr<Schema>) -> bool {
    let location = Ref::from_schema_name(SCHEMA).ref_location;
    let is_it =
        |part: &RefOr<Schema>| matches!(part, RefOr::Ref(to) if to.ref_location == location);
    match schema {
        RefOr::T(Schema::AllOf(all)) => all.items.iter().any(is_it),
        RefOr::T(Schema::AnyOf(any)) => any.items.iter().any(is_ours),
        _ => false,
    }
}

fn own_schema(codes: &[Code]) -> RefOr<Schema> {
    let mut all = AllOfBuilder::new().item(Ref::from_schema_name(SCHEMA));
    if !codes.is_empty() {
        let text = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(texts(codes)));
        all = all.item(ObjectBuilder::new().property("code", text));
    }
    RefOr::T(all.build().into())
}

/// The codes' texts, each once.
fn texts(codes: &[Code]) -> Vec<Value> {
    let mut texts: Vec<&str> = codes.iter().map(|code| code.code()).collect();
    texts.dedup();
    texts.into_iter().map(Value::from).collect()
}

fn with_codes(description: &str, codes: &[Code]) -> String {
    let keys: Vec<String> =
        codes.iter().map(|code| format!("`{}` ({})", code.code(), code.message_key())).collect();
    let own = format!("{OWN}{}.", keys.join(", "));
    match description {
        "" => own,
        described if described.contains(&own) => described.to_owned(),
        described => format!("{described} {own}"),
    }
}

fn error_header(codes: &[Code]) -> Header {
    let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(texts(codes)));
    let text = "The code of a refusal: the handler did not answer this request.";
    HeaderBuilder::new().schema(Some(schema.build())).description(Some(text)).build()
}

fn language_header() -> Header {
    let schema = ObjectBuilder::new().schema_type(Type::String).build();
    HeaderBuilder::new().schema(Some(schema)).description(Some("Of the texts.")).build()
}

fn retry_after_header() -> Header {
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let text = "Seconds after which the same request may be sent again, with the same key.";
    HeaderBuilder::new().schema(Some(schema.build())).description(Some(text)).build()
}
