//! The middleware of `reqwest-middleware`.

use http::Extensions;
use reqwest::{Body, Request, Response, ResponseBuilderExt, Url};
use reqwest_middleware::{Error, Middleware, Next};

use super::asked::{Kept, prepare};
use super::drive::{Wire, drive};
use super::failure::{self, Failure};
use super::key::RequestKey;
use super::layer::SafeRetryLayer;
use super::read::AnswerBody;

/// What is put on before it runs once for each call, what is put on behind it for each try.
///
/// Its errors are [`ClientError`](super::ClientError), found by
/// [`ClientError::of`](super::ClientError::of).
#[async_trait::async_trait]
impl Middleware for SafeRetryLayer {
    async fn handle(
        &self,
        mut request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        let settings = &self.client.settings;
        let kept = kept(request.body(), settings.max_request_body);
        let own = extensions.get::<RequestKey>().cloned();
        let method = request.method().clone();
        let asked = prepare(settings, &method, request.headers_mut(), own.as_ref(), kept);
        let wire = ReqwestWire { request: Some(request), extensions, next };
        drive(&self.client, asked, wire).await.map(of_http).map_err(Error::middleware)
    }
}

fn kept(body: Option<&Body>, limit: usize) -> Kept {
    match body.map(Body::as_bytes) {
        None => Kept::Yes,
        Some(Some(bytes)) if bytes.len() <= limit => Kept::Yes,
        Some(_) => Kept::No,
    }
}

struct ReqwestWire<'a> {
    /// None once a request that can be sent only once was sent.
    request: Option<Request>,
    extensions: &'a mut Extensions,
    next: Next<'a>,
}

impl ReqwestWire<'_> {
    fn request(&mut self) -> Request {
        let copy = self.request.as_ref().and_then(Request::try_clone);
        copy.or_else(|| self.request.take()).expect("what can be sent once is sent once")
    }
}

impl Wire for ReqwestWire<'_> {
    type Body = Body;
    type Error = Error;

    async fn send(&mut self) -> Result<http::Response<Body>, Error> {
        let request = self.request();
        Ok(to_http(self.next.clone().run(request, self.extensions).await?))
    }

    fn failure(error: &Error) -> Option<Failure> {
        Some(failure::of_reqwest(error))
    }
}

/// Where an answer came from, after redirects: an answer of `http` has no place for it.
#[derive(Debug, Clone)]
struct Origin(Url);

fn to_http(response: Response) -> http::Response<Body> {
    let origin = Origin(response.url().clone());
    let mut response = http::Response::<Body>::from(response);
    response.extensions_mut().insert(origin);
    response
}

fn of_http(response: http::Response<AnswerBody<Body>>) -> Response {
    let (mut head, body) = response.into_parts();
    let mut response = http::Response::new(Body::wrap(body));
    if let Some(Origin(url)) = head.extensions.remove::<Origin>()
        && let Ok(with_url) = http::Response::builder().url(url).body(())
    {
        *response.extensions_mut() = with_url.into_parts().0.extensions;
    }
    *response.status_mut() = head.status;
    *response.version_mut() = head.version;
    *response.headers_mut() = head.headers;
    response.extensions_mut().extend(head.extensions);
    Response::from(response)
}
