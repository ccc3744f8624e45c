//! What can be told of a component's bytes without running it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use dormouse_catalog::{Entry, Problem, Provenance, ReadError, read};
use dormouse_wit::{Declaration, Finding, Severity, signature, source};
use wasmparser::{Parser, Payload, Validator};
use wit_component::{DecodedWasm, WitPrinter};

/// The packages of which a host has something to offer, up to the version.
/// `wasi:http` is among them because some toolchains import it whether it is used
/// or not; it is there and denies.
const OFFERED: &[&str] = &[
    "dormouse:plugin/",
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:http/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// The beginning of the export by which an adapter takes its calls.
const ADAPTER: &str = "dormouse:plugin/adapter@";

/// The names of what a component imports and exports.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) imports: Vec<String>,
    pub(super) exports: Vec<String>,
}

/// What the component in a file that the user has named declares.
pub(super) fn entry(path: &Path) -> anyhow::Result<Entry> {
    read::entry(path).map_err(|error| match error.problem {
        // The catalog's hint is about paths in configurations.
        Problem::Missing => anyhow!("`{}`: there is no such file", path.display()),
        _ => error.into(),
    })
}

/// The bytes of a component's file.
pub(super) fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    // The catalog knows what must not be opened, and what is no component.
    entry(path)?;
    std::fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()))
}

/// What a component imports and exports, as far as its bytes can be read.
pub(super) fn names(bytes: &[u8]) -> Names {
    let mut names = Names::default();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        match payload {
            // What is nested has imports and exports of its own.
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                let imports = section.into_iter().flatten();
                names
                    .imports
                    .extend(imports.map(|import| import.name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                let exports = section.into_iter().flatten();
                names
                    .exports
                    .extend(exports.map(|export| export.name.name.to_owned()));
            }
            _ => {}
        }
    }
    names
}

/// A component's types as WIT, without the comments that no component keeps.
pub(super) fn wit(bytes: &[u8]) -> anyhow::Result<String> {
    let print = || -> anyhow::Result<String> {
        let DecodedWasm::Component(resolve, world) = wit_component::decode(bytes)? else {
            bail!("this is a WIT package without any code");
        };
        let main = resolve.worlds.get(world).and_then(|world| world.package);
        let main = main.context("its world is in no package")?;
        let others: Vec<_> = resolve
            .packages
            .iter()
            .map(|(id, _)| id)
            .filter(|id| *id != main)
            .collect();
        let mut printer = WitPrinter::default();
        printer.print(&resolve, main, &others)?;
        Ok(printer.output.to_string())
    };
    // The decoder takes for granted what its validator has let through. A gap
    // between the two is no reason to crash.
    catch_unwind(AssertUnwindSafe(print))
        .unwrap_or_else(|_| bail!("its types cannot be decoded"))
        .context("its WIT cannot be shown")
}

