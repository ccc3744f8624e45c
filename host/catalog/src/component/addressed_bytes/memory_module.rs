//! A module with functions that reach the memory of another one.

use wasm_encoder::{
    Alias, CodeSection, ComponentAliasSection, ComponentSection as _, EntityType, ExportKind,
    ExportSection, Function, FunctionSection, ImportSection, InstanceSection, MemArg, MemoryType,
    Module, ModuleArg, ModuleSection, TypeSection, ValType,
};
use wasmparser::types::TypesRef;

/// Core functions of an instance of the module, by their numbers in the component.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryFunctions {
    /// The memory that they reach.
    pub(super) memory: u32,
    /// The function that allocates in it.
    pub(super) realloc: Option<u32>,
    /// Writes a pair of numbers to an address, and returns that: a result that is a list.
    pub(super) read: u32,
    /// Returns the first of two numbers: the address of an argument that is a list.
    pub(super) place: u32,
    /// Reads eight bytes.
    pub(super) save: u32,
    /// Writes eight bytes.
    pub(super) restore: u32,
    /// Returns its number: the address of a result.
    pub(super) same: u32,
}

/// Names of the module's functions, in the order in which the component counts them.
const NAMES: [&str; 5] = ["read", "place", "save", "restore", "same"];

impl MemoryFunctions {
    /// Adds the module, and an instance of it, to a component.
    pub(super) fn add(
        sections: &mut Vec<u8>,
        types: TypesRef<'_>,
        memory: u32,
        realloc: Option<u32>,
    ) -> Self {
        ModuleSection(&module()).append_to_component(sections);
        let mut instances = InstanceSection::new();
        instances.export_items([("memory", ExportKind::Memory, memory)]);
        let with_memory = types.core_instance_count();
        let arguments = [("", ModuleArg::Instance(with_memory))];
        instances.instantiate(types.module_count(), arguments);
        instances.append_to_component(sections);
        let mut aliases = ComponentAliasSection::new();
        for name in NAMES {
            aliases.alias(Alias::CoreInstanceExport {
                instance: with_memory + 1,
                kind: ExportKind::Func,
                name,
            });
        }
        aliases.append_to_component(sections);
        let read = types.function_count();
        Self {
            memory,
            realloc,
            read,
            place: read + 1,
            save: read + 2,
            restore: read + 3,
            same: read + 4,
        }
    }
}

fn module() -> Module {
    use ValType::{I32, I64};
    let mut types = TypeSection::new();
    let mut functions = FunctionSection::new();
    let mut exports = ExportSection::new();
    let mut code = CodeSection::new();
    let at = |offset, align| MemArg {
        offset,
        align,
        memory_index: 0,
    };
    for (index, name) in (0..).zip(NAMES) {
        let mut function = Function::new([]);
        let mut body = function.instructions();
        let (params, result) = match name {
            "read" => {
                body.local_get(0).local_get(1).i32_store(at(0, 2));
                body.local_get(0).local_get(2).i32_store(at(4, 2));
                body.local_get(0);
                (&[I32, I32, I32][..], Some(I32))
            }
            "place" => {
                body.local_get(0);
                (&[I32, I32][..], Some(I32))
            }
            // A result is aligned to four bytes at least.
            "save" => {
                body.local_get(0).i64_load(at(0, 2));
                (&[I32][..], Some(I64))
            }
            "restore" => {
                body.local_get(0).local_get(1).i64_store(at(0, 2));
                (&[I32, I64][..], None)
            }
            _ => {
                body.local_get(0);
                (&[I32][..], Some(I32))
            }
        };
        body.end();
        let params = params.iter().copied();
        types.ty().function(params, result);
        functions.function(index);
        exports.export(name, ExportKind::Func, index);
        code.function(&function);
    }
    let mut imports = ImportSection::new();
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports.import("", "memory", EntityType::Memory(memory));
    let mut module = Module::new();
    module.section(&types).section(&imports);
    module.section(&functions).section(&exports).section(&code);
    module
}
