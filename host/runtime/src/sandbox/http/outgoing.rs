//! Requests of a guest on their way to their hosts, as far as they are granted.

use dormouse_egress::{MaskedBodyError, PluginHttpRequest, SendError, is_forbidden_header};
use http_body_util::BodyExt as _;
use hyper::http::HeaderName;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, Response};
use tokio::time::timeout;
use url::Url;
use wasmtime_wasi_http::p2::bindings::http::types::{Method as WasiMethod, Scheme};
use wasmtime_wasi_http::p2::types::HostOutgoingRequest;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::counted_body::CountedBody;
use super::{CHUNK_BYTES, MAX_FIELDS_BYTES};
use crate::sandbox::{DeniedRequest, NetworkGate};

/// Wasmtime's hooks into its host.
pub(crate) struct HttpHooks {
    gate: NetworkGate,
}

impl HttpHooks {
    /// Returns the hooks of a guest with that gate to the network.
    pub(crate) fn new(gate: NetworkGate) -> Self {
        Self { gate }
    }
}

/// A response, and the work to be done while it is read.
type Sent = (
    Response<WasiBody>,
    Box<dyn Future<Output = Result<(), Error>> + Send>,
);

impl WasiHttpHooks for HttpHooks {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Sent, Error>> + Send> {
        let gate = self.gate.clone();
        Box::new(async move {
            let (parts, body) = request.into_parts();
            let response = send(&gate, parts, body, options.unwrap_or_default()).await?;
            let nothing: Box<dyn Future<Output = _> + Send> = Box::new(async { Ok(()) });
            Ok((response, nothing))
        })
    }

    /// The host of a request is that of its URL, whatever a guest writes.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        is_forbidden_header(name)
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        CHUNK_BYTES
    }
}

/// Judges a request that a guest has made, before anything of it is sent. Returns its URL.
///
/// # Errors
/// The request is denied.
pub(super) fn judge(
    gate: &NetworkGate,
    request: &HostOutgoingRequest,
) -> Result<Url, Box<DeniedRequest>> {
    let (url, _) = gate.judge(method_of(request), &url_of(request))?;
    Ok(url)
}

/// Returns the providers that the user has to be logged in at for a request, by their names.
pub(super) fn providers(gate: &NetworkGate, url: &Url, headers: &HeaderMap) -> Vec<String> {
    let logins = gate.http().secrets().logins(url, headers);
    logins.map(|login| login.provider.clone()).collect()
}

/// Returns the headers of a request to a URL, where a secret is to be in it that was not looked up
/// yet.
pub(super) fn with_unknown_secrets(
    gate: &NetworkGate,
    url: &Url,
    request: &HostOutgoingRequest,
) -> Option<HeaderMap> {
    let headers: &HeaderMap = &request.headers;
    let is_unknown = gate.http().secrets().is_any_unknown(url, headers);
    is_unknown.then(|| headers.clone())
}

fn url_of(request: &HostOutgoingRequest) -> String {
    let scheme = match &request.scheme {
        Some(Scheme::Http) => "http",
        Some(Scheme::Https) | None => "https",
        Some(Scheme::Other(other)) => other.as_str(),
    };
    let authority = request.authority.as_deref().unwrap_or_default();
    let path = request.path_with_query.as_deref().unwrap_or_default();
    format!("{scheme}://{authority}{path}")
}

fn method_of(request: &HostOutgoingRequest) -> &str {
    match &request.method {
        WasiMethod::Get => "GET",
        WasiMethod::Head => "HEAD",
        WasiMethod::Post => "POST",
        WasiMethod::Put => "PUT",
        WasiMethod::Delete => "DELETE",
        WasiMethod::Connect => "CONNECT",
        WasiMethod::Options => "OPTIONS",
        WasiMethod::Trace => "TRACE",
        WasiMethod::Patch => "PATCH",
        WasiMethod::Other(other) => other.as_str(),
    }
}

/// Sends a request as far as it is granted now, which may be another call than that in which the guest
/// has handed it over.
async fn send(
    gate: &NetworkGate,
    parts: Parts,
    body: WasiBody,
    options: RequestOptions,
) -> Result<Response<WasiBody>, Error> {
    let judged = gate.judge(parts.method.as_str(), &parts.uri.to_string());
    let (url, reach) = judged.map_err(|denied| internal(&gate.refuse_request(&denied)))?;
    gate.take_request().map_err(|reason| internal(&reason))?;
    let http = gate.http();
    let open = http.open().await.ok_or(Error::ConnectionLimitReached)?;
    let request = PluginHttpRequest {
        method: parts.method,
        url: url.clone(),
        headers: parts.headers,
        body: CountedBody::of_request(body, gate.clone()),
    };
    let sent = http.send(request, reach, || gate.take_request().is_ok());
    let sent = match options.first_byte_timeout {
        Some(first_byte) => {
            let connect = options.connect_timeout.unwrap_or_default();
            let in_time = timeout(connect.saturating_add(first_byte), sent).await;
            in_time.map_err(|_| Error::ConnectionReadTimeout)?
        }
        None => sent.await,
    };
    let response = sent.map_err(|error| match error {
        SendError::Refused(refused) => internal(&gate.refuse_http(&url, &refused)),
        SendError::Secret(error) => internal(&gate.refuse_url(url.as_str(), &error.to_string())),
        other => internal(&gate.failed(&url, &other.to_string())),
    })?;
    let headers = response.headers().iter();
    let bytes: usize = headers
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if bytes > MAX_FIELDS_BYTES {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        return Err(Error::HttpResponseHeaderSectionSize(Some(bytes)));
    }
    let between = options.between_bytes_timeout;
    let of_body = gate.clone();
    Ok(response.map(|body| {
        let body = body.map_err(move |error| match error {
            MaskedBodyError::Body(_) => Error::HttpResponseIncomplete,
            unreadable => internal(&of_body.failed(&url, &unreadable.to_string())),
        });
        let body = body.boxed_unsync();
        CountedBody::of_response(body, gate.clone(), open, between).boxed_unsync()
    }))
}

fn internal(reason: &str) -> Error {
    Error::InternalError(Some(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use wasmtime_wasi_http::DEFAULT_FORBIDDEN_HEADERS;

    use super::*;

    #[test]
    fn what_wasmtime_keeps_from_guests_is_kept_from_them() {
        for name in &DEFAULT_FORBIDDEN_HEADERS {
            assert!(is_forbidden_header(name), "{name}");
        }
    }
}
