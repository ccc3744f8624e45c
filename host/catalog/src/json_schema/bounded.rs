//! Schemas without what has no bound.

use std::borrow::Cow;
use std::collections::HashSet;

use jsonschema::Draft;
use serde_json::Value;

use super::cost::SchemaCost;
use super::error::SchemaError;
use super::messages::{problem, told};
use super::patterns::{first_of, is_pattern, patterns_in, small_patterns};
use super::references::References;
use super::rewrite::Rewrite;

/// Returns the reason for which validating with a schema costs too much, if it does: clients follow
/// its references, too.
#[must_use]
pub fn too_costly(schema: &Value) -> Option<String> {
    let compiled = bounded(schema, &References::of(schema), &HashSet::new());
    SchemaCost::of(&compiled).err()
}

/// Checks that a schema is valid, like [`validator`](super::validator()), for schemas that validate
/// no value here: neither it nor its patterns are compiled, which takes hundreds of times as long as
/// reading them, and too much memory. A server may list thousands of schemas.
///
/// # Errors
/// Errors of [`validator`](super::validator()).
pub fn check_schema(schema: &Value) -> Result<(), SchemaError> {
    let (references, patterns) = read(schema)?;
    let all: HashSet<_> = patterns.iter().map(ToString::to_string).collect();
    let compiled = bounded(schema, &references, &all);
    SchemaCost::of(&compiled).map_err(SchemaError::TooCostly)?;
    let wrong: HashSet<_> = patterns
        .into_iter()
        .filter(|pattern| !is_pattern(pattern))
        .collect();
    if !wrong.is_empty()
        && let Some((place, pattern)) = first_of(&wrong, schema, &references)
    {
        let pattern = told(pattern);
        return Err(SchemaError::Invalid(format!(
            "`{pattern}` is no regular expression at `{place}`"
        )));
    }
    if !references.can_be_compiled() {
        return Ok(());
    }
    jsonschema::meta::validate(&compiled).map_err(|error| SchemaError::Invalid(problem(&error)))
}

/// Returns the references of a schema, and the texts that may be its patterns, each once.
pub(super) fn read(schema: &Value) -> Result<(References<'_>, Vec<&str>), SchemaError> {
    if let (Some(dialect), Draft::Unknown) =
        (schema.get("$schema"), Draft::default().detect(schema))
    {
        return Err(SchemaError::Unreadable(format!(
            "its dialect, {}, is not known here (2020-12, 2019-09, draft-07, draft-06 and \
             draft-04 are)",
            told(&dialect.to_string())
        )));
    }
    let references = References::of(schema);
    if let Some(why) = references.broken() {
        return Err(SchemaError::Unreadable(why.to_owned()));
    }
    let mut patterns = Vec::new();
    patterns_in(schema, &mut patterns);
    patterns.sort_unstable();
    patterns.dedup();
    Ok((references, patterns))
}

/// Returns a schema without unbounded keywords, and with pointers as references.
pub(super) fn bounded<'a>(
    schema: &'a Value,
    references: &References<'a>,
    unmatched_patterns: &HashSet<String>,
) -> Cow<'a, Value> {
    if !references.has_to_be_rewritten() && unmatched_patterns.is_empty() {
        return Cow::Borrowed(schema);
    }
    let rewrite = Rewrite {
        references,
        unmatched_patterns,
        leaves_out: references.has_unknown_targets() || !unmatched_patterns.is_empty(),
    };
    Cow::Owned(rewrite.rewritten(schema))
}

/// Returns the schema without the patterns that take too much memory to be read, where it has any.
///
/// # Errors
/// Errors of [`check_schema`].
pub(crate) fn without_large_patterns(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    let (references, patterns) = read(schema)?;
    let (_, large) = small_patterns(patterns);
    if large.is_empty() {
        return Ok(Cow::Borrowed(schema));
    }
    let large = large.into_iter().map(ToOwned::to_owned).collect();
    Ok(bounded(schema, &references, &large))
}
