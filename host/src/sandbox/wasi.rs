//! Grants → WASI. What is not here is denied: no arguments, no sockets, no name
//! resolution. Folders come from `filesystem`.

use std::sync::Arc;

use wasmtime_wasi::WasiCtx;

use super::output::{Output, StreamName};
use super::{GivenSecrets, Grants, Limits};

/// The most random bytes that a guest gets with one request.
const RANDOM: u64 = 64 << 10;

/// The WASI context of one instance, and what it will print.
pub(crate) fn context(
    server: &str,
    grants: &Grants,
    limits: &Limits,
    secrets: &Arc<GivenSecrets>,
) -> (WasiCtx, Output) {
    let mut builder = WasiCtx::builder();
    builder
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(RANDOM);
    let output = Output::new(server, limits.output, Arc::clone(secrets));
    builder
        .stdout(output.stream(StreamName::Stdout))
        .stderr(output.stream(StreamName::Stderr));
    for name in &grants.env {
        if let Ok(value) = std::env::var(name) {
            builder.env(name, value);
        }
    }
    (builder.build(), output)
}
