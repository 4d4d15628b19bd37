//! `/openapi.json` and `/docs`: what the service takes and answers, for programs and for people.
//!
//! Both need no API key: they are what one reads before one has a key, and they hold nothing but
//! the shape of the service.

mod document;
mod html;
mod page;
mod routes;

pub(crate) use routes::routes;
