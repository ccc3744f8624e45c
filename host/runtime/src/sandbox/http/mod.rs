//! `wasi:http` for guests: wasmtime's implementation, whose requests are sent as far as they are
//! granted, and whose data in memory of the host is charged to the guest.
//!
//! Components of many toolchains import it whether they use it or not.

mod counted_body;
mod outgoing;

use std::any::{Any, TypeId};

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, LinkerInstance, Resource, ResourceTable};
use wasmtime_wasi_http::p2::HeaderResult;
use wasmtime_wasi_http::p2::bindings::http::outgoing_handler;
use wasmtime_wasi_http::p2::bindings::http::types::{
    self, ErrorCode, HeaderError, HostFields as _, HostOutgoingRequest as _, Method,
};
use wasmtime_wasi_http::p2::body::{HostIncomingBody, HostOutgoingBody};
use wasmtime_wasi_http::p2::types::{
    HostFutureIncomingResponse, HostIncomingResponse, HostOutgoingRequest, HostOutgoingResponse,
};
use wasmtime_wasi_http::{
    FieldMap, RequestOptions, WasiHttp, WasiHttpCtx, WasiHttpCtxView, WasiHttpView,
};

pub(crate) use self::outgoing::HttpHooks;
use super::filesystem::{Charge, FilesystemState};
use super::network::NetworkState;
use super::wasi::WASI_VERSION;

/// Largest headers of one message, in bytes as wasmtime measures them. A guest that adds more ends.
const MAX_FIELDS_BYTES: usize = 64 << 10;

/// Most memory of such headers, in bytes: a short value takes that much more than its measure, in a
/// list that may be half empty.
const FIELDS_BYTES: u64 = 5 * MAX_FIELDS_BYTES as u64;

/// Most bytes of a body that are written at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Most memory of a body that is being written, in bytes: two chunks that wait to be sent, one that
/// is being written, and its trailers.
const BODY_BYTES: u64 = 3 * CHUNK_BYTES as u64 + FIELDS_BYTES;

/// Most memory of a response that its guest does not read, in bytes: what has come of it, and the
/// connection.
const UNREAD_BYTES: u64 = 512 << 10;

/// State of a store whose guest may make HTTP requests.
pub(crate) trait HttpState: FilesystemState + NetworkState + WasiHttpView {
    /// Returns the memory charged for data of `wasi:http`.
    fn http_memory(&mut self) -> &mut HttpMemory<Self::Charge>;

    /// Checks that the running call may go on.
    ///
    /// # Errors
    /// It may not; the guest ends by that.
    fn check_call(&mut self) -> impl Future<Output = wasmtime::Result<()>> + Send;
}

/// Memory charged to an instance for data of `wasi:http`.
pub(crate) struct HttpMemory<C>(Option<C>);

impl<C> Default for HttpMemory<C> {
    fn default() -> Self {
        Self(None)
    }
}

impl<C: Charge> HttpMemory<C> {
    /// Keeps `bytes` of the memory charged before and of the new charge, and gives back the rest.
    fn keep(&mut self, new: C, bytes: u64) {
        let charge = match self.0.take() {
            Some(mut charge) => {
                charge.add(new);
                charge
            }
            None => new,
        };
        self.0.insert(charge).reduce_to(bytes);
    }
}

/// Returns the state of `wasi:http` in a new instance.
pub(crate) fn http_context() -> WasiHttpCtx {
    let mut context = WasiHttpCtx::new();
    context.set_field_size_limit(MAX_FIELDS_BYTES);
    context
}

/// Offers `wasi:http` to guests.
///
/// # Errors
/// It cannot be defined.
pub(super) fn add_to_linker<T: HttpState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, WasiHttp>(linker, &types::LinkOptions::default(), T::http)?;
    linker
        .instance(&format!("wasi:http/outgoing-handler@{WASI_VERSION}"))?
        .func_wrap_async("handle", |store, (request, options)| {
            Box::new(handle(store, request, options))
        })?;
    let mut types = linker.instance(&format!("wasi:http/types@{WASI_VERSION}"))?;
    count_fields(&mut types)?;
    count_requests(&mut types)?;
    count_responses(&mut types)?;
    count_incoming(&mut types)
}

