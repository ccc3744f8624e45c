//! Responses of hosts that are given secrets, as far as these can be hidden in them.

use http::header::{CONTENT_ENCODING, TRANSFER_ENCODING};
use http::{Response, StatusCode};
use reqwest::header::HeaderMap;

use super::{IDENTITY, SendError, charset};
use crate::secrets::{MaskedBody, ResponseMask};

/// Returns a response without what the mask hides.
pub(super) fn masked(
    mut response: Response<reqwest::Body>,
    mask: Option<ResponseMask>,
) -> Result<Response<MaskedBody<reqwest::Body>>, SendError> {
    if let Some(mask) = &mask {
        if is_encoded(response.headers()) {
            return Err(SendError::Compressed);
        }
        if response.status() == StatusCode::PARTIAL_CONTENT {
            return Err(SendError::Part);
        }
        if charset::is_unreadable(response.headers()) {
            return Err(SendError::Charset);
        }
        mask.mask().hide_in_headers(response.headers_mut());
    }
    Ok(response.map(|body| MaskedBody::new(body, mask)))
}

/// Whether the bytes of a body are other ones than what they say. Of a transfer's codings the client
/// undoes the pieces alone.
fn is_encoded(headers: &HeaderMap) -> bool {
    let mut contents = headers.get_all(CONTENT_ENCODING).iter();
    let mut transfers = headers.get_all(TRANSFER_ENCODING).iter();
    contents.any(|coding| *coding != IDENTITY)
        || transfers.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
}
