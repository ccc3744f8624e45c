//! Makes requests of HTTP by the functions of WASI themselves, and keeps what they are made of.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::cell::RefCell;

use wasip2::clocks::monotonic_clock;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    Fields, FutureIncomingResponse, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    OutgoingResponse, Scheme,
};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::StreamError;

struct Requests;

dormouse_sdk::plugin!(Requests, world = "http");

thread_local! {
    /// Responses that nobody reads.
    static HELD: RefCell<Vec<IncomingResponse>> = const { RefCell::new(Vec::new()) };
}

/// Bytes of a body that are written at once.
const CHUNK: usize = 4096;

impl Guest for Requests {
    fn post(authority: String, body: String) -> Result<String, String> {
        let headers = Fields::new();
        headers.append("x-said", b"hello").map_err(told)?;
        let read = headers.get("x-said");
        if read != [b"hello"] || !headers.has("X-Said") {
            return Err(format!("the headers are {read:?}"));
        }
        let request = OutgoingRequest::new(headers);
        request.set_method(&Method::Post).map_err(|()| "method")?;
        request
            .set_scheme(Some(&Scheme::Https))
            .map_err(|()| "scheme")?;
        request
            .set_authority(Some(&authority))
            .map_err(|()| "authority")?;
        request
            .set_path_with_query(Some("/path?query"))
            .map_err(|()| "path")?;
        let sent = request.body().map_err(|()| "body")?;
        let response = outgoing_handler::handle(request, None).map_err(told)?;
        let stream = sent.write().map_err(|()| "stream")?;
        for chunk in body.as_bytes().chunks(CHUNK) {
            stream.blocking_write_and_flush(chunk).map_err(told)?;
        }
        drop(stream);
        OutgoingBody::finish(sent, None).map_err(told)?;
        response.subscribe().block();
        match response.get() {
            Some(Ok(Ok(response))) => Ok(format!("status {}", response.status())),
            other => Err(format!("{other:?}")),
        }
    }

    fn send(request: Request) -> Result<String, String> {
        let headers = Fields::new();
        for header in &request.headers {
            let (name, value) = header.split_once(": ").ok_or("a header without a value")?;
            headers.append(name, value.as_bytes()).map_err(told)?;
        }
        let outgoing = OutgoingRequest::new(headers);
        let method = match request.method.as_str() {
            "GET" => Method::Get,
            "POST" => Method::Post,
            other => Method::Other(other.to_owned()),
        };
        outgoing.set_method(&method).map_err(|()| "method")?;
        let scheme = match request.scheme.as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => Scheme::Other(other.to_owned()),
        };
        outgoing.set_scheme(Some(&scheme)).map_err(|()| "scheme")?;
        let authority = Some(request.authority.as_str());
        outgoing
            .set_authority(authority)
            .map_err(|()| "authority")?;
        let path = Some(request.path.as_str());
        outgoing.set_path_with_query(path).map_err(|()| "path")?;
        let sent = outgoing.body().map_err(|()| "body")?;
        let response = outgoing_handler::handle(outgoing, None).map_err(told)?;
        let stream = sent.write().map_err(|()| "stream")?;
        for chunk in request.body.as_bytes().chunks(CHUNK) {
            stream.blocking_write_and_flush(chunk).map_err(told)?;
        }
        drop(stream);
        OutgoingBody::finish(sent, None).map_err(told)?;
        response.subscribe().block();
        match response.get() {
            Some(Ok(Ok(response))) => answered(&response),
            other => Err(format!("{other:?}")),
        }
    }

    fn write_later(posted: String, asked: String, body: String) -> Result<String, String> {
        let request = request_to(&posted)?;
        request.set_method(&Method::Post).map_err(|()| "method")?;
        let sent = request.body().map_err(|()| "body")?;
        let response = outgoing_handler::handle(request, None).map_err(told)?;
        let _asked = get(&asked);
        let stream = sent.write().map_err(|()| "stream")?;
        stream
            .blocking_write_and_flush(body.as_bytes())
            .map_err(told)?;
        drop(stream);
        OutgoingBody::finish(sent, None).map_err(told)?;
        response.subscribe().block();
        match response.get() {
            Some(Ok(Ok(response))) => answered(&response),
            other => Err(format!("{other:?}")),
        }
    }

    fn hold(authority: String) -> Result<String, String> {
        let response = get(&authority)?;
        response.subscribe().block();
        match response.get() {
            Some(Ok(Ok(response))) => HELD.with_borrow_mut(|held| {
                held.push(response);
                Ok(format!("{} held", held.len()))
            }),
            other => Err(format!("{other:?}")),
        }
    }

    fn variable(name: String) -> Option<String> {
        std::env::var(name).ok()
    }

    fn time_gets(authority: String, count: u32, in_flight: u32) -> Result<Times, String> {
        let begun = monotonic_clock::now();
        let (mut each, mut left) = (Vec::new(), count);
        let mut open: Vec<(u64, FutureIncomingResponse, Pollable)> = Vec::new();
        loop {
            while left > 0 && open.len() < in_flight as usize {
                let start = monotonic_clock::now();
                let future = get(&authority)?;
                let ready = future.subscribe();
                open.push((start, future, ready));
                left -= 1;
            }
            if open.is_empty() {
                let total = milliseconds(begun);
                return Ok(Times { each, total });
            }
            let waits: Vec<_> = open.iter().map(|(_, _, ready)| ready).collect();
            let mut ready = poll(&waits);
            ready.sort_unstable();
            // From the last on, so that the places of the others stay.
            for place in ready.into_iter().rev() {
                let (start, future, ready) = open.swap_remove(place as usize);
                drop(ready);
                match future.get() {
                    Some(Ok(Ok(response))) => drop(answered(&response)?),
                    other => return Err(format!("{other:?}")),
                }
                each.push(milliseconds(start));
            }
        }
    }

    fn keep(what: String, count: u32) -> u32 {
        let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
        for _ in 0..count {
            let long = || "x".repeat(1 << 20);
            match what.as_str() {
                "fields" => kept.push(Box::new(filled())),
                "copies" => kept.push(Box::new(filled().clone())),
                "lists" => {
                    let list = [("x-long".to_owned(), "x".repeat(50 << 10).into_bytes())];
                    kept.push(Box::new(Fields::from_list(&list)));
                }
                "methods" => {
                    let request = OutgoingRequest::new(Fields::new());
                    let _ = request.set_method(&Method::Other(long()));
                    kept.push(Box::new(request));
                }
                "paths" => {
                    let request = OutgoingRequest::new(Fields::new());
                    let path = format!("/{}", "x".repeat(60_000));
                    let _ = request.set_path_with_query(Some(&path));
                    kept.push(Box::new(request));
                }
                "headers of requests" => {
                    let request = OutgoingRequest::new(filled());
                    kept.push(Box::new(request.headers()));
                    kept.push(Box::new(request));
                }
                "bodies" => {
                    let request = OutgoingRequest::new(Fields::new());
                    kept.push(Box::new(written(request.body())));
                    kept.push(Box::new(request));
                }
                "responses" => {
                    let response = OutgoingResponse::new(filled());
                    kept.push(Box::new(response.headers()));
                    kept.push(Box::new(written(response.body())));
                    kept.push(Box::new(response));
                }
                _ => return 0,
            }
        }
        u32::try_from(kept.len()).unwrap_or_default()
    }

    fn come_and_go(count: u32) -> u32 {
        for _ in 0..count {
            let request = OutgoingRequest::new(filled());
            let _ = written(request.body());
            let _ = outgoing_handler::handle(request, None);
        }
        count
    }
}

