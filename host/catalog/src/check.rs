//! Everything that is wrong with a component, at once.

use std::collections::HashSet;

use dormouse_wit::error::{Finding, Severity};
use dormouse_wit::{CONTRACT, Declaration, source};
use wasmparser::{Validator, WasmFeatures};

use crate::pack::agree;
use crate::{Listing, Provenance, read};

/// The longest tool name that fits behind any server's name (DESIGN §4).
const NAME: usize = 48;

/// Everything that is wrong with a component; empty where all is well.
#[must_use]
pub fn check(bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let listing = match read::bytes(bytes) {
        Ok(listing) => Some(listing),
        Err(problem) => {
            let text = problem.to_string();
            let (message, hint) = match text.split_once("\nhint: ") {
                Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
                None => (text, None),
            };
            findings.push(finding(
                Severity::Error,
                "component",
                message,
                hint.as_deref(),
            ));
            None
        }
    };
    // The verdict of `wasm-tools validate`, with the features that it has on.
    let mut validator = Validator::new_with_features(WasmFeatures::default());
    if let Err(error) = validator.validate_all(bytes) {
        let message = format!("{} (at byte {})", error.message(), error.offset());
        findings.push(finding(Severity::Error, "component", message, None));
    }
    if let Some(listing) = listing {
        declared(bytes, &listing, &mut findings);
    }
    findings
}

fn declared(bytes: &[u8], listing: &Listing, findings: &mut Vec<Finding>) {
    match listing.provenance {
        Provenance::Front => {}
        Provenance::Section => findings.push(finding(
            Severity::Warning,
            "declaration",
            "it is not in front of the file, so the whole file has to be read to find it".into(),
            Some("`dormouse pack` moves it there"),
        )),
        Provenance::Derived => findings.push(finding(
            Severity::Warning,
            "declaration",
            "there is none: the tools have no descriptions".into(),
            Some("`dormouse pack --wit` adds it from the WIT that the component was built from"),
        )),
    }
    let declaration = match listing.declaration() {
        Ok(declaration) => declaration,
        Err(error) => {
            findings.push(finding(
                Severity::Error,
                "declaration",
                error.to_string(),
                None,
            ));
            return;
        }
    };
    names(&declaration, findings);
    imports(bytes, findings);
    match source::from_component(bytes) {
        Ok(exported) => {
            code(&declaration, &exported.declaration, findings);
            findings.extend(exported.findings);
        }
        Err(error) => findings.push(finding(
            Severity::Error,
            "component",
            error.to_string(),
            None,
        )),
    }
}

/// Whether section and code agree, in both directions.
fn code(declared: &Declaration, exported: &Declaration, findings: &mut Vec<Finding>) {
    if let Err(what) = agree(declared, exported) {
        findings.push(finding(
            Severity::Error,
            "declaration",
            format!("it and the code disagree: {what}"),
            Some("`dormouse pack --wit` writes it again"),
        ));
    }
    let of = |declaration: &Declaration| -> HashSet<_> {
        let tools = declaration.tools.iter();
        tools
            .filter_map(|tool| Some(tool.function.as_ref()?.export.clone()))
            .collect()
    };
    let declared = of(declared);
    for tool in &exported.tools {
        let Some(function) = &tool.function else {
            continue;
        };
        if !declared.contains(&function.export) {
            findings.push(finding(
                Severity::Error,
                &function.export.to_string(),
                "it is exported, but not declared".into(),
                Some("`dormouse pack --wit` declares it"),
            ));
        }
    }
}

/// Whether the host offers what the component imports.
fn imports(bytes: &[u8], findings: &mut Vec<Finding>) {
    let Ok(imports) = crate::inspect::needs(bytes) else {
        return;
    };
    let contract = CONTRACT.split_once('@').map_or(CONTRACT, |(name, _)| name);
    for name in imports {
        let offered = name.starts_with("wasi:")
            || name
                .strip_prefix(contract)
                .is_some_and(|rest| rest.starts_with('/'));
        if !offered {
            findings.push(finding(
                Severity::Error,
                &name,
                "it is imported, and this host does not offer it".into(),
                Some("a plugin may import WASI 0.2 and `dormouse:plugin`; compose what else it needs into it"),
            ));
        }
    }
}

fn names(declaration: &Declaration, findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    for tool in &declaration.tools {
        let name = &tool.name;
        let fits = name.len() <= NAME
            && name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || "_-".contains(char));
        if !fits {
            findings.push(finding(
                Severity::Warning,
                name,
                format!("agents see another name: theirs are at most {NAME} letters, digits, `_` and `-`"),
                None,
            ));
        }
        if !seen.insert(name) {
            findings.push(finding(
                Severity::Error,
                name,
                "it is declared twice".into(),
                None,
            ));
        }
        let object: Option<serde_json::Value> = serde_json::from_str(tool.tool.get()).ok();
        let object = object.unwrap_or_default();
        if object.get("name").and_then(|found| found.as_str()) != Some(name) {
            findings.push(finding(
                Severity::Error,
                name,
                "its MCP Tool object has another name".into(),
                None,
            ));
        }
        if object
            .pointer("/inputSchema/type")
            .and_then(|ty| ty.as_str())
            != Some("object")
        {
            findings.push(finding(
                Severity::Error,
                name,
                "its `inputSchema` is not of type `object`".into(),
                None,
            ));
        }
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
