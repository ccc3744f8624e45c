//! JSON Schemas of tools.

use dormouse_catalog::{too_costly, validator};
use serde_json::Value;

/// Schemas: an accepted schema can validate a value, and each problem has a place within that. The
/// first line is the schema, the rest the value.
pub fn schemas(data: &[u8]) {
    let text = super::text(data);
    let (schema, value) = super::first_line(&text);
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return;
    };
    let signature = dormouse_wit::signature::compact("x", &schema, Some(&schema));
    assert!(!signature.contains('\n'), "{signature:?}");
    let Ok(validator) = validator(&schema) else {
        return;
    };
    assert!(too_costly(&schema).is_none());
    let Ok(value) = serde_json::from_str::<Value>(value) else {
        return;
    };
    let Ok(problems) = validator.problems(&value, 3) else {
        return;
    };
    assert!(problems.listed.len() <= 3);
    for problem in &problems.listed {
        assert!(value.pointer(&problem.pointer).is_some(), "{problem:?}");
    }
    // Counting the problems and asking whether there are any comes to the same.
    let all = validator.problems(&value, usize::MAX);
    let all = all.expect("it takes no more steps than before");
    assert!(all.listed.len() >= problems.listed.len());
    assert_eq!(all.is_empty(), problems.is_empty());
}
