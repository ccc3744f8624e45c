//! Meta-schemas, by their URLs.

use jsonschema::Draft;

/// Checks whether a URL is that of a meta-schema, or of a part of one.
pub(super) fn is_meta_schema(url: &str) -> bool {
    let named = serde_json::json!({ "$schema": url });
    if Draft::default().detect(&named) != Draft::Unknown {
        return true;
    }
    let Some((draft, part)) = url
        .strip_prefix("https://json-schema.org/draft/")
        .and_then(|part| part.split_once("/meta/"))
    else {
        return false;
    };
    match part {
        "applicator" | "content" | "core" | "meta-data" | "validation" => {
            matches!(draft, "2019-09" | "2020-12")
        }
        "format" => draft == "2019-09",
        "format-annotation" | "format-assertion" | "unevaluated" => draft == "2020-12",
        _ => false,
    }
}
