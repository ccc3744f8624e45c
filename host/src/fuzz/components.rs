//! Components, before they are compiled.

use dormouse_catalog::{imports_alone, instance_footprint, is_concurrent, max_module_items};
use dormouse_wit::component_types::nested_too_deep;
use wasmparser::{Validator, WasmFeatures};

/// Most bytes that a component may have afterwards for each of its bytes. A call has two, and a
/// check three; the length of a function may have one, and has five afterwards.
const MAX_GROWTH: usize = 5;

/// Components with checks of the epoch: a valid component stays valid, grows within the bound only,
/// and keeps its parts. Its imports alone are a beginning of it that is as valid.
pub fn components(data: &[u8]) {
    // A validator would take all of the stack for others.
    let may_be_valid = nested_too_deep(data).is_none();
    let is_valid = may_be_valid && Validator::new().validate_all(data).is_ok();
    let items = max_module_items(data);
    let footprint = instance_footprint(data);
    let concurrent = is_concurrent(data);
    imports(data, is_valid);
    let Ok(rewritten) = dormouse_catalog::with_epoch_checks(data) else {
        assert!(!is_valid, "a valid component cannot be read");
        return;
    };
    assert!(rewritten.len() <= MAX_GROWTH * data.len());
    if is_valid {
        let validated = Validator::new().validate_all(&rewritten);
        validated.expect("it was valid before");
        assert_eq!(max_module_items(&rewritten), items);
        assert_eq!(instance_footprint(&rewritten), footprint);
        if let Ok(footprint) = footprint {
            assert!(footprint.with_code <= footprint.component_instances);
        }
        assert_eq!(is_concurrent(&rewritten), concurrent);
        let without = WasmFeatures::default() - WasmFeatures::CM_ASYNC;
        let mut without = Validator::new_with_features(without);
        assert!(!concurrent || without.validate_all(data).is_err());
    }
}

fn imports(data: &[u8], is_valid: bool) {
    let Some(imports) = imports_alone(data) else {
        return;
    };
    assert!(data.starts_with(&imports));
    assert_eq!(imports_alone(&imports).as_ref(), Some(&imports));
    if is_valid {
        let validated = Validator::new().validate_all(&imports);
        validated.expect("what they are of is valid");
    }
}