/// Begins a GET request.
fn get(authority: &str) -> Result<FutureIncomingResponse, String> {
    outgoing_handler::handle(request_to(authority)?, None).map_err(told)
}

/// Returns a GET request for the root of a host.
fn request_to(authority: &str) -> Result<OutgoingRequest, String> {
    let request = OutgoingRequest::new(Fields::new());
    request
        .set_scheme(Some(&Scheme::Http))
        .map_err(|()| "scheme")?;
    request
        .set_authority(Some(authority))
        .map_err(|()| "authority")?;
    request
        .set_path_with_query(Some("/"))
        .map_err(|()| "path")?;
    Ok(request)
}

/// Returns the time that has passed since then, in milliseconds.
#[allow(clippy::cast_precision_loss, reason = "a time of a bench")]
fn milliseconds(start: u64) -> f64 {
    (monotonic_clock::now() - start) as f64 / 1e6
}

/// Most bytes of a body that are said.
const SAID_BYTES: usize = 4096;

/// Returns what is said of a response.
fn answered(response: &IncomingResponse) -> Result<String, String> {
    let mut said = format!("{}\n", response.status());
    for (name, value) in response.headers().entries() {
        said.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(&value)));
    }
    let body = response.consume().map_err(|()| "body")?;
    let stream = body.stream().map_err(|()| "stream")?;
    let (mut first, mut bytes) = (Vec::new(), 0);
    loop {
        match stream.blocking_read(1 << 16) {
            Ok(read) => {
                bytes += read.len();
                let room = SAID_BYTES - first.len();
                first.extend(read.into_iter().take(room));
            }
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(format!("after {bytes} bytes: {}", error.to_debug_string()));
            }
        }
    }
    Ok(format!(
        "{said}\n{}\n{bytes}",
        String::from_utf8_lossy(&first)
    ))
}

/// Returns headers that are nearly as large as they may be.
fn filled() -> Fields {
    let fields = Fields::new();
    for _ in 0..50 {
        let _ = fields.append("x-long", &[b'x'; 1000]);
    }
    fields
}

/// Writes as much of a body as can be written before anybody reads it.
fn written(
    body: Result<OutgoingBody, ()>,
) -> Option<(wasip2::io::streams::OutputStream, OutgoingBody)> {
    let body = body.ok()?;
    let stream = body.write().ok()?;
    while let Ok(room @ 1..) = stream.check_write() {
        let room = usize::try_from(room).ok()?;
        stream.write(&vec![b'x'; room]).ok()?;
    }
    Some((stream, body))
}

fn told(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}
