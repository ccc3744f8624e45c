//! Grants → WASI. What is not here is denied: no arguments, no sockets, no name
//! resolution.

use std::path::{Path, PathBuf};

use wasmtime_wasi::{FsPerms, WasiCtx};

use super::output::Output;
use super::{FsMode, Grants, Limits};

/// The most random bytes that a guest gets with one request.
const RANDOM: u64 = 64 << 10;

/// Why a grant cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum GrantError {
    #[error(
        "the granted folder `{path}` cannot be opened: {reason}\nhint: create it, or change `fs` in `[servers.NAME.grants]`"
    )]
    Folder { path: PathBuf, reason: String },
    #[error(
        "the granted folder `{path}` overlaps `{own}`, which is Dormouse's own\nhint: grant another folder: nothing may change its keeper"
    )]
    Own { path: PathBuf, own: PathBuf },
}

/// Whether one folder is the other or contains it.
fn overlaps(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// Refuses a grant that reaches into Dormouse's own directories.
pub(crate) fn judge(grants: &Grants, own: &[PathBuf]) -> Result<(), GrantError> {
    for grant in &grants.fs {
        // Judged by where it really is, so that a link does not help.
        let real = grant
            .path
            .canonicalize()
            .unwrap_or_else(|_| grant.path.clone());
        for own in own {
            let own_real = own.canonicalize().unwrap_or_else(|_| own.clone());
            // Reading above Dormouse's directories (a home, say) is refused too:
            // the cache's key lies there.
            if overlaps(&real, &own_real) {
                return Err(GrantError::Own {
                    path: grant.path.clone(),
                    own: own.clone(),
                });
            }
        }
    }
    Ok(())
}

/// The WASI context of one instance, and what it will print.
pub(crate) fn context(
    server: &str,
    grants: &Grants,
    limits: &Limits,
) -> Result<(WasiCtx, Output), GrantError> {
    let mut builder = WasiCtx::builder();
    builder
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(RANDOM);
    let output = Output::new(server, limits.output);
    builder
        .stdout(output.stream("stdout"))
        .stderr(output.stream("stderr"));
    for name in &grants.env {
        if let Ok(value) = std::env::var(name) {
            builder.env(name, value);
        }
    }
    for grant in &grants.fs {
        let perms = match grant.mode {
            FsMode::ReadOnly => FsPerms::ReadOnly,
            FsMode::ReadWrite => FsPerms::ReadWrite,
        };
        builder
            .preopened_dir(&grant.path, grant.path.to_string_lossy(), perms)
            .map_err(|error| GrantError::Folder {
                path: grant.path.clone(),
                reason: error.to_string(),
            })?;
    }
    Ok((builder.build(), output))
}
