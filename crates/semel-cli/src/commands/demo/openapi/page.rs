//! The document as a page: made once, at the start, without a script.

use serde_json::{Map, Value};

use super::html::Html;

/// Writes the page of a document.
pub(super) fn page(document: &Value) -> String {
    let mut html = Html::default();
    html.open("!doctype html")
        .open(r#"html lang="en""#)
        .open("head")
        .open(r#"meta charset="utf-8""#);
    html.open(r#"meta name="viewport" content="width=device-width""#);
    html.open(r#"link rel="stylesheet" href="/docs/style.css""#);
    html.element("title", text(document, "/info/title")).close("head").open("body");
    html.element("h1", text(document, "/info/title"));
    html.open("p").prose(text(document, "/info/description")).close("p");
    html.open("p").text("For programs: ").open(r#"a href="/openapi.json""#).text("/openapi.json");
    html.close("a").close("p");
    for (path, item) in members(document.get("paths")) {
        for (method, operation) in members(Some(item)) {
            section(&mut html, path, method, operation);
        }
    }
    schemas(&mut html, document);
    html.close("body").close("html");
    html.finish()
}

fn section(html: &mut Html, path: &str, method: &str, operation: &Value) {
    html.open("section").open("h2").element("b", &method.to_uppercase()).text(" ").text(path);
    html.close("h2");
    html.open("p").prose(text(operation, "/summary")).close("p");
    html.open("p").prose(text(operation, "/description")).close("p");
    if operation.get("security").is_some() {
        html.open("p").prose("It needs an API key: `Authorization: ApiKey …`.").close("p");
    }
    parameters(html, operation);
    for (media, content) in members(operation.pointer("/requestBody/content")) {
        html.element("h3", &format!("Body: {media}"));
        html.json(content.get("schema").unwrap_or(&Value::Null));
    }
    html.element("h3", "Answers");
    for (status, response) in members(operation.get("responses")) {
        answer(html, status, response);
    }
    html.close("section");
}

fn parameters(html: &mut Html, operation: &Value) {
    let Some(parameters) = operation.get("parameters").and_then(Value::as_array) else { return };
    html.element("h3", "Parameters").open("table");
    for parameter in parameters {
        let required = match parameter.get("required") {
            Some(Value::Bool(true)) => "required",
            _ => "optional",
        };
        html.open("tr").element("th", text(parameter, "/name"));
        html.element("td", &format!("{}, {required}", text(parameter, "/in")));
        html.open("td").prose(text(parameter, "/description"));
        html.json(parameter.get("schema").unwrap_or(&Value::Null)).close("td").close("tr");
    }
    html.close("table");
}

fn answer(html: &mut Html, status: &str, response: &Value) {
    html.open("details").open("summary").element("b", status).text(" ");
    html.prose(text(response, "/description")).close("summary");
    html.open("table");
    for (name, header) in members(response.get("headers")) {
        html.open("tr").element("th", name).open("td").prose(text(header, "/description"));
        html.close("td").close("tr");
    }
    html.close("table");
    for (media, content) in members(response.get("content")) {
        html.element("h4", media).json(content.get("schema").unwrap_or(&Value::Null));
        for (name, example) in members(content.get("examples")) {
            html.element("h5", name).json(example.get("value").unwrap_or(&Value::Null));
        }
    }
    html.close("details");
}

fn schemas(html: &mut Html, document: &Value) {
    html.open("section").element("h2", "Schemas");
    for (name, schema) in members(document.pointer("/components/schemas")) {
        html.open("details").element("summary", name).json(schema).close("details");
    }
    html.close("section");
}

/// The text at a place; nothing where there is none.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.and_then(Value::as_object).into_iter().flat_map(Map::iter);
    members.map(|(name, value)| (name.as_str(), value))
}
