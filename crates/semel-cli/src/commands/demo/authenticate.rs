//! Authentication: `Authorization: ApiKey …`.
//!
//! It stands outside the idempotency layer. A call that isn't allowed must never
//! reach a record, and a record belongs to the account, not to the credential.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::accounts::Account;
use super::problem::Problem;

/// Puts the [`Account`] and its scope into the request's extensions, or answers 401.
pub(crate) async fn authenticate(mut request: Request, next: Next) -> Response {
    let Some(account) = account(request.headers()) else {
        return unauthorized();
    };
    let Ok(scope) = account.scope() else {
        return Problem::internal("The account has no scope.").into_response();
    };
    request.extensions_mut().insert(account);
    request.extensions_mut().insert(scope);
    next.run(request).await
}

/// Whose credential a call brings.
pub(crate) fn account(headers: &HeaderMap) -> Option<Account> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    // Two credentials: nobody can say whose call it is.
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, key) = value.as_bytes().split_at_checked("ApiKey ".len())?;
    if scheme.eq_ignore_ascii_case(b"ApiKey ") { Account::of_key(key.trim_ascii()) } else { None }
}

fn unauthorized() -> Response {
    let mut response = Problem::new(
        StatusCode::UNAUTHORIZED,
        "DEMO_UNAUTHORIZED",
        "An API key is needed",
        "Send one header `Authorization: ApiKey KEY` with one of the keys that were printed at start.",
    )
    .into_response();
    let scheme = HeaderValue::from_static("ApiKey");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(values: &[&'static str]) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
        }
        account(&headers).map(|account| account.subject)
    }

    #[test]
    fn the_scheme_is_read_in_any_case() {
        assert_eq!(subject(&["ApiKey dev-alice-key"]), Some("alice"));
        assert_eq!(subject(&["apikey  dev-bob-key"]), Some("bob"));
    }

    #[test]
    fn anything_but_one_known_key_is_nobody() {
        for values in [
            &[][..],
            &["dev-alice-key"],
            &["Bearer dev-alice-key"],
            &["ApiKey"],
            &["ApiKey "],
            &["ApiKey dev-alice-key2"],
            &["ApiKey dev-alice-key", "ApiKey dev-alice-key"],
        ] {
            assert_eq!(subject(values), None, "{values:?}");
        }
    }
}
