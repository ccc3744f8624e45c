//! Compiled JSON Schema of tools.

use std::collections::HashSet;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::bounded::{bounded, read};
use super::cost::{MAX_STEPS, SchemaCost, longest_path};
use super::error::SchemaError;
use super::messages::problem;
use super::patterns::{first_of, is_pattern, small_patterns};
use super::problems::{Problems, SchemaProblem};

/// Most memory of all compiled patterns of a schema, which are kept, in bytes.
const MAX_PATTERN_BYTES: usize = 4 << 20;

/// Most memory of one compiled pattern, in bytes.
const MAX_ONE_PATTERN_BYTES: usize = 2 << 20;

/// Most steps of validating a value for all of its problems to be listed: each problem takes
/// several texts.
const MAX_LISTING_STEPS: u64 = 20_000;

/// Most steps of validating a value within a call of a worker of the runtime: about a millisecond.
const MAX_SHORT_STEPS: u64 = 5_000;

/// Most bytes of the paths of all problems of a value together for them to be listed: each problem
/// keeps its own.
const MAX_PATH_BYTES: u64 = 8 << 20;

/// Message for a value of which finding the problems would take too long.
const UNTOLD: &str = "it does not match, and is too large to tell where";

/// A schema that validates values in a bounded number of steps and matches patterns in linear time:
/// so that it needs no thread and no deadline of its own.
#[derive(Debug)]
pub struct BoundedValidator {
    /// The schema as it is compiled.
    schema: Value,
    cost: SchemaCost,
    /// Compiled schema; none where every value matches.
    validator: Option<Validator>,
    /// Place of the first pattern that is not matched, as a JSON pointer.
    unmatched: Option<String>,
}

/// Compiles a schema of a tool, in the dialect that it names: 2020-12 where it names none, as in
/// MCP. Nothing is ever fetched for it.
///
/// Keywords that cannot be checked within bounds are not checked, so that more values may match,
/// and never less: a pattern that cannot be matched in linear time (with look-around or
/// back-references), or that takes too much memory when it is read or compiled, patterns beyond a
/// maximum number, a `$dynamicRef` that may lead to several places, and a whole schema of several
/// dialects or with too long pointers to its parts. The recipient of the value can still check
/// these.
///
/// # Errors
/// It is no schema, its dialect is unknown, it refers to something outside of it, or validating
/// with it could take for ever.
pub fn validator(schema: &Value) -> Result<BoundedValidator, SchemaError> {
    let (references, patterns) = read(schema)?;
    let (matched, too_large) = small_patterns(patterns);
    let mut unmatched: HashSet<_> = too_large.into_iter().map(ToOwned::to_owned).collect();
    let place_of = |unmatched: &HashSet<String>| {
        let texts = unmatched.iter().map(String::as_str).collect();
        first_of(&texts, schema, &references).map(|(place, _)| place)
    };
    let compiled = bounded(schema, &references, &unmatched);
    let cost = SchemaCost::of(&compiled).map_err(SchemaError::TooCostly)?;
    if !references.can_be_compiled() {
        return Ok(BoundedValidator {
            schema: compiled.into_owned(),
            cost,
            validator: None,
            unmatched: place_of(&unmatched),
        });
    }
    let size = (MAX_PATTERN_BYTES / matched.len().max(1)).min(MAX_ONE_PATTERN_BYTES);
    let options = options(size);
    let error = match options.build(&compiled) {
        Ok(validator) => {
            return Ok(BoundedValidator {
                unmatched: place_of(&unmatched),
                schema: compiled.into_owned(),
                cost,
                validator: Some(validator),
            });
        }
        Err(error) => SchemaError::Invalid(problem(&error)),
    };
    let is_linear = |pattern: &str| {
        let alone = Value::Object(Map::from_iter([("pattern".to_owned(), pattern.into())]));
        options.build(&alone).is_ok()
    };
    let before = unmatched.len();
    // A text that is no pattern at all is the author's mistake, and stays one.
    let backtracking = matched
        .iter()
        .filter(|pattern| !is_linear(pattern) && is_pattern(pattern));
    unmatched.extend(backtracking.map(ToString::to_string));
    if unmatched.len() == before {
        return Err(error);
    }
    let compiled = bounded(schema, &references, &unmatched).into_owned();
    let validator = options
        .build(&compiled)
        .map_err(|error| SchemaError::Invalid(problem(&error)))?;
    Ok(BoundedValidator {
        cost: SchemaCost::of(&compiled).map_err(SchemaError::TooCostly)?,
        unmatched: place_of(&unmatched),
        schema: compiled,
        validator: Some(validator),
    })
}

fn options(pattern_bytes: usize) -> jsonschema::ValidationOptions<'static> {
    let patterns = PatternOptions::regex()
        .size_limit(pattern_bytes)
        .dfa_size_limit(pattern_bytes);
    jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        // A value would be compiled as a pattern, at any cost.
        .with_format("regex", |_: &str| true)
}

impl BoundedValidator {
    /// Returns the place of the first pattern in the schema that is not matched, as a JSON pointer.
    #[must_use]
    pub fn unmatched(&self) -> Option<&str> {
        self.unmatched.as_deref()
    }

    /// Checks whether validating the value may take longer than a worker of the runtime has for one
    /// call in one go.
    #[must_use]
    pub fn takes_long(&self, value: &Value) -> bool {
        let steps = || self.cost.steps_within(&self.schema, value, MAX_SHORT_STEPS);
        self.validator.is_some() && steps().is_none()
    }

    /// Returns the problems of a value with the schema, of which so many are listed.
    ///
    /// # Errors
    /// Validating the value takes too long, with the reason.
    pub fn problems(&self, value: &Value, listed: usize) -> Result<Problems, String> {
        let Some(validator) = &self.validator else {
            return Ok(Problems::default());
        };
        let steps = self.cost.steps(&self.schema, value).ok_or_else(|| {
            format!("validating this against it takes more than {MAX_STEPS} steps")
        })?;
        let mut problems = Problems::default();
        if validator.is_valid(value) {
            return Ok(problems);
        }
        let path = longest_path(value) as u64;
        let can_tell =
            |steps: u64| steps <= MAX_LISTING_STEPS && steps.saturating_mul(path) <= MAX_PATH_BYTES;
        if !can_tell(steps.validating.saturating_add(steps.repeated)) {
            let first = match can_tell(steps.repeated) {
                true => validator.validate(value).err(),
                // The first problem has all problems with each of several schemas in it.
                false => None,
            };
            problems.listed.push(match first {
                Some(first) => SchemaProblem::of(&first),
                None => SchemaProblem {
                    pointer: String::new(),
                    message: UNTOLD.to_owned(),
                },
            });
            return Ok(problems);
        }
        for error in validator.iter_errors(value) {
            if problems.listed.len() < listed {
                problems.listed.push(SchemaProblem::of(&error));
            } else {
                problems.more += 1;
            }
        }
        Ok(problems)
    }
}

#[cfg(test)]
mod tests;
