//! Describing one operation.

use http::Method;
use semel::OnException;
use utoipa::openapi::path::{Operation, Parameter, PathItem};
use utoipa::openapi::{OpenApi, RefOr, Response};

use super::{answers, codes, parameter, problems};
use crate::door::Door;
use crate::layer::IdempotencyLayer;

impl IdempotencyLayer {
    /// Adds to an OpenAPI document what this layer does to one of its operations: the parameter
    /// that carries the key, the marks on recorded answers, and the problems that this layer can
    /// answer with. See [the module](crate::openapi).
    ///
    /// `path` is written as in the document. Describing an operation twice changes nothing.
    ///
    /// # Errors
    ///
    /// [`DescribeError`] when the document has no such operation, or this layer does not protect
    /// its method. The document is unchanged then.
    pub fn describe(
        &self,
        document: &mut OpenApi,
        path: &str,
        method: &Method,
    ) -> Result<(), DescribeError> {
        if !self.protects(method) {
            return Err(DescribeError::NotProtected { path: path.into(), method: method.clone() });
        }
        let components = document.components.get_or_insert_default();
        let shared = components.responses.clone();
        let operation = document
            .paths
            .paths
            .get_mut(path)
            .and_then(|item| of_method(item, method))
            .ok_or_else(|| DescribeError::NotThere { path: path.into(), method: method.clone() })?;
        describe(&self.door, operation, path, method, |name| {
            match shared.get(name.strip_prefix("#/components/responses/")?)? {
                RefOr::T(response) => Some(response.clone()),
                RefOr::Ref(_) => None,
            }
        });
        components.schemas.insert(problems::SCHEMA.to_owned(), problems::schema().into());
        Ok(())
    }

    /// Whether requests of this method are protected.
    #[must_use]
    pub fn protects(&self, method: &Method) -> bool {
        self.door.settings.methods.contains(method)
    }
}

/// Why an operation can't be described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescribeError {
    /// The document does not have it.
    #[error("the document has no operation {method} {path}; it takes one of the document's own")]
    NotThere {
        /// The path.
        path: Box<str>,
        /// The method.
        method: Method,
    },
    /// The layer lets the method pass.
    #[error(
        "{method} {path} is not protected: idempotency.methods does not name {method}, so its \
         document must not say that it is"
    )]
    NotProtected {
        /// The path.
        path: Box<str>,
        /// The method.
        method: Method,
    },
}

fn of_method<'a>(item: &'a mut PathItem, method: &Method) -> Option<&'a mut Operation> {
    match method.as_str() {
        "GET" => item.get.as_mut(),
        "PUT" => item.put.as_mut(),
        "POST" => item.post.as_mut(),
        "DELETE" => item.delete.as_mut(),
        "OPTIONS" => item.options.as_mut(),
        "HEAD" => item.head.as_mut(),
        "PATCH" => item.patch.as_mut(),
        "TRACE" => item.trace.as_mut(),
        "QUERY" => item.query.as_mut(),
        other => item.additional_operations.get_mut(other),
    }
}

fn describe(
    door: &Door,
    operation: &mut Operation,
    path: &str,
    method: &Method,
    shared: impl Fn(&str) -> Option<Response>,
) {
    for parameter in parameter::all(door) {
        put(operation.parameters.get_or_insert_default(), parameter);
    }
    for (status, response) in &mut operation.responses.responses {
        // A response that others share is not theirs alone any more once it is marked.
        if let RefOr::Ref(to) = response
            && let Some(own) = shared(&to.ref_location)
        {
            *response = RefOr::T(own);
        }
        if let RefOr::T(response) = response
            && !problems::is_alone(response)
        {
            answers::mark(door, status, response);
        }
    }
    let responses = &mut operation.responses.responses;
    for (status, codes) in codes::by_status(door) {
        let response = responses.entry(status.to_string()).or_insert_with(|| RefOr::T(none()));
        if let RefOr::T(response) = response {
            problems::add(door, method, path, &codes, response);
        }
    }
    if door.policy.on_exception() == OnException::Record {
        let failed = responses.entry("500".to_owned()).or_insert_with(|| {
            let mut failed = none();
            failed.description = "The work gave no answer; every retry is told so.".to_owned();
            RefOr::T(failed)
        });
        if let RefOr::T(failed) = failed {
            problems::add_without_code(failed);
            answers::mark(door, "500", failed);
        }
    }
}

fn none() -> Response {
    Response::new("")
}

/// In place of one of the same name and place; names of headers have no letter case.
fn put(parameters: &mut Vec<RefOr<Parameter>>, parameter: Parameter) {
    parameters.retain(|there| match there {
        RefOr::T(there) => {
            there.parameter_in != parameter.parameter_in
                || !there.name.eq_ignore_ascii_case(&parameter.name)
        }
        RefOr::Ref(_) => true,
    });
    parameters.push(parameter.into());
}
