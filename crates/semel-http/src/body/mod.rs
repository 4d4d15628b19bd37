//! The bodies that the layer hands on.

mod followed;
mod frames;
mod request;
mod response;

pub(crate) use followed::Followed;
#[cfg(feature = "client")]
pub(crate) use frames::Frames;
pub use request::RequestBody;
pub use response::ResponseBody;

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame};

/// The next frame of a body, its data as [`Bytes`].
pub(crate) fn poll_bytes<B: Body>(
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
    Poll::Ready(ready!(body.poll_frame(cx)).map(|frame| frame.map(into_bytes)))
}

/// Bytes stay where they are; other data is copied once.
pub(crate) fn into_bytes<D: Buf>(frame: Frame<D>) -> Frame<Bytes> {
    frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))
}