/// Sends a request that is granted. Others are refused at once, and not when their response is
/// awaited: a guest that writes a body meanwhile would only get the error that its stream is closed.
async fn handle<T: HttpState>(
    mut store: StoreContextMut<'_, T>,
    request: Resource<HostOutgoingRequest>,
    options: Option<Resource<RequestOptions>>,
) -> wasmtime::Result<(Result<Resource<HostFutureIncomingResponse>, ErrorCode>,)> {
    let gate = store.data_mut().network().clone();
    let mut judged = outgoing::judge(&gate, store.data_mut().ctx().table.get(&request)?);
    if let Err(denied) = &mut judged
        && let Some(wanted) = denied.askable.take()
    {
        store.data_mut().ask_for_grant(wanted).await;
        judged = outgoing::judge(&gate, store.data_mut().ctx().table.get(&request)?);
    }
    let refused = match judged {
        Ok(url) => {
            let made = store.data_mut().ctx().table.get(&request)?;
            let providers = outgoing::providers(&gate, &url, &made.headers);
            let logged_in = match providers.is_empty() {
                true => Ok(()),
                false => store.data_mut().log_in(providers).await,
            };
            match logged_in {
                Err(why) => Some(gate.refuse_without_login(url.as_str(), &why)),
                Ok(()) => {
                    let made = store.data_mut().ctx().table.get(&request)?;
                    if let Some(headers) = outgoing::with_unknown_secrets(&gate, &url, made) {
                        let asked = store.data_mut().ask_for_secrets(url.clone(), headers);
                        asked.await;
                    }
                    None
                }
            }
        }
        Err(denied) => Some(gate.refuse_request(&denied)),
    };
    // After all that a person may have been waited for, whatever came of it: the guest may have other
    // requests open, which end with it.
    store.data_mut().check_call().await?;
    if let Some(reason) = refused {
        let table = store.data_mut().ctx().table;
        table.delete(request)?;
        if let Some(options) = options {
            table.delete(options)?;
        }
        // The only error with room for text.
        return Ok((Err(ErrorCode::InternalError(Some(reason))),));
    }
    counted(
        store,
        FIELDS_BYTES + UNREAD_BYTES,
        |http| match outgoing_handler::Host::handle(http, request, options) {
            Ok(response) => Ok(Ok(response)),
            Err(error) => error.downcast().map(Err),
        },
    )
    .await
}

/// Replaces functions of `fields` with ones that charge for their results.
fn count_fields<T: HttpState>(types: &mut LinkerInstance<'_, T>) -> wasmtime::Result<()> {
    types.func_wrap_async("[constructor]fields", |store, (): ()| {
        Box::new(counted(store, FIELDS_BYTES, |http| {
            types::HostFields::new(http)
        }))
    })?;
    types.func_wrap_async(
        "[static]fields.from-list",
        |store, (entries,): (Vec<(String, Vec<u8>)>,)| {
            Box::new(counted(store, FIELDS_BYTES, |http| {
                told(http.from_list(entries))
            }))
        },
    )?;
    types.func_wrap_async(
        "[method]fields.clone",
        |store, (fields,): (Resource<FieldMap>,)| {
            Box::new(counted(store, FIELDS_BYTES, |http| {
                types::HostFields::clone(http, fields)
            }))
        },
    )
}

/// Replaces functions of `outgoing-request` with ones that charge for their results.
fn count_requests<T: HttpState>(types: &mut LinkerInstance<'_, T>) -> wasmtime::Result<()> {
    type Own = Resource<HostOutgoingRequest>;
    types.func_wrap_async(
        "[constructor]outgoing-request",
        |store, (headers,): (Resource<FieldMap>,)| {
            Box::new(counted(store, FIELDS_BYTES, |http| {
                types::HostOutgoingRequest::new(http, headers)
            }))
        },
    )?;
    types.func_wrap_async("[method]outgoing-request.body", |store, (own,): (Own,)| {
        Box::new(counted(store, 2 * BODY_BYTES, |http| {
            types::HostOutgoingRequest::body(http, own)
        }))
    })?;
    types.func_wrap_async(
        "[method]outgoing-request.headers",
        |store, (own,): (Own,)| {
            Box::new(counted(store, FIELDS_BYTES, |http| {
                types::HostOutgoingRequest::headers(http, own)
            }))
        },
    )?;
    types.func_wrap_async(
        "[method]outgoing-request.set-method",
        |store, (own, method): (Own, Method)| {
            let more = method_bytes(&method);
            Box::new(counted(store, more, |http| http.set_method(own, method)))
        },
    )?;
    types.func_wrap_async(
        "[method]outgoing-request.set-path-with-query",
        |store, (own, path): (Own, Option<String>)| {
            let more = text_bytes(path.as_ref());
            Box::new(counted(store, more, |http| {
                http.set_path_with_query(own, path)
            }))
        },
    )?;
    types.func_wrap_async(
        "[method]outgoing-request.set-authority",
        |store, (own, authority): (Own, Option<String>)| {
            let more = text_bytes(authority.as_ref());
            Box::new(counted(store, more, |http| {
                http.set_authority(own, authority)
            }))
        },
    )
}

