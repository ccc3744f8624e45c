//! Responses of hosts that are given secrets, as far as these can be hidden in them.

use http::header::{CONTENT_ENCODING, TRANSFER_ENCODING};
use http::{Response, StatusCode};
use reqwest::header::HeaderMap;

use super::{IDENTITY, SendError, charset};
use crate::secrets::{FoundTexts, MaskedBody, ResponseMask};

/// Returns a response without what the mask hides, now and as long as it is read.
///
/// # Errors
/// Its host gets secrets, and none would be found in it.
pub(super) fn masked<B>(
    mut response: Response<B>,
    mask: ResponseMask,
) -> Result<Response<MaskedBody<B>>, SendError> {
    let unreadable = unreadable(&response);
    let found = match unreadable {
        Some(_) => FoundTexts::Nothing,
        None => charset::found_texts(response.headers()),
    };
    if let Some(mask) = mask.mask() {
        if let Some(why) = unreadable {
            return Err(why);
        }
        if !found.has_all_of(mask) {
            return Err(SendError::Charset);
        }
        mask.hide_in_headers(response.headers_mut());
    }
    Ok(response.map(|body| MaskedBody::new(body, mask, found)))
}

/// Returns the reason why secrets would not be found in a response, whatever its character set is.
fn unreadable<B>(response: &Response<B>) -> Option<SendError> {
    let headers = response.headers();
    if is_encoded(headers) {
        return Some(SendError::Compressed);
    }
    (response.status() == StatusCode::PARTIAL_CONTENT).then_some(SendError::Part)
}

/// Whether the bytes of a body are other ones than what they say. Of a transfer's codings the client
/// undoes the pieces alone.
fn is_encoded(headers: &HeaderMap) -> bool {
    let mut contents = headers.get_all(CONTENT_ENCODING).iter();
    let mut transfers = headers.get_all(TRANSFER_ENCODING).iter();
    contents.any(|coding| *coding != IDENTITY)
        || transfers.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
}
