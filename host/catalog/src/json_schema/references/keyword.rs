//! Keywords of schemas, by what their values are.

/// Kind of the value of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeywordValue {
    /// Data, which contains no schemas.
    Data,
    /// Schemas by name.
    SchemasByName,
    /// One schema or several; an unknown keyword may have some, too.
    Schemas,
}

impl KeywordValue {
    pub(crate) fn of(keyword: &str) -> Self {
        match keyword {
            "const" | "default" | "enum" | "example" | "examples" | "required" => Self::Data,
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies" => Self::SchemasByName,
            _ => Self::Schemas,
        }
    }
}

/// Checks whether a keyword of some dialect has one schema or several.
pub(crate) fn is_applicator(keyword: &str) -> bool {
    matches!(
        keyword,
        "$defs"
            | "additionalItems"
            | "additionalProperties"
            | "allOf"
            | "anyOf"
            | "contains"
            | "contentSchema"
            | "definitions"
            | "dependencies"
            | "dependentSchemas"
            | "else"
            | "if"
            | "items"
            | "not"
            | "oneOf"
            | "patternProperties"
            | "prefixItems"
            | "properties"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties"
    )
}
