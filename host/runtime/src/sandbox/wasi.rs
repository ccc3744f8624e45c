//! WASI according to the grants. All else is denied: no arguments, no sockets, no name resolution.
//! Folders come from `filesystem`, refusals from `network`.

use std::sync::Arc;

use dormouse_egress::PluginSecrets;
use dormouse_policy::{Grants, Limits};
use wasmtime::component::Linker;
use wasmtime_wasi::WasiCtx;

use super::http::{self, HttpState};
use super::output::{InstanceOutput, StreamName};
use super::{GivenSecrets, filesystem, network};

/// Version of the WASI interfaces that wasmtime offers. Guests that were built for another 0.2.x
/// get the same ones.
pub(crate) const WASI_VERSION: &str = "0.2.12";

/// Most random bytes that a guest gets with one request.
const RANDOM: u64 = 64 << 10;

/// Offers WASI to guests: wasmtime's, with Dormouse's functions in place of some.
///
/// # Errors
/// It cannot be defined.
pub(crate) fn add_to_linker<T: HttpState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    filesystem::add_to_linker(linker)?;
    network::add_to_linker(linker)?;
    http::add_to_linker(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// Returns the WASI context of one instance, and its output.
pub(crate) fn context(
    server: &str,
    grants: &Grants,
    limits: &Limits,
    http_secrets: &PluginSecrets,
    secrets: &Arc<GivenSecrets>,
) -> (WasiCtx, InstanceOutput) {
    let mut builder = WasiCtx::builder();
    builder
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(RANDOM);
    let output = InstanceOutput::new(server, limits.output, Arc::clone(secrets));
    builder
        .stdout(output.stream(StreamName::Stdout))
        .stderr(output.stream(StreamName::Stderr));
    for name in &grants.env {
        if let Ok(value) = std::env::var(name) {
            builder.env(name, value);
        }
    }
    for (name, placeholder) in http_secrets.placeholders() {
        builder.env(name, placeholder);
    }
    (builder.build(), output)
}