/// Replaces functions of `outgoing-response` with ones that charge for their results. A guest can
/// make such a response, although nobody asks it for one.
fn count_responses<T: HttpState>(types: &mut LinkerInstance<'_, T>) -> wasmtime::Result<()> {
    type Own = Resource<HostOutgoingResponse>;
    types.func_wrap_async(
        "[constructor]outgoing-response",
        |store, (headers,): (Resource<FieldMap>,)| {
            Box::new(counted(store, FIELDS_BYTES, |http| {
                types::HostOutgoingResponse::new(http, headers)
            }))
        },
    )?;
    types.func_wrap_async("[method]outgoing-response.body", |store, (own,): (Own,)| {
        Box::new(counted(store, 2 * BODY_BYTES, |http| {
            types::HostOutgoingResponse::body(http, own)
        }))
    })?;
    types.func_wrap_async(
        "[method]outgoing-response.headers",
        |store, (own,): (Own,)| {
            Box::new(counted(store, FIELDS_BYTES, |http| {
                types::HostOutgoingResponse::headers(http, own)
            }))
        },
    )
}

/// Replaces functions that give a guest the headers of a response with ones that charge for them.
fn count_incoming<T: HttpState>(types: &mut LinkerInstance<'_, T>) -> wasmtime::Result<()> {
    types.func_wrap_async(
        "[method]incoming-response.headers",
        |store, (own,): (Resource<HostIncomingResponse>,)| {
            Box::new(counted(store, FIELDS_BYTES, |http| {
                types::HostIncomingResponse::headers(http, own)
            }))
        },
    )
}

/// Separates errors on headers that a guest gets from errors that end it.
fn told<T>(result: HeaderResult<T>) -> wasmtime::Result<Result<T, HeaderError>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) => error.downcast().map(Err),
    }
}

/// Makes a value of wasmtime that takes `more` bytes at most, which are charged before: while the
/// charge waits for memory, no uncounted data is there.
async fn counted<T: HttpState, R>(
    mut store: StoreContextMut<'_, T>,
    more: u64,
    make: impl FnOnce(&mut WasiHttpCtxView<'_>) -> wasmtime::Result<R>,
) -> wasmtime::Result<(R,)> {
    let Some(charge) = store.data_mut().charge(more).await else {
        wasmtime::bail!("there is no memory for so many headers and bodies of HTTP");
    };
    let made = make(&mut store.data_mut().http())?;
    let state = store.data_mut();
    let bytes = kept_bytes(state.ctx().table);
    state.http_memory().keep(charge, bytes);
    Ok((made,))
}

/// Returns the most memory of `wasi:http` in a table of resources, in bytes.
fn kept_bytes(table: &mut ResourceTable) -> u64 {
    let body = |is_there: bool| if is_there { BODY_BYTES } else { 0 };
    let of_one = |entry: &mut (dyn Any + Send)| {
        let entry = &*entry;
        // One question for the type, and not one for each type that it may be.
        let kind = entry.type_id();
        if kind == TypeId::of::<FieldMap>() {
            return FIELDS_BYTES;
        }
        if kind == TypeId::of::<HostIncomingBody>() {
            return UNREAD_BYTES;
        }
        if kind == TypeId::of::<HostOutgoingBody>() {
            return BODY_BYTES;
        }
        // The headers of a response, that may have come or not.
        if [
            TypeId::of::<HostFutureIncomingResponse>(),
            TypeId::of::<HostIncomingResponse>(),
        ]
        .contains(&kind)
        {
            return FIELDS_BYTES + UNREAD_BYTES;
        }
        if kind == TypeId::of::<HostOutgoingRequest>()
            && let Some(request) = entry.downcast_ref::<HostOutgoingRequest>()
        {
            return FIELDS_BYTES
                + method_bytes(&request.method)
                + text_bytes(request.authority.as_ref())
                + text_bytes(request.path_with_query.as_ref())
                + body(request.body.is_some());
        }
        if kind == TypeId::of::<HostOutgoingResponse>()
            && let Some(response) = entry.downcast_ref::<HostOutgoingResponse>()
        {
            return FIELDS_BYTES + body(response.body.is_some());
        }
        0
    };
    table.iter_mut().map(of_one).sum()
}

fn method_bytes(method: &Method) -> u64 {
    match method {
        Method::Other(method) => method.len() as u64,
        _ => 0,
    }
}

fn text_bytes(text: Option<&String>) -> u64 {
    text.map_or(0, |text| text.len() as u64)
}
