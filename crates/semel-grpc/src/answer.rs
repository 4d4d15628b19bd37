//! What the layer within answers, as gRPC says it.

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::Body;
use semel::{Language, ParamValue, Problem};
use semel_http::{OwnAnswer, Replayed, ResponseBody};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::body::GrpcBody;
use crate::presented::PresentedBody;
use crate::{codes, media};

/// The `domain` of the `google.rpc.ErrorInfo` that tells of a problem.
pub const ERROR_DOMAIN: &str = "semel";

/// The code of a problem: tells the layer's own answer from the handler's, as under HTTP.
const ERROR: HeaderName = HeaderName::from_static("idempotency-error");

/// An answer of the layer within.
pub(crate) fn of<B: Body>(
    response: Response<ResponseBody<PresentedBody<B>>>,
) -> Response<GrpcBody<B>> {
    let (mut head, body) = response.into_parts();
    if let Some(own) = head.extensions.get::<OwnAnswer>().cloned() {
        let mut refusal = refusal(&own, head.status);
        *refusal.extensions_mut() = head.extensions;
        return refusal;
    }
    let is_replay = head.extensions.get::<Replayed>().is_some();
    if media::codec(&head.headers).is_some() {
        head.status = StatusCode::OK;
        if is_replay {
            // HTTP/1.1 needs it; the first reply had none.
            head.headers.remove(header::TRAILER);
        }
    } else if media::is_problem(&head.headers) && head.status.is_server_error() {
        // What is recorded of a handler that gave no reply, where that is to be final.
        let failed = status(codes::code_of(head.status), "The call could not be carried out.");
        let (said, ()) = failed.into_parts();
        head.status = StatusCode::OK;
        head.headers.extend(said.headers);
        head.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(head, GrpcBody::empty());
    }
    Response::from_parts(head, GrpcBody::keyed(body))
}

/// An answer for what has no code: a fault of the service.
pub(crate) fn fault<B: Body>(detail: &str) -> Response<GrpcBody<B>> {
    status(Code::Internal, detail).map(|()| GrpcBody::empty())
}

/// A protected method was called with something that is no gRPC.
pub(crate) fn no_grpc<B: Body>() -> Response<GrpcBody<B>> {
    let mut response = Response::new(GrpcBody::empty());
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    response
}

fn refusal<B: Body>(own: &OwnAnswer, http: StatusCode) -> Response<GrpcBody<B>> {
    let (problem, language) = match own {
        OwnAnswer::Problem(problem, language) => (problem, *language),
        OwnAnswer::Fault(detail) => {
            return status(codes::code_of(http), detail).map(|()| GrpcBody::empty());
        }
        // What kinds there will be besides: the code says as much as is known.
        _ => return status(codes::code_of(http), "").map(|()| GrpcBody::empty()),
    };
    let code = Code::from_i32(i32::from(problem.grpc().number()));
    let message = problem.detail(Language::English);
    let status = Status::with_error_details(code, message, details(problem, language));
    let mut response = status.into_http::<()>();
    let code = HeaderValue::from_static(problem.code().code());
    response.headers_mut().insert(ERROR, code);
    response.map(|()| GrpcBody::empty())
}

fn details(problem: &Problem, language: Language) -> ErrorDetails {
    let fixed = [
        ("messageKey".to_owned(), problem.message_key().to_owned()),
        ("sameKey".to_owned(), problem.same_key().as_bool().to_string()),
    ];
    let params = problem.params();
    let params = params.iter().map(|param| (param.name.to_owned(), text(&param.value)));
    let metadata: std::collections::HashMap<_, _> = fixed.into_iter().chain(params).collect();
    let mut details = ErrorDetails::new();
    details.set_error_info(problem.code().code(), ERROR_DOMAIN, metadata);
    if let Some(after) = problem.retry_after() {
        details.set_retry_info(Some(after));
    }
    if language != Language::English {
        details.set_localized_message(language.tag(), problem.detail(language));
    }
    details
}

/// A list is joined by commas: the metadata of an `ErrorInfo` are texts.
fn text(value: &ParamValue) -> String {
    match value {
        ParamValue::Text(text) => text.to_string(),
        ParamValue::Number(number) => number.to_string(),
        ParamValue::List(texts) => texts.join(","),
        _ => String::new(),
    }
}

fn status(code: Code, message: &str) -> Response<()> {
    Status::new(code, message).into_http()
}

/// What of a reply's headers is replayed unless the settings add to it. The status and all that
/// belongs to it are part of the outcome, wherever they stand.
pub(crate) const OUTCOME: [HeaderName; 5] = [
    header::CONTENT_TYPE,
    HeaderName::from_static("grpc-encoding"),
    Status::GRPC_STATUS,
    Status::GRPC_MESSAGE,
    Status::GRPC_STATUS_DETAILS,
];

/// Headers for what another door recorded, as this door's reply.
pub(crate) fn reply_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers
}
