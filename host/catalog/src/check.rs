//! Check of a component, which reports all faults at once.

use std::collections::HashSet;

use dormouse_wit::error::{Finding, Severity};
use dormouse_wit::{
    CONTRACT, Declaration, GrantRequest, component_types, contract, section, source,
};
use serde::Deserialize;
use wasmparser::{BinaryReaderError, Validator, WasmFeatures};

use crate::component::declaration::decode_declaration;
use crate::component::listing;
use crate::first_findings::first_findings;
use crate::pack::{agree, functions};
use crate::{Listing, Problem, Provenance};

mod by_name;
mod item;
mod schema;

use by_name::by_name;
use item::items;

/// Longest tool name, in bytes, that fits behind any server's name.
const NAME: usize = 48;

/// Returns findings on the faults of a component; empty where it has none. Of many the first are
/// there, and how many more there are.
#[must_use]
pub fn check(bytes: &[u8]) -> Vec<Finding> {
    first_findings(all_findings(bytes))
}

fn all_findings(bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let read = listing::bytes(bytes);
    if let Err(problem) = &read {
        findings.push(unreadable(problem));
    }
    // A validator would read them recursively.
    if component_types::nested_too_deep(bytes).is_some() {
        return findings;
    }
    if component_types::copied_too_often(bytes) {
        let message = component_types::too_often();
        findings.push(finding(Severity::Error, "component", message, None));
        return findings;
    }
    // A fault that keeps the bytes from being read makes them invalid, too, and is reported once.
    // Only the kinds of faults below are beyond what a validator checks.
    let beside = matches!(
        read,
        Ok(_) | Err(Problem::Declaration { .. } | Problem::Contract { .. } | Problem::CoreModule)
    );
    // The verdict of `wasm-tools validate`, with the features that it has on.
    let mut validator = Validator::new_with_features(WasmFeatures::default());
    let verdict = validator.validate_all(bytes).err().filter(|_| beside);
    let valid = verdict.is_none();
    let invalid = |error: BinaryReaderError, hint| {
        let message = format!("{} (at byte {})", error.message(), error.offset());
        finding(Severity::Error, "component", message, hint)
    };
    match verdict {
        Some(error) => findings.push(invalid(error, None)),
        // A valid component may use more features than any engine here compiles.
        None if read.is_ok() => {
            let mut validator = Validator::new_with_features(compiled_features());
            let hint = "build it without that: Dormouse runs no shared memories, exceptions and garbage-collected types of WebAssembly";
            let verdict = validator.validate_all(bytes).err();
            findings.extend(verdict.map(|error| invalid(error, Some(hint))));
        }
        None => {}
    }
    if let Ok(listing) = read {
        declared(bytes, &listing, valid, &mut findings);
    }
    findings
}

/// Returns the WebAssembly features that the host's engines compile.
fn compiled_features() -> WasmFeatures {
    let not_built = WasmFeatures::GC_TYPES | WasmFeatures::EXCEPTIONS | WasmFeatures::THREADS;
    (WasmFeatures::WASM3 - not_built)
        | WasmFeatures::COMPONENT_MODEL
        | WasmFeatures::CM_ASYNC
        | WasmFeatures::CM_MAP
        | WasmFeatures::CM_FIXED_LENGTH_LISTS
}

fn unreadable(problem: &Problem) -> Finding {
    let text = problem.to_string();
    let (message, hint) = match text.split_once("\nhint: ") {
        Some((message, hint)) => (message, Some(hint)),
        None => (text.as_str(), None),
    };
    finding(Severity::Error, "component", message.to_owned(), hint)
}

fn declared(bytes: &[u8], listing: &Listing, valid: bool, findings: &mut Vec<Finding>) {
    // As its author has written it: a listing has it mended already.
    let declaration = match section::find(bytes) {
        Ok(Some(section)) => decode_declaration(&section).map_err(|error| error.to_string()),
        _ => listing.declaration().map_err(|error| error.to_string()),
    };
    let declaration = match declaration {
        Ok(declaration) => declaration,
        Err(error) => {
            findings.push(finding(Severity::Error, "declaration", error, None));
            return;
        }
    };
    match listing.provenance {
        Provenance::Front => {}
        Provenance::Section => findings.push(finding(
            Severity::Warning,
            "declaration",
            "it is not in front of the file, so the whole file has to be read to find it".into(),
            Some("`dormouse pack` moves it there"),
        )),
        // A component that offers nothing has nothing to describe either.
        Provenance::Derived if !declaration.offers_something() => {}
        Provenance::Derived => findings.push(finding(
            Severity::Warning,
            "declaration",
            "there is none: the tools have no descriptions".into(),
            Some("`dormouse pack --wit` adds it from the WIT that the component was built from"),
        )),
    }
    tools(&declaration, findings);
    requests(&declaration, findings);
    if listing.provenance != Provenance::Derived {
        described(&declaration, findings);
    }
    by_name(bytes, &declaration, findings);
    // A component that cannot be decoded has no imports here, and a finding below.
    let imports = crate::inspect::needs(bytes).unwrap_or_default();
    items(&declaration, &imports, findings);
    offered(&imports, findings);
    shapes(listing, findings);
    match source::from_component(bytes) {
        Ok(exported) => {
            code(&declaration, &exported.declaration, findings);
            findings.extend(exported.findings);
            let nothing = exported.nothing;
            findings.extend(nothing.filter(|_| !declaration.offers_something()));
        }
        // An invalid component has a finding on that already.
        Err(error) if valid => findings.push(finding(
            Severity::Error,
            "component",
            error.to_string(),
            None,
        )),
        Err(_) => {}
    }
}

