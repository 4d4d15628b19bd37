//! Where the answer to a call goes.

use semel_core::StoreResult;
use tokio::sync::oneshot;

pub(crate) type Reply<T> = oneshot::Sender<StoreResult<T>>;
