//! WIT, as source text or as the types of a built component → a [`Declaration`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use wasmparser::Parser;
use wit_parser::decoding::{self, DecodedWasm};
use wit_parser::{Docs, Resolve, World, WorldId, WorldItem, WorldKey};

use crate::declaration::{Declaration, DeclaredItem, DeclaredTool, Export, GrantRequest, Instance};
use crate::error::{Error, Finding};
use crate::section;
use crate::types::snake_case;
use crate::{component_types, contract};

mod accept;
mod constraint;
mod exported;
mod files;
mod hints;
mod http_request;
mod kind;
mod lower;
mod naming;
mod offers;
mod prompt;
mod requested_input;
mod resource;
mod secret;
mod setting;
mod tags;
mod tool;
mod toolchain;

use exported::Exported;
use kind::Kind;
use lower::Lower;
use naming::{Candidate, name};
use prompt::prompt;
use resource::Resources;
use tags::{Doc, note};
use tool::tool;
use toolchain::is_initializer;

/// A declaration, with the findings from making it.
#[derive(Debug)]
pub struct Declared {
    /// The declaration of all items that are right.
    pub declaration: Declaration,
    /// Findings on all items that are not, and on those left out.
    pub findings: Vec<Finding>,
    /// Finding on a plugin that offers nothing, if this is one. A plugin that declares MCP's own
    /// objects besides is fine.
    pub nothing: Option<Finding>,
    /// The WIT files that were read; a build has to run again when one of them
    /// changes. Empty for a component.
    pub files: Vec<PathBuf>,
}

/// Returns the declaration of a world in WIT source.
///
/// Each path is a `.wit` file or a folder (with or without `deps/`); later ones
/// may use the packages of earlier ones, and the last is the main package. The
/// contract `dormouse:plugin` is there without being among them. Without
/// `world`, the main package's only world is taken.
///
/// # Errors
/// The WIT does not parse or resolve, or there is no such world.
pub fn from_wit(paths: &[&Path], world: Option<&str>) -> Result<Declared, Error> {
    let (resolve, main, files) = files::push(paths)?;
    let chosen = resolve
        .select_world(&[main], world)
        .map_err(|error| Error::World {
            message: hints::on_worlds(&resolve, main, world, format!("{error:#}")),
        })?;
    Ok(declared(&resolve, chosen, files))
}

/// Returns the JSON name of a field or a case: its `@name`, else its WIT name in snake_case.
#[must_use]
pub fn json_name(wit: &str, docs: Option<&str>) -> String {
    let contents = docs.map(str::to_owned);
    let tags = Doc::parse(&Docs { contents }).tags;
    let name = tags.into_iter().find(|tag| tag.name == "name");
    name.map_or_else(|| snake_case(wit), |tag| tag.text)
}

fn declared(resolve: &Resolve, world: WorldId, files: Vec<PathBuf>) -> Declared {
    let (declaration, findings) = from_resolve(resolve, world);
    let world = resolve.worlds.get(world);
    Declared {
        nothing: world.and_then(|world| offers::nothing(resolve, world, &declaration)),
        declaration,
        findings,
        files,
    }
}

/// Returns the declaration of a built component, from its type section: without descriptions, which
/// that section does not have.
///
/// # Errors
/// The bytes are no component.
pub fn from_component(bytes: &[u8]) -> Result<Declared, Error> {
    // To the decoder, a file that is cut off just ends there.
    section::validate(bytes)?;
    let (resolve, world) = match decode(bytes).map_err(Error::Component)? {
        DecodedWasm::Component(resolve, world) => (resolve, world),
        DecodedWasm::WitPackage(..) => {
            return Err(Error::Component(
                "this is a WIT package without any code".into(),
            ));
        }
    };
    Ok(declared(&resolve, world, Vec::new()))
}

/// Returns the types of a component, or of a WIT package if that is what the bytes are.
///
/// # Errors
/// Text on the fault in the bytes.
pub fn decode(bytes: &[u8]) -> Result<DecodedWasm, String> {
    // The decoder reads as from a stream: it makes room for what a length says before there is as
    // much.
    for payload in Parser::new(0).parse_all(bytes) {
        payload.map_err(|error| error.to_string())?;
    }
    // It calls itself for each level.
    if component_types::nested_too_deep(bytes).is_some() {
        return Err(component_types::too_deep());
    }
    if component_types::copied_too_often(bytes) {
        return Err(component_types::too_often());
    }
    // The decoder asserts what its validator has let through. Should a stranger's file find a gap
    // between the two, then only that file is bad.
    catch_unwind(AssertUnwindSafe(|| decoding::decode(bytes)))
        .map_err(|_| "its types cannot be decoded".to_owned())?
        .map_err(|error| format!("{error:#}"))
}

