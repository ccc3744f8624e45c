//! Faults of the bytes of a component.

use dormouse_wit::{component_types, section};
use wasmparser::{Validator, WasmFeatures};

use crate::error::{Problem, words};

/// Returns the fault of a component that could not be read: that of the validator, or the decoder's
/// message if the component is valid.
pub(super) fn malformed(bytes: &[u8], size: u64, message: String) -> Problem {
    if component_types::copied_too_often(bytes) {
        return Problem::Declaration {
            message: component_types::too_often(),
        };
    }
    match Validator::new_with_features(WasmFeatures::all()).validate_all(bytes) {
        Ok(_) => Problem::Declaration {
            message: words(&message),
        },
        Err(error) => damage(bytes, size, &error),
    }
}

pub(super) fn damage(bytes: &[u8], size: u64, error: &wasmparser::BinaryReaderError) -> Problem {
    // A section may also end too early within the file, so the message alone does not tell that the
    // file was cut off.
    if error.message().contains("unexpected end") && section::strip(bytes).is_err() {
        return Problem::Truncated { size };
    }
    Problem::Malformed {
        offset: error.offset(),
        message: words(error.message()),
    }
}