/// Everything that is wrong with a component's file, worst first.
pub(super) fn check(path: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let entry = entry(path);
    if let Err(error) = &entry {
        let (message, hint) = split_hint(&error.to_string());
        findings.push(finding(Severity::Error, "file", message, hint));
    }
    // What is no component at all, has nothing more to be said of it.
    let bytes = match entry.as_ref().map_err(|error| error.downcast_ref()) {
        Ok(_)
        | Err(Some(ReadError {
            problem: Problem::Declaration { .. } | Problem::Contract { .. },
            ..
        })) => std::fs::read(path).ok(),
        Err(_) => None,
    };
    if let Some(bytes) = &bytes {
        findings.extend(invalid(bytes));
        findings.extend(unavailable(&names(bytes)));
    }
    if let (Ok(entry), Some(bytes)) = (&entry, &bytes) {
        match entry.listing.declaration() {
            Ok(declaration) => findings.extend(agree(&declaration, bytes)),
            Err(error) => findings.push(finding(
                Severity::Error,
                "declaration",
                format!("it cannot be read: {error}"),
                None,
            )),
        }
        if entry.listing.tools.is_empty() {
            findings.push(finding(
                Severity::Warning,
                "declaration",
                "it has no tools".to_owned(),
                Some(
                    "export a function; those of `wasi:` and `dormouse:` interfaces are not tools"
                        .to_owned(),
                ),
            ));
        }
        if entry.listing.provenance == Provenance::Derived {
            findings.push(finding(
                Severity::Warning,
                "declaration",
                "it has no section `dormouse:declaration`, so its tools have no descriptions"
                    .to_owned(),
                Some("`dormouse pack FILE --wit DIR` adds them".to_owned()),
            ));
        }
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// Whether a declaration and the code that it speaks of agree: everything that is
/// declared is exported with that signature, and nothing else is exported.
pub(super) fn agree(declaration: &Declaration, bytes: &[u8]) -> Vec<Finding> {
    let found = match source::from_component(bytes) {
        Ok(found) => found,
        Err(error) => {
            let (message, hint) = split_hint(&error.to_string());
            return vec![finding(Severity::Error, "code", message, hint)];
        }
    };
    let mut findings = found.findings;
    let exported: Vec<_> = found
        .declaration
        .tools
        .iter()
        .filter_map(|tool| tool.function.as_ref())
        .collect();
    let again = || Some("build the plugin again, or run `dormouse pack` with its WIT".to_owned());
    for tool in &declaration.tools {
        let item = format!("tool `{}`", tool.name);
        let Some(declared) = &tool.function else {
            if !names(bytes)
                .exports
                .iter()
                .any(|name| name.starts_with(ADAPTER))
            {
                let message = "it is declared to be called by name, and `dormouse:plugin/adapter` is not exported";
                findings.push(finding(Severity::Error, &item, message.to_owned(), again()));
            }
            continue;
        };
        let export = &declared.export;
        match exported.iter().find(|function| function.export == *export) {
            None => findings.push(finding(
                Severity::Error,
                &item,
                format!("its function `{export}` is declared, but not exported"),
                again(),
            )),
            Some(found) => {
                if let Err(why) = signature::same_signature(declared, found) {
                    let message = format!("its function `{export}` is not what is declared: {why}");
                    findings.push(finding(Severity::Error, &item, message, again()));
                }
            }
        }
    }
    for function in exported {
        let known = |tool: &dormouse_wit::DeclaredTool| {
            tool.function
                .as_ref()
                .is_some_and(|declared| declared.export == function.export)
        };
        if !declaration.tools.iter().any(known) {
            findings.push(finding(
                Severity::Error,
                &format!("function `{}`", function.export),
                "it is exported, but not declared".to_owned(),
                again(),
            ));
        }
    }
    findings
}

/// The verdict of `wasm-tools validate`.
fn invalid(bytes: &[u8]) -> Option<Finding> {
    let error = Validator::new().validate_all(bytes).err()?;
    let message = format!(
        "it is not valid at byte {}: {}",
        error.offset(),
        error.message()
    );
    Some(finding(
        Severity::Error,
        "code",
        message,
        Some("build it again".to_owned()),
    ))
}

/// What a component imports and no host has.
fn unavailable(names: &Names) -> Vec<Finding> {
    let offered = |name: &&String| {
        let wasi = name.strip_prefix("wasi:");
        let version = name.rsplit_once('@').map_or("", |(_, version)| version);
        OFFERED.iter().any(|package| name.starts_with(package))
            && wasi.is_none_or(|_| version.starts_with("0.2."))
    };
    let missing = names.imports.iter().filter(|name| !offered(name));
    missing
        .map(|name| {
            finding(
                Severity::Error,
                &format!("import `{name}`"),
                "no host offers it".to_owned(),
                Some("plugins get `dormouse:plugin` and WASI 0.2; compose it with a component that exports this".to_owned()),
            )
        })
        .collect()
}

fn finding(severity: Severity, item: &str, message: String, hint: Option<String>) -> Finding {
    Finding {
        severity,
        item: item.to_owned(),
        message,
        hint,
    }
}

/// A message without the hint in it, and the hint.
fn split_hint(message: &str) -> (String, Option<String>) {
    match message.split_once("\nhint: ") {
        Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
        None => (message.to_owned(), None),
    }
}

#[cfg(test)]
mod tests;
