//! Binding of a component's imports to the host's functions.
//!
//! WASI 0.2 grows: an interface of 0.2.12 has all items of 0.2.0, and toolchains emit the version
//! that they were built with. Wasmtime gives a component that imports `wasi:io/poll@0.2.10` the
//! host's interface of 0.2.12, unless there is one of exactly that version. So no interface may be
//! defined here at another version, or its resources would differ from those that `wasi:http` has
//! of `wasi:io`.

use std::borrow::Cow;
use std::fmt;

use dormouse_policy::HostLimits;
use dormouse_text::visible::{line_beginning, short_name};
use dormouse_wit::CONTRACT;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker, ResourceType};

use super::flag_lists::has_lists_of_flags;
use crate::cache::Compiled;
use crate::compiler::{CompileCommand, CompileJob, Compiler};
use crate::engine::{EngineKind, InstanceOrigin, Machine};
use crate::sandbox::WASI_VERSION;
use crate::state::InstanceState;

/// A component whose imports are bound.
pub(crate) struct Linked {
    pub pre: InstancePre<InstanceState>,
    /// Imports whose calls end the component.
    pub not_offered: Vec<NotOffered>,
}

/// An interface of which a component imports functions that no host of this version offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOffered {
    /// The interface, as the component names it.
    pub interface: String,
    /// The functions.
    pub functions: Vec<String>,
}

impl fmt::Display for NotOffered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Most functions that are named.
        const SHOWN: usize = 5;
        write!(f, "a call of ")?;
        for (index, function) in self.functions.iter().take(SHOWN).enumerate() {
            let before = if index == 0 { "" } else { ", " };
            write!(f, "{before}`{function}`")?;
        }
        if let Some(more @ 1..) = self.functions.len().checked_sub(SHOWN) {
            write!(f, " and of {more} more")?;
        }
        write!(
            f,
            " ends the plugin: this version of Dormouse does not offer it"
        )
    }
}

/// A resource of an interface that is not offered, of which no value ever exists.
struct Absent;

/// Returns a message of wasmtime that quotes a component, on one line that cannot be taken for
/// several.
pub(crate) fn words(text: &str) -> String {
    /// Longest message that is not cut, in characters.
    const MAX_WORDS: usize = 500;
    line_beginning(text, MAX_WORDS)
}

/// Binds a component's imports to the host's functions.
///
/// A function of WASI that the host does not have is no reason to refuse a component: some
/// toolchains import all of WASI, used or not. Calling it ends the plugin, with an error that says
/// so.
///
/// # Errors
/// It imports an item that is neither of WASI nor of this version of the contract, or an item by a
/// type that it does not have.
pub(crate) fn link(machine: &Machine, component: &Component) -> Result<Linked, String> {
    if let Ok(pre) = machine.linker.instantiate_pre(component) {
        return Ok(Linked {
            pre,
            not_offered: Vec::new(),
        });
    }
    let mut linker = machine.linker.clone();
    let not_offered = define_missing(&mut linker, component)?;
    let pre = linker.instantiate_pre(component).map_err(|error| {
        format!(
            "its imports cannot be met: {}",
            words(&format!("{error:#}"))
        )
    })?;
    Ok(Linked { pre, not_offered })
}

/// Checks whether a component could be started, as far as its imports say, without compiling its
/// code. Returns the imports that the host does not offer, whose calls end the component. Blocks.
///
/// # Errors
/// It could not be started.
pub fn not_offered(component: &[u8], compile: CompileCommand) -> Result<Vec<NotOffered>, String> {
    let concurrent = dormouse_catalog::is_concurrent(component);
    let imports = dormouse_catalog::imports_alone(component);
    let kind = EngineKind {
        origin: InstanceOrigin::Demand,
        concurrent,
    };
    let machine = Machine::new(kind).map_err(|error| format!("{error:#}"))?;
    let job = CompileJob {
        name: "imports",
        component: imports.as_deref().unwrap_or(component),
        concurrent,
        folder: &std::env::temp_dir(),
    };
    let compiler = Compiler::new(&HostLimits::default(), compile);
    let compiled = Compiled::new(&compiler, &job).map_err(|error| error.to_string())?;
    let component = compiled.load(&machine.engine).map_err(|error| {
        let error = words(&format!("{error:#}"));
        format!("it is no component that runs here: {error}")
    })?;
    Ok(link(&machine, &component)?.not_offered)
}

