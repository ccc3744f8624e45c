//! First bytes of a component.

use crate::error::Problem;

/// Checks that the first eight bytes are those of a component.
pub(crate) fn preamble(bytes: &[u8], size: u64) -> Result<(), Problem> {
    let Some((magic, rest)) = bytes.split_first_chunk::<4>() else {
        return Err(if bytes.is_empty() {
            Problem::Empty
        } else {
            not_wasm(bytes)
        });
    };
    if magic != b"\0asm" {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start();
        return Err(
            if text.starts_with("(component") || text.starts_with("(module") {
                Problem::WasmText
            } else if text.starts_with("package ") || text.starts_with("///") {
                Problem::WitPackage
            } else {
                not_wasm(bytes)
            },
        );
    }
    match rest.first_chunk::<4>() {
        None => Err(Problem::Truncated { size }),
        // The version and the layer of a component (component model, Binary.md).
        Some([0x0d, 0, 1, 0]) => Ok(()),
        Some([1, 0, 0, 0]) => Err(Problem::CoreModule),
        Some(version) => Err(Problem::Encoding {
            version: u32::from_le_bytes(*version),
        }),
    }
}

fn not_wasm(bytes: &[u8]) -> Problem {
    let start = bytes.get(..bytes.len().min(16)).unwrap_or_default();
    Problem::NotWasm {
        start: start.escape_ascii().to_string(),
    }
}
