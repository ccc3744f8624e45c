//! Components, before they are compiled.

use wasmparser::Validator;

/// Longest that a component may become for each of its bytes. A call has two, and a check three; the
/// length of a function may have one, and has five afterwards.
const MAX_GROWTH: usize = 5;

/// Components with checks of the epoch: what is valid stays valid, and becomes only so much longer.
pub fn components(data: &[u8]) {
    let is_valid = Validator::new().validate_all(data).is_ok();
    let items = dormouse_catalog::max_module_items(data);
    let Ok(rewritten) = dormouse_catalog::with_epoch_checks(data) else {
        assert!(!is_valid, "a valid component cannot be read");
        return;
    };
    assert!(rewritten.len() <= MAX_GROWTH * data.len());
    if is_valid {
        let validated = Validator::new().validate_all(&rewritten);
        validated.expect("it was valid before");
        assert_eq!(dormouse_catalog::max_module_items(&rewritten), items);
    }
}