/// Defines imports of WASI that the host does not offer as functions that end their caller. Returns
/// these.
fn define_missing(
    linker: &mut Linker<InstanceState>,
    component: &Component,
) -> Result<Vec<NotOffered>, String> {
    let engine = component.engine();
    let mut not_offered = Vec::new();
    // Resources of earlier imports: a later import that uses them gets these.
    let mut resources: Vec<ResourceType> = Vec::new();
    for (name, import) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(interface) = &import.ty else {
            if let ComponentItem::Type(_) = import.ty {
                continue;
            }
            return Err(not_of_this_host(name));
        };
        let is_wasi = name.starts_with("wasi:");
        let mut functions = Vec::new();
        for (item, export) in interface.exports(engine) {
            let is_new_resource = match export.ty {
                ComponentItem::Resource(resource) if !resources.contains(&resource) => {
                    resources.push(resource);
                    true
                }
                ComponentItem::ComponentFunc(ref function) => {
                    let mut types = function.params().map(|(_, ty)| ty);
                    if is_wasi && types.any(|ty| has_lists_of_flags(&ty)) {
                        let (name, item) = (short_name(name), short_name(item));
                        return Err(format!(
                            "it imports `{name}`, whose `{item}` takes a list of flags, and this host \
                             offers nothing that does"
                        ));
                    }
                    false
                }
                _ => continue,
            };
            if !is_wasi {
                is_of_contract(name)?;
                continue;
            }
            let offered = linker.instance(&offered_name(name));
            let mut offered = offered.map_err(|error| format!("{error:#}"))?;
            // An item that is there already is refused, and stays as it is.
            if is_new_resource {
                let absent = ResourceType::host::<Absent>();
                let _ = offered.resource(item, absent, |_, _| Ok(()));
                continue;
            }
            let called = format!("{}#{}", short_name(name), short_name(item));
            let defined = offered.func_new(item, move |_, _, _, _| {
                Err(wasmtime::format_err!(
                    "it called `{called}`, which this version of Dormouse does not offer"
                ))
            });
            if defined.is_ok() {
                functions.push(item.to_owned());
            }
        }
        if !functions.is_empty() {
            not_offered.push(NotOffered {
                interface: name.to_owned(),
                functions,
            });
        }
    }
    Ok(not_offered)
}

/// Returns the name under which the host offers an interface of WASI, or would: for any version
/// 0.2.x that of the host's.
fn offered_name(name: &str) -> Cow<'_, str> {
    let is_patch = |version: &str| {
        let patch = version.strip_prefix("0.2.");
        patch.is_some_and(|patch| patch.parse::<u64>().is_ok())
    };
    match name.split_once('@') {
        Some((interface, version)) if is_patch(version) => {
            format!("{interface}@{WASI_VERSION}").into()
        }
        _ => name.into(),
    }
}

/// Checks that an interface is one of this version of the contract.
fn is_of_contract(name: &str) -> Result<(), String> {
    let (package, version) = CONTRACT.split_once('@').unwrap_or((CONTRACT, ""));
    let Some(interface) = name.strip_prefix(package) else {
        return Err(not_of_this_host(name));
    };
    if !interface.starts_with('/') {
        return Err(not_of_this_host(name));
    }
    match interface.split_once('@') {
        Some((_, found)) if found == version => Ok(()),
        _ => Err(format!(
            "it imports `{}`, and this Dormouse offers `{CONTRACT}`\nhint: update Dormouse, or the plugin",
            short_name(name)
        )),
    }
}