/// Returns the declaration of a world. Items that cannot be declared are left out, and have
/// findings.
#[must_use]
pub fn from_resolve(resolve: &Resolve, world: WorldId) -> (Declaration, Vec<Finding>) {
    let Some(world) = resolve.worlds.get(world) else {
        return (
            Declaration::default(),
            vec![Finding::error("world", "it is not of this WIT")],
        );
    };
    let mut lower = Lower::new(resolve);
    let mut declaration = describe(world, &mut lower.findings);
    let mut found = Found::default();
    let completion = contract::interface("completion");
    for (key, item) in &world.exports {
        match item {
            WorldItem::Function(function) => {
                let export = Export {
                    interface: None,
                    function: function.name.clone(),
                };
                found.add(&mut lower, export, function, None);
            }
            WorldItem::Interface { id, .. } if !is_foreign(resolve, key) => {
                let Some(interface) = resolve.interfaces.get(*id) else {
                    continue;
                };
                let prefix = match key {
                    WorldKey::Name(name) => name,
                    WorldKey::Interface(_) => interface.name.as_deref().unwrap_or_default(),
                };
                let name = resolve.name_world_key(key);
                for function in interface.functions.values() {
                    let export = Export {
                        interface: Some(name.clone()),
                        function: function.name.clone(),
                    };
                    found.add(&mut lower, export, function, Some(prefix));
                }
            }
            WorldItem::Interface { .. } => {
                declaration.completion |= resolve.name_world_key(key) == completion;
            }
            WorldItem::Type { .. } => {}
        }
    }
    found.declare(&mut declaration, &mut lower.findings);
    (declaration, lower.findings)
}

/// Items that the exported functions become.
#[derive(Default)]
struct Found {
    tools: Vec<Candidate>,
    prompts: Vec<Candidate>,
    resources: Resources,
}

impl Found {
    fn add(
        &mut self,
        lower: &mut Lower<'_>,
        export: Export,
        function: &wit_parser::Function,
        interface: Option<&str>,
    ) {
        if is_initializer(function) {
            return;
        }
        let item = export.to_string();
        let interface = interface.map(snake_case);
        let doc = Doc::parse(&function.docs);
        let kind = Kind::of(&doc);
        let exported = match Exported::new(lower, export, function, doc, kind) {
            Ok(exported) => exported,
            Err(unfit) => {
                let message = format!("not a {}: {}", kind.noun(), unfit.0);
                // Any function may be exported. One that is tagged is meant to be
                // what its tag says.
                lower.findings.push(match kind {
                    Kind::Tool => Finding::warning(item, message),
                    Kind::Prompt | Kind::Resource => Finding::error(item, message),
                });
                return;
            }
        };
        let findings = &mut lower.findings;
        match kind {
            Kind::Tool => self.tools.push((tool(exported, findings), interface)),
            Kind::Prompt => {
                let prompt = prompt(exported, findings);
                self.prompts
                    .extend(prompt.map(|prompt| (prompt, interface)));
            }
            Kind::Resource => self.resources.add(exported, findings),
        }
    }

    fn declare(self, declaration: &mut Declaration, findings: &mut Vec<Finding>) {
        let tools = name(self.tools, findings).into_iter();
        declaration.tools = tools
            .map(|tool| DeclaredTool {
                name: tool.name,
                tool: tool.object,
                function: Some(tool.function),
            })
            .collect();
        let prompts = name(self.prompts, findings).into_iter();
        declaration.prompts = prompts
            .map(|prompt| DeclaredItem {
                key: prompt.name,
                object: prompt.object,
                function: Some(prompt.function),
                subscribe: false,
            })
            .collect();
        declaration.resources = self.resources.resources;
        declaration.templates = self.resources.templates;
    }
}

/// Checks whether an export is for the host: those of WASI (`wasi:cli/run`) and of the contract
/// are.
fn is_foreign(resolve: &Resolve, key: &WorldKey) -> bool {
    let WorldKey::Interface(id) = key else {
        return false;
    };
    let package = resolve
        .interfaces
        .get(*id)
        .and_then(|interface| interface.package);
    let package = package.and_then(|id| resolve.packages.get(id));
    package.is_some_and(|package| matches!(package.name.namespace.as_str(), "wasi" | "dormouse"))
}

/// Returns the declaration from the world's own doc comment, without any function.
fn describe(world: &World, findings: &mut Vec<Finding>) -> Declaration {
    let item = format!("world {}", world.name);
    let doc = Doc::parse(&world.docs);
    let mut declaration = Declaration::default();
    let mut requests = Vec::new();
    for tag in doc.known(
        &item,
        &["name", "version", "title", "instance"],
        &["grant", "setting", "secret"],
        findings,
    ) {
        match tag.name.as_str() {
            "name" => declaration.name = tags::text(tag, &item, findings),
            "version" => declaration.version = tags::text(tag, &item, findings),
            "title" => declaration.title = tags::text(tag, &item, findings),
            "grant" => requests.extend(tags::grant(tag, &item, findings)),
            "setting" => {
                let setting = setting::setting(tag, &item, findings);
                requests.extend(setting.map(GrantRequest::Setting));
            }
            "secret" => {
                let secret = secret::secret(tag, &item, findings);
                requests.extend(secret.map(GrantRequest::Secret));
            }
            _ => match tag.text.as_str() {
                "per-call" => declaration.instance = Instance::PerCall,
                "per-session" => declaration.instance = Instance::PerSession,
                other => note(
                    findings,
                    Finding::error(&item, format!("there is no `@instance {other}`"))
                        .hint("write `@instance per-call` or `@instance per-session`"),
                ),
            },
        }
    }
    declaration.grants = requested_input::each_once(requests, &item, findings);
    declaration.description = doc.text;
    declaration
}

#[cfg(test)]
mod tests;
