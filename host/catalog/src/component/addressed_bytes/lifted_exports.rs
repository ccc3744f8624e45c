//! Exported functions of a component, and the core functions behind them.

use std::collections::HashMap;

use dormouse_wit::Export;
use wasm_encoder::CanonicalOption;
use wasmparser::component_types::ComponentFuncTypeId;
use wasmparser::types::{Types, TypesRef};
use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentTypeRef,
    Payload, ValidPayload, Validator, WasmFeatures,
};

use crate::component::payloads::payloads;

/// An exported function that is made of a core function.
pub(super) struct LiftedExport {
    pub(super) export: Export,
    pub(super) ty: ComponentFuncTypeId,
    pub(super) core_function: u32,
    options: Vec<wasmparser::CanonicalOption>,
}

/// All such functions, in a component whose declarations are valid. Its code is not looked at.
pub(super) struct LiftedExports {
    pub(super) functions: Vec<LiftedExport>,
    types: Types,
}

impl LiftedExports {
    pub(super) fn types(&self) -> TypesRef<'_> {
        self.types.as_ref()
    }
}

impl LiftedExport {
    /// Returns the memory that its values are in, if it is one of 32 bits that no thread shares.
    pub(super) fn memory(&self, types: TypesRef<'_>) -> Option<u32> {
        let is_odd = self.options.iter().any(|option| {
            use wasmparser::CanonicalOption as Option;
            matches!(
                option,
                Option::Async | Option::Callback(_) | Option::CoreType(_) | Option::Gc
            )
        });
        let memory = self.options.iter().find_map(|option| match option {
            wasmparser::CanonicalOption::Memory(memory) => Some(*memory),
            _ => None,
        });
        memory.filter(|memory| {
            let memory = types.memory_at(*memory);
            !is_odd && !memory.memory64 && !memory.shared
        })
    }

    pub(super) fn realloc(&self) -> Option<u32> {
        self.options.iter().find_map(|option| match option {
            wasmparser::CanonicalOption::Realloc(function) => Some(*function),
            _ => None,
        })
    }

    pub(super) fn post_return(&self) -> Option<u32> {
        self.options.iter().find_map(|option| match option {
            wasmparser::CanonicalOption::PostReturn(function) => Some(*function),
            _ => None,
        })
    }

    pub(super) fn options(&self) -> Vec<CanonicalOption> {
        self.options.iter().map(|option| (*option).into()).collect()
    }

    pub(super) fn options_without_post_return(&self) -> Vec<CanonicalOption> {
        let options = self.options().into_iter();
        let options = options.filter(|option| !matches!(option, CanonicalOption::PostReturn(_)));
        options.collect()
    }
}

/// Returns the exported functions of a component. None where it is not valid.
pub(super) fn lifted_exports(component: &[u8]) -> Option<LiftedExports> {
    let mut reader = LiftedExportsReader {
        validator: Validator::new_with_features(WasmFeatures::all()),
        levels: Vec::new(),
        root: Root::default(),
    };
    let mut types = None;
    for payload in payloads(component) {
        types = reader.payload(&payload.ok()?)?;
    }
    let types = types?;
    let functions = reader.root.functions(types.as_ref());
    Some(LiftedExports { functions, types })
}

/// Owner of the payloads that are read.
enum PayloadOwner {
    Root,
    /// A component within the outermost one, with its number there.
    Inner(u32, InnerComponent),
    /// A module, or something that is nested deeper.
    Other,
}

struct LiftedExportsReader {
    validator: Validator,
    levels: Vec<PayloadOwner>,
    root: Root,
}

/// Definitions of the outermost component that exported functions go through.
#[derive(Default)]
struct Root {
    lifts: HashMap<u32, (u32, Vec<wasmparser::CanonicalOption>)>,
    inner: HashMap<u32, InnerComponent>,
    instances: HashMap<u32, Instance>,
    /// Names of exports, with what is exported.
    exports: Vec<(String, ComponentExternalKind, u32)>,
}

/// An instance of a component.
enum Instance {
    /// Of an inner component, with the functions that it was given by their names.
    Of(u32, HashMap<String, u32>),
    /// Made of functions that have names.
    Exports(HashMap<String, u32>),
}

/// A component that hands on functions that it imports, as toolchains make one for each interface.
#[derive(Default)]
struct InnerComponent {
    /// Names under which its functions are imported, by their numbers.
    functions: Vec<Option<String>>,
    /// Names under which its exported functions are imported.
    exports: HashMap<String, String>,
}

