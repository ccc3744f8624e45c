//! Requests of a guest on their way to their hosts, as far as they are granted.

use std::task::Poll;
use std::time::Duration;

use dormouse_egress::{
    GrantedHttp, MaskedBodyError, OpenRequest, PluginHttpRequest, SendError, is_forbidden_header,
};
use futures::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::http::HeaderName;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, Response};
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;
use wasmtime_wasi_http::p2::bindings::http::types::{Method as WasiMethod, Scheme};
use wasmtime_wasi_http::p2::types::HostOutgoingRequest;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::counted_body::CountedBody;
use super::{CHUNK_BYTES, MAX_FIELDS_BYTES};
use crate::call::CheckedCondition;
use crate::sandbox::{DeniedRequest, NetworkGate};

/// Wasmtime's hooks into its host.
pub(crate) struct HttpHooks {
    gate: NetworkGate,
    /// Condition of the running call, on which a request goes out that has waited.
    condition: CheckedCondition,
    /// End of the running call, as soon as it has sent a request.
    end: Option<DropGuard>,
}

impl HttpHooks {
    /// Returns the hooks of a guest with that gate to the network.
    pub(crate) fn new(gate: NetworkGate) -> Self {
        Self {
            gate,
            condition: CheckedCondition::default(),
            end: None,
        }
    }

    /// Begins another call with that condition, which ends the one before.
    pub(crate) fn begin(&mut self, condition: CheckedCondition) {
        self.condition = condition;
        self.end = None;
    }

    /// Returns what is cancelled when the running call ends.
    fn end_of_call(&mut self) -> CancellationToken {
        let end = self.end.take();
        let end = end.map_or_else(CancellationToken::new, DropGuard::disarm);
        self.end = Some(end.clone().drop_guard());
        end
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
        let (gate, condition) = (self.gate.clone(), self.condition.clone());
        let end = self.end_of_call();
        Box::new(async move {
            let (parts, body) = request.into_parts();
            let options = options.unwrap_or_default();
            let sent = send(&gate, &condition, parts, body, options);
            let response = answered_in_time(sent, &end, gate.call_time()).await?;
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
    condition: &CheckedCondition,
    parts: Parts,
    body: WasiBody,
    options: RequestOptions,
) -> Result<Response<WasiBody>, Error> {
    let judged = || {
        let judged = gate.judge(parts.method.as_str(), &parts.uri.to_string());
        judged.map_err(|denied| internal(&gate.refuse_request(&denied)))
    };
    let (mut url, mut reach) = judged()?;
    gate.take_request().map_err(|reason| internal(&reason))?;
    let http = gate.http();
    let open = match http.open().now_or_never() {
        Some(open) => open,
        None => {
            let open = opened_later(http, condition).await?;
            (url, reach) = judged()?;
            open
        }
    };
    let open = open.ok_or(Error::ConnectionLimitReached)?;
    let request = PluginHttpRequest {
        method: parts.method,
        url: url.clone(),
        headers: parts.headers,
        body: CountedBody::of_request(body, gate.clone()),
        open: open.clone(),
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

/// Waits for an answer, but no longer than for that time after the call has ended which asked for it: in an
/// instance that is kept, nobody else ends what has no answer yet.
async fn answered_in_time<T>(
    sent: impl Future<Output = Result<T, Error>>,
    end: &CancellationToken,
    time: Duration,
) -> Result<T, Error> {
    let too_late = async {
        end.cancelled().await;
        sleep(time).await;
    };
    tokio::select! {
        biased;
        answered = sent => answered,
        () = too_late => Err(Error::ConnectionReadTimeout),
    }
}

/// Waits until one more request may be open, and checks then whether its call may still send it. The place
/// is another's while its user is asked.
async fn opened_later(
    http: &GrantedHttp,
    condition: &CheckedCondition,
) -> Result<Option<OpenRequest>, Error> {
    loop {
        let open = http.open().await;
        let mut checking = condition.check();
        if let Poll::Ready(checked) = futures::poll!(&mut checking) {
            return checked.map(|()| open).map_err(|why| internal(&why));
        }
        drop(open);
        checking.await.map_err(|why| internal(&why))?;
    }
}

fn internal(reason: &str) -> Error {
    Error::InternalError(Some(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use dormouse_policy::{Grants, Limits};
    use tokio::task::unconstrained;
    use wasmtime_wasi_http::DEFAULT_FORBIDDEN_HEADERS;

    use super::*;
    use crate::call::TestedCondition;
    use crate::sandbox::{GivenSecrets, InstanceOutput};

    #[tokio::test]
    async fn a_request_that_waits_for_room_is_sent_where_its_call_still_goes_on() {
        for may in [true, false] {
            let (http, condition) = (GrantedHttp::default(), TestedCondition::new());
            let checked = condition.checked();
            let mut open = Vec::new();
            while let Some(one) = unconstrained(http.open()).now_or_never() {
                open.push(one);
            }
            let mut waiting = pin!(opened_later(&http, &checked));
            assert!(futures::poll!(&mut waiting).is_pending());
            condition.holds.store(may, Ordering::Relaxed);
            drop(open);
            assert_eq!(waiting.await.is_ok(), may);
            // However that is told, the guest ends by it.
            assert_eq!(checked.has_held().is_ok(), may);
        }
    }

    #[tokio::test]
    async fn a_request_without_an_answer_ends_some_time_after_its_call() {
        let http = Arc::<GrantedHttp>::default();
        let secrets = GivenSecrets::new(&Grants::default(), &Arc::default(), &http);
        let output = InstanceOutput::new("net", 1000, secrets);
        let mut hooks = HttpHooks::new(NetworkGate::new("net", output, http, &Limits::default()));
        hooks.begin(CheckedCondition::default());
        let end = hooks.end_of_call();
        let time = Duration::from_millis(20);
        let never = || std::future::pending::<Result<(), Error>>();
        let mut waiting = pin!(answered_in_time(never(), &end, time));
        // As long as the call goes on it is waited for, and by all of its requests.
        assert!(timeout(5 * time, &mut waiting).await.is_err());
        let other = hooks.end_of_call();
        assert!(!end.is_cancelled());
        hooks.begin(CheckedCondition::default());
        assert!(other.is_cancelled());
        let ended = waiting.await;
        assert!(matches!(ended, Err(Error::ConnectionReadTimeout)));
        // What has come meanwhile is an answer, and the next call is another one.
        let come = answered_in_time(async { Ok(1) }, &end, Duration::ZERO).await;
        assert!(matches!(come, Ok(1)));
        assert!(!hooks.end_of_call().is_cancelled());
    }

    #[test]
    fn what_wasmtime_keeps_from_guests_is_kept_from_them() {
        for name in &DEFAULT_FORBIDDEN_HEADERS {
            assert!(is_forbidden_header(name), "{name}");
        }
    }
}
