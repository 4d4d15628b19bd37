//! The service's own OpenAPI document, and answers held against it.

use serde_json::{Map, Value, json};

use super::{Answer, Call, Http, Server};

/// Headers that say something about a call, and so have to be in the document.
const TOLD: [&str; 8] = [
    "content-language",
    "idempotency-durable",
    "idempotency-error",
    "idempotency-unprotected",
    "idempotent-replayed",
    "location",
    "retry-after",
    "www-authenticate",
];

/// `/openapi.json` of a server.
#[derive(Debug)]
pub(crate) struct Described(pub(crate) Value);

impl Described {
    pub(crate) async fn of(server: &Server) -> Self {
        let call = Call::get("/openapi.json").without("authorization");
        let answer = server.client(Http::One).await.send(call).await;
        answer.assert_fresh(200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        Self(answer.json())
    }

    /// Every operation, as path, method and what is said of it.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        members(&self.0["paths"]).flat_map(|(path, item)| {
            members(item).map(move |(method, operation)| (path, method, operation))
        })
    }

    /// The answer is one that the document has: its status, its headers, its body.
    #[track_caller]
    pub(crate) fn assert_describes(&self, method: &str, path: &str, answer: &Answer) {
        let status = answer.status.as_str();
        let response = &self.0["paths"][path][method]["responses"][status];
        assert!(response.is_object(), "{method} {path}: {status} is not there: {answer:?}");
        for name in TOLD {
            if let Some(value) = answer.header(name) {
                self.assert_header(response, name, value);
            }
        }
        if answer.body.is_empty() {
            assert!(response["content"].is_null(), "{status}: a body was promised");
            return;
        }
        let media_type = answer.header("content-type").unwrap();
        let schema = &response["content"][media_type]["schema"];
        assert!(schema.is_object(), "{status}: {media_type} is not there");
        self.assert_valid(schema, &answer.json());
    }

    #[track_caller]
    fn assert_header(&self, response: &Value, name: &str, value: &str) {
        let header =
            members(&response["headers"]).find(|(said, _)| said.eq_ignore_ascii_case(name));
        let Some((_, header)) = header else { panic!("{name} is not there: {response}") };
        let schema = &header["schema"];
        let value = match schema["type"].as_str() {
            Some("integer") => json!(value.parse::<u64>().unwrap()),
            _ => json!(value),
        };
        self.assert_valid(schema, &value);
    }

    /// By a schema of this document.
    #[track_caller]
    pub(crate) fn assert_valid(&self, schema: &Value, value: &Value) {
        // References are to the document, which is therefore the root.
        let whole = json!({ "allOf": [schema], "components": self.0["components"] });
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}: {value} by {schema}");
    }
}

/// The members of an object; none of anything else.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flat_map(Map::iter);
    members.map(|(name, value)| (name.as_str(), value))
}