impl LiftedExportsReader {
    /// Reads one part. None where it is not valid; of the last part, the types of the whole.
    #[expect(clippy::option_option, reason = "the outer one is the error")]
    fn payload(&mut self, payload: &Payload<'_>) -> Option<Option<Types>> {
        let counts = self.validator.types(0).filter(|_| self.levels.len() == 1);
        let counts = counts.map(|types| DefinitionCounts {
            functions: types.component_function_count(),
            components: types.component_count(),
            instances: types.component_instance_count(),
        });
        match payload {
            Payload::Version { .. } if self.levels.is_empty() => {
                self.levels.push(PayloadOwner::Root);
            }
            Payload::ModuleSection { .. } => self.levels.push(PayloadOwner::Other),
            Payload::ComponentSection { .. } => self.levels.push(match counts {
                Some(counts) => PayloadOwner::Inner(counts.components, InnerComponent::default()),
                None => PayloadOwner::Other,
            }),
            Payload::End(_) => {
                if let Some(PayloadOwner::Inner(number, component)) = self.levels.pop() {
                    self.root.inner.insert(number, component);
                }
            }
            payload => match (self.levels.last_mut(), counts) {
                (Some(PayloadOwner::Root), Some(counts)) => self.root.payload(payload, &counts)?,
                (Some(PayloadOwner::Inner(_, component)), _) => component.payload(payload)?,
                _ => {}
            },
        }
        match self.validator.payload(payload).ok()? {
            ValidPayload::End(types) if self.levels.is_empty() => Some(Some(types)),
            _ => Some(None),
        }
    }
}

/// Numbers of the next definitions of the outermost component.
struct DefinitionCounts {
    functions: u32,
    components: u32,
    instances: u32,
}

impl Root {
    fn payload(&mut self, payload: &Payload<'_>, counts: &DefinitionCounts) -> Option<()> {
        match payload {
            Payload::ComponentCanonicalSection(section) => {
                let mut next = counts.functions;
                for function in section.clone() {
                    if let CanonicalFunction::Lift {
                        core_func_index,
                        options,
                        ..
                    } = function.ok()?
                    {
                        self.lifts.insert(next, (core_func_index, options.into()));
                        next += 1;
                    }
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for (number, instance) in (counts.instances..).zip(section.clone()) {
                    self.instances.insert(number, made(instance.ok()?));
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.clone() {
                    let export = export.ok()?;
                    let name = export.name.name.to_owned();
                    self.exports.push((name, export.kind, export.index));
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Returns the exported functions, as far as the way to their core functions is known.
    fn functions(&self, types: TypesRef<'_>) -> Vec<LiftedExport> {
        let mut found = Vec::new();
        let mut add = |interface: Option<&String>, function: &str, number: u32| {
            if let Some((core_function, options)) = self.lifts.get(&number) {
                found.push(LiftedExport {
                    export: Export {
                        interface: interface.cloned(),
                        function: function.to_owned(),
                    },
                    ty: types.component_function_at(number),
                    core_function: *core_function,
                    options: options.clone(),
                });
            }
        };
        for (name, kind, number) in &self.exports {
            match kind {
                ComponentExternalKind::Func => add(None, name, *number),
                ComponentExternalKind::Instance => match self.instances.get(number) {
                    Some(Instance::Exports(functions)) => {
                        let functions = functions.iter();
                        functions.for_each(|(function, number)| add(Some(name), function, *number));
                    }
                    Some(Instance::Of(component, given)) => {
                        let Some(inner) = self.inner.get(component) else {
                            continue;
                        };
                        for (function, imported) in &inner.exports {
                            if let Some(number) = given.get(imported) {
                                add(Some(name), function, *number);
                            }
                        }
                    }
                    None => {}
                },
                _ => {}
            }
        }
        // A map has no order, and what is compiled has to be the same each time.
        found.sort_by_cached_key(|function| function.export.to_string());
        found
    }
}

fn made(instance: ComponentInstance<'_>) -> Instance {
    match instance {
        ComponentInstance::Instantiate {
            component_index,
            args,
        } => {
            let functions = args.iter();
            let functions = functions.filter(|arg| arg.kind == ComponentExternalKind::Func);
            let functions = functions.map(|arg| (arg.name.to_owned(), arg.index));
            Instance::Of(component_index, functions.collect())
        }
        ComponentInstance::FromExports(exports) => {
            let functions = exports.iter();
            let functions = functions.filter(|export| export.kind == ComponentExternalKind::Func);
            let functions = functions.map(|export| (export.name.name.to_owned(), export.index));
            Instance::Exports(functions.collect())
        }
    }
}

impl InnerComponent {
    fn payload(&mut self, payload: &Payload<'_>) -> Option<()> {
        match payload {
            Payload::ComponentImportSection(section) => {
                for import in section.clone() {
                    let import = import.ok()?;
                    if matches!(import.ty, ComponentTypeRef::Func(_)) {
                        self.functions.push(Some(import.name.name.to_owned()));
                    }
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section.clone() {
                    if let ComponentAlias::InstanceExport {
                        kind: ComponentExternalKind::Func,
                        ..
                    } = alias.ok()?
                    {
                        self.functions.push(None);
                    }
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section.clone() {
                    if let CanonicalFunction::Lift { .. } = function.ok()? {
                        self.functions.push(None);
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.clone() {
                    let export = export.ok()?;
                    if export.kind == ComponentExternalKind::Func {
                        let number = usize::try_from(export.index).ok()?;
                        let imported = self.functions.get(number).cloned().flatten();
                        if let Some(imported) = &imported {
                            let name = export.name.name.to_owned();
                            self.exports.insert(name, imported.clone());
                        }
                        self.functions.push(imported);
                    }
                }
            }
            _ => {}
        }
        Some(())
    }
}
