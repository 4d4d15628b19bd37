//! A call that reached a method.

use prost::Message;
use tonic::{Request, Status};

use crate::commands::demo::accounts::Account;
use crate::commands::demo::call::Call;
use crate::commands::demo::data::Database;
use crate::commands::demo::handlers::{Wished, begin};
use crate::commands::demo::problem::Problem;

/// Whose call it is.
pub(super) fn account<M>(request: &Request<M>) -> Result<Account, Status> {
    let account = request.extensions().get::<Account>().copied();
    account.ok_or_else(|| Problem::internal("The call came past authentication.").into())
}

/// Counts a call of a writing method, and misbehaves as its metadata `x-demo` wish.
pub(super) async fn perform<M: Message>(
    data: &Database,
    operation: &'static str,
    request: &Request<M>,
) -> Result<Account, Status> {
    let by = account(request)?;
    let body = request.get_ref().encode_to_vec().into();
    let headers = request.metadata().clone().into_headers();
    let call = Call::new(by, headers, &format!("grpc {operation}"), body);
    match begin(data, operation, &call).await? {
        Wished::Work => Ok(by),
        Wished::Answer(_) => {
            let detail = "x-demo takes fail-once, fail, panic, slow=3s or conflict through gRPC.";
            Err(Status::invalid_argument(detail))
        }
    }
}