/// Reports requests that nobody can give as they are written.
fn requests(declaration: &Declaration, findings: &mut Vec<Finding>) {
    for (index, request) in declaration.grants.iter().enumerate() {
        if let GrantRequest::Unusable { fault } = request {
            let message = format!(
                "request {} is for {fault}: nobody is asked for it",
                index + 1
            );
            let hint = "write it as a tag of the WIT, which says what is wrong: `@grant`, `@setting`, `@secret`";
            findings.push(finding(
                Severity::Warning,
                "declaration",
                message,
                Some(hint),
            ));
        }
    }
}

/// Reports items that do not conform to MCP, where there is no worse finding on them.
fn shapes(listing: &Listing, findings: &mut Vec<Finding>) {
    for odd in &listing.odd {
        let wrong = |one: &Finding| one.item == odd.name && one.severity == Severity::Error;
        if findings.iter().any(wrong) {
            continue;
        }
        let (severity, what) = match odd.shown {
            true => (Severity::Warning, "agents are shown it without that"),
            false => (Severity::Error, "agents are not shown it"),
        };
        let message = format!("it is not what MCP has there: {} ({what})", odd.why);
        findings.push(finding(severity, &odd.name, message, None));
    }
}

/// Checks that section and code agree, in both directions.
fn code(declared: &Declaration, exported: &Declaration, findings: &mut Vec<Finding>) {
    if let Err(what) = agree(declared, exported) {
        findings.push(finding(
            Severity::Error,
            "declaration",
            format!("it and the code disagree: {what}"),
            Some("`dormouse pack --wit` writes it again"),
        ));
    }
    let mut undeclared = |export: &str| {
        findings.push(finding(
            Severity::Error,
            export,
            "it is exported, but not declared".into(),
            Some("`dormouse pack --wit` declares it"),
        ));
    };
    let known: HashSet<_> = functions(declared)
        .map(|(_, function)| &function.export)
        .collect();
    for (_, function) in functions(exported) {
        if !known.contains(&function.export) {
            undeclared(&function.export.to_string());
        }
    }
    if exported.completion && !declared.completion {
        undeclared(&contract::interface("completion"));
    }
}

/// Checks that the host offers the component's imports.
fn offered(imports: &[String], findings: &mut Vec<Finding>) {
    let contract = CONTRACT.split_once('@').map_or(CONTRACT, |(name, _)| name);
    for name in imports {
        let offered = name.starts_with("wasi:")
            || name
                .strip_prefix(contract)
                .is_some_and(|rest| rest.starts_with('/'));
        if !offered {
            findings.push(finding(
                Severity::Error,
                name,
                "it is imported, and this host does not offer it".into(),
                Some("a plugin may import WASI 0.2 and `dormouse:plugin`; compose what else it needs into it"),
            ));
        }
    }
}

/// Checks that agents can use the tools as they are declared.
fn tools(declaration: &Declaration, findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    for tool in &declaration.tools {
        let name = &tool.name;
        fits(name, findings);
        if !seen.insert(name) {
            findings.push(finding(
                Severity::Error,
                name,
                "it is declared twice".into(),
                Some("give one of them another name"),
            ));
        }
        schema::schemas(tool, findings);
    }
}

/// Checks that tools have descriptions, from which agents learn their purpose.
fn described(declaration: &Declaration, findings: &mut Vec<Finding>) {
    #[derive(Deserialize)]
    struct Words {
        description: Option<String>,
    }
    for tool in &declaration.tools {
        // Another shape is an error that is reported elsewhere.
        let Ok(words) = serde_json::from_str::<Words>(tool.tool.get()) else {
            continue;
        };
        if words.description.is_none_or(|text| text.trim().is_empty()) {
            findings.push(finding(
                Severity::Warning,
                &tool.name,
                "it has no description, by which agents tell what it is for".into(),
                Some("write one: in WIT, a comment with `///` above its function"),
            ));
        }
    }
}

/// Checks that agents see a tool or a prompt by its declared name.
fn fits(name: &str, findings: &mut Vec<Finding>) {
    let accepted = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    if name.len() > NAME || !name.chars().all(accepted) {
        findings.push(finding(
            Severity::Warning,
            name,
            format!(
                "agents see another name: theirs are at most {NAME} letters, digits, `_` and `-`"
            ),
            None,
        ));
    }
}

fn finding(severity: Severity, item: &str, message: String, hint: Option<&str>) -> Finding {
    Finding {
        severity,
        item: item.to_owned(),
        message,
        hint: hint.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests;