fn not_of_this_host(name: &str) -> String {
    let name = short_name(name);
    format!("it imports `{name}`, which this host does not offer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::tests::command;

    /// Links a component that has been read from text.
    fn linked(wat: &str) -> Result<Linked, String> {
        let machine = Machine::new(EngineKind {
            origin: InstanceOrigin::Demand,
            concurrent: false,
        });
        let machine = machine.unwrap();
        let component = wat::parse_str(wat).unwrap();
        let component = Component::new(&machine.engine, component).unwrap();
        link(&machine, &component)
    }

    #[test]
    fn lists_of_flags_are_given_to_nothing() {
        let import = |ty: &str| {
            format!(
                r#"(component (import "wasi:nowhere/x@0.1.0" (instance
                    (type $f' (flags "a" "b"))
                    (export "f" (type $f (eq $f')))
                    (export "g" (func (param "p" {ty}))))))"#
            )
        };
        for (ty, is_linked) in [
            ("$f", true),
            ("(option $f)", true),
            ("(list $f)", false),
            ("(list (tuple (option $f) u8))", false),
            ("(list string)", true),
        ] {
            let linked = linked(&import(ty)).map(|_| ());
            assert_eq!(linked.is_ok(), is_linked, "{ty} {linked:?}");
        }
    }

    /// Returns a component that imports a resource of `wasi:io` at one version, and an interface of
    /// `wasi:http` that uses it at another.
    fn component(io: &str, http: &str, more: &str) -> String {
        format!(
            r#"(component
                (import "wasi:io/poll@{io}" (instance $poll
                    (export "pollable" (type $p (sub resource)))
                    (export "[method]pollable.ready" (func (param "self" (borrow $p)) (result bool)))))
                (alias export $poll "pollable" (type $pollable))
                (import "wasi:http/types@{http}" (instance
                    (alias outer 1 $pollable (type $outer))
                    (export "pollable" (type $p (eq $outer)))
                    (export "fields" (type $f (sub resource)))
                    (export "[constructor]fields" (func (result (own $f))))
                    (export "future-incoming-response" (type $r (sub resource)))
                    (export "[method]future-incoming-response.subscribe"
                        (func (param "self" (borrow $r)) (result (own $p))))))
                {more})"#
        )
    }

    #[test]
    fn every_patch_of_wasi_is_linked_beside_every_other() {
        let versions: Vec<_> = (0..=14)
            .chain([99])
            .map(|patch| format!("0.2.{patch}"))
            .collect();
        for io in &versions {
            for http in &versions {
                let linked =
                    linked(&component(io, http, "")).map_err(|why| format!("{io} {http}: {why}"));
                assert_eq!(linked.unwrap().not_offered, [], "{io} {http}");
            }
        }
    }

    /// Items beside one that is not offered are linked as usual.
    #[test]
    fn what_is_not_offered_takes_nothing_from_what_is() {
        let more = r#"
            (import "wasi:tls/types@0.2.0-draft" (instance
                (alias outer 1 $pollable (type $outer))
                (export "pollable" (type $p (eq $outer)))
                (export "client" (type $c (sub resource)))
                (export "[method]client.subscribe"
                    (func (param "self" (borrow $c)) (result (own $p))))))
            (import "wasi:cli/environment@0.2.10" (instance
                (export "get-arguments" (func (result (list string))))
                (export "get-weather" (func (result string)))
                (export "a" (func)) (export "b" (func)) (export "c" (func))
                (export "d" (func)) (export "e" (func)) (export "f" (func))))
            (import "wasi:nothing/types@0.2.3" (instance
                (type $t u32) (export "t" (type (eq $t)))))"#;
        for (io, http) in [
            ("0.2.10", "0.2.10"),
            ("0.2.12", "0.2.4"),
            ("0.2.0", "0.2.12"),
        ] {
            let linked =
                linked(&component(io, http, more)).map_err(|why| format!("{io} {http}: {why}"));
            let linked = linked.unwrap();
            let told: Vec<_> = linked
                .not_offered
                .iter()
                .map(|one| format!("{}: {one}", one.interface))
                .collect();
            assert_eq!(
                told,
                [
                    "wasi:tls/types@0.2.0-draft: a call of `[method]client.subscribe` ends the plugin: this version of Dormouse does not offer it",
                    "wasi:cli/environment@0.2.10: a call of `get-weather`, `a`, `b`, `c`, `d` and of 2 more ends the plugin: this version of Dormouse does not offer it",
                ]
            );
        }
    }

    #[test]
    fn what_cannot_be_linked_says_what_is_missing() {
        for (import, expected) in [
            (
                r#"(import "acme:a/b@1.0.0" (instance (export "f" (func))))"#,
                "it imports `acme:a/b@1.0.0`, which this host does not offer",
            ),
            (
                r#"(import "f" (func))"#,
                "it imports `f`, which this host does not offer",
            ),
            (
                r#"(import "dormouse:plugin/notify@0.2.0" (instance (export "f" (func))))"#,
                "it imports `dormouse:plugin/notify@0.2.0`, and this Dormouse offers `dormouse:plugin@0.1.0`",
            ),
            (
                r#"(import "dormouse:plugins/notify@0.1.0" (instance (export "f" (func))))"#,
                "it imports `dormouse:plugins/notify@0.1.0`, which this host does not offer",
            ),
            (
                r#"(import "dormouse:plugin/notify@0.1.0" (instance (export "f" (func))))"#,
                "its imports cannot be met: component imports instance `dormouse:plugin/notify@0.1.0`",
            ),
            (
                r#"(import "wasi:cli/environment@0.2.3" (instance (export "get-arguments" (func (result u32)))))"#,
                "its imports cannot be met: component imports instance `wasi:cli/environment@0.2.3`",
            ),
        ] {
            let wat = format!("(component {import})");
            let why = linked(&wat).err().unwrap();
            assert!(why.starts_with(expected), "{why}");
            let looked = not_offered(&wat::parse_str(&wat).unwrap(), command);
            assert_eq!(looked.unwrap_err(), why);
        }
    }

    /// Only a component's imports are compiled to check that it can be linked.
    #[test]
    fn imports_are_looked_at_without_the_code() {
        let more = r#"(import "wasi:keyvalue/store@0.2.0-draft" (instance (export "open" (func))))
            (core module (func (loop (br 0))))"#;
        let bytes = wat::parse_str(component("0.2.10", "0.2.4", more)).unwrap();
        let found = not_offered(&bytes, command).unwrap();
        assert_eq!(
            found,
            [NotOffered {
                interface: "wasi:keyvalue/store@0.2.0-draft".into(),
                functions: vec!["open".into()],
            }]
        );
    }
}
