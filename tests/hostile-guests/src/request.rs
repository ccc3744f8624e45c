//! Requests over HTTP by the functions of WASI themselves, which no library has tidied up.

use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method, OutgoingBody,
    OutgoingRequest, Scheme,
};
use wasip2::io::streams::StreamError;

use crate::bindings::Outcome;

/// Most bytes of a body that are said.
const SAID_BYTES: usize = 4096;

/// Bytes of a body that are written at once.
const CHUNK: usize = 4096;

/// A request as a guest writes it.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its scheme.
    pub scheme: &'a str,
    /// Its host and port.
    pub authority: &'a str,
    /// Its path and query.
    pub path: &'a str,
    /// Names and values of its headers.
    pub headers: Vec<(&'a str, &'a [u8])>,
    /// Its body.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// Returns a GET request over plain HTTP.
    #[must_use]
    pub fn get(authority: &'a str, path: &'a str) -> Self {
        Self {
            method: "GET",
            scheme: "http",
            authority,
            path,
            headers: Vec::new(),
            body: &[],
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'a str, value: &'a [u8]) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Returns it with another method and a body.
    #[must_use]
    pub fn with_body(self, method: &'a str, body: &'a [u8]) -> Self {
        Self {
            method,
            body,
            ..self
        }
    }

    /// Sends it, and says what is answered: a line of the status, the headers, an empty line and the
    /// first bytes of the body.
    ///
    /// # Errors
    /// It is not sent, or there is no answer.
    pub fn send(&self) -> Result<String, String> {
        let (response, body) = self.answer()?;
        let mut said = format!("{}\n", response.status());
        for (name, value) in response.headers().entries() {
            said.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(&value)));
        }
        Ok(format!("{said}\n{}", String::from_utf8_lossy(&body)))
    }

    /// Sends it, and says what came of that.
    #[must_use]
    pub fn outcome(&self, tried: &str) -> Outcome {
        outcome(tried, self.send())
    }

    /// Sends it, and leaves it open for as long as the guest is there.
    ///
    /// # Errors
    /// It is not sent.
    pub fn open(&self) -> Result<(), String> {
        std::mem::forget(self.begin()?);
        Ok(())
    }

    fn answer(&self) -> Result<(IncomingResponse, Vec<u8>), String> {
        let response = self.begin()?;
        response.subscribe().block();
        match response.get() {
            Some(Ok(Ok(response))) => {
                let body = read(&response.consume().map_err(|()| "no body")?)?;
                Ok((response, body))
            }
            other => Err(told(other)),
        }
    }

    /// Sends it.
    fn begin(&self) -> Result<FutureIncomingResponse, String> {
        let headers = Fields::new();
        for (name, value) in &self.headers {
            headers.append(name, value).map_err(told)?;
        }
        let request = OutgoingRequest::new(headers);
        let method = match self.method {
            "GET" => Method::Get,
            "POST" => Method::Post,
            other => Method::Other(other.to_owned()),
        };
        request.set_method(&method).map_err(|()| "no method")?;
        let scheme = match self.scheme {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => Scheme::Other(other.to_owned()),
        };
        let no_scheme = |()| "no scheme";
        request.set_scheme(Some(&scheme)).map_err(no_scheme)?;
        let no_authority = |()| "no authority";
        request
            .set_authority(Some(self.authority))
            .map_err(no_authority)?;
        let no_path = |()| "no path";
        request
            .set_path_with_query(Some(self.path))
            .map_err(no_path)?;
        let sent = request.body().map_err(|()| "no body")?;
        let response = outgoing_handler::handle(request, None).map_err(told)?;
        let stream = sent.write().map_err(|()| "no stream")?;
        for chunk in self.body.chunks(CHUNK) {
            stream.blocking_write_and_flush(chunk).map_err(told)?;
        }
        drop(stream);
        OutgoingBody::finish(sent, None).map_err(told)?;
        Ok(response)
    }
}

/// Sends a GET request to a URL, and returns the body of its answer.
///
/// # Errors
/// It is not sent, or there is no answer.
pub fn get(url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").ok_or("no URL")?;
    let (authority, _) = rest.split_once('/').ok_or("no path")?;
    let request = Request {
        scheme,
        ..Request::get(authority, &rest[authority.len()..])
    };
    let (_, body) = request.answer()?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Returns what came of a try.
#[must_use]
pub fn outcome(tried: &str, came: Result<String, String>) -> Outcome {
    Outcome {
        tried: tried.to_owned(),
        came,
    }
}

/// Reads a body to its end. Returns its first bytes.
fn read(body: &IncomingBody) -> Result<Vec<u8>, String> {
    let stream = body.stream().map_err(|()| "no stream")?;
    let (mut first, mut bytes) = (Vec::new(), 0);
    loop {
        match stream.blocking_read(1 << 16) {
            Ok(read) => {
                bytes += read.len();
                let room = SAID_BYTES - first.len();
                first.extend(read.into_iter().take(room));
            }
            Err(StreamError::Closed) => return Ok(first),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(format!("after {bytes} bytes: {}", error.to_debug_string()));
            }
        }
    }
}

/// Returns an error as text.
pub fn told(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}
