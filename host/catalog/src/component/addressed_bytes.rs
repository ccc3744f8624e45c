//! Functions of a component that take and return lists of bytes by their addresses.
//!
//! An engine makes a value of each byte where it does not know a function's types when it is
//! built: forty bytes of memory for one. A list of bytes has the form of a pair of numbers in a
//! guest's memory, its address and its length. So each exported function that has lists of bytes in
//! its types is exported once more, with `tuple<u32, u32>` in the place of each `list<u8>`; beside
//! these stand functions of fixed types that copy bytes out of the guest's memory and into it.
//!
//! A result stays in the guest's memory until all of it has been read. So the function is exported
//! in three parts: one returns the result's address, one makes the result of an address, and one
//! lets the guest clean up.
//!
//! All of this stands behind what the component has, which stays as it is.

mod copied_types;
mod lifted_exports;
mod memory_module;

use std::borrow::Cow;

use dormouse_wit::Export;
use sha2::{Digest as _, Sha256};
use wasm_encoder::{
    CanonicalFunctionSection, CanonicalOption, ComponentExportKind, ComponentExportSection,
    ComponentSection as _, ComponentTypeSection, ComponentValType, PrimitiveValType,
};
use wasmparser::{Payload, Validator, WasmFeatures};

use copied_types::CopiedTypes;
use lifted_exports::{LiftedExport, LiftedExports, lifted_exports};
use memory_module::MemoryFunctions;

use crate::component::payloads::payloads;

/// Exported function of type `func(at: u32, address: u32, length: u32) -> list<u8>`: returns the
/// bytes at an address. Uses the eight bytes at `at`, where a result is, to do so.
pub const READ_BYTES: &str = "dormouse-addressed-read";

/// Exported function of type `func(bytes: list<u8>) -> u32`: returns the address at which the bytes
/// are now. They belong to the function that gets them as an argument.
pub const PLACE_BYTES: &str = "dormouse-addressed-place";

/// Exported function of type `func(at: u32) -> u64`: returns the eight bytes at an address.
pub const SAVE: &str = "dormouse-addressed-save";

/// Exported function of type `func(at: u32, saved: u64)`: writes the eight bytes at an address.
pub const RESTORE: &str = "dormouse-addressed-restore";

/// Beginning of the names of all such functions.
const PREFIX: &str = "dormouse-addressed-";

/// Returns an export of a component whose name is kept for functions that are added to it. What it
/// returns would be taken for what is in the guest's memory.
#[must_use]
pub fn reserved_export(component: &[u8]) -> Option<String> {
    let mut depth = 0_usize;
    for payload in payloads(component) {
        match payload.ok()? {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentExportSection(exports) if depth == 1 => {
                for export in exports {
                    let name = export.ok()?.name.name;
                    if name.starts_with(PREFIX) {
                        return Some(name.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
    None
}

/// Names under which a function is exported once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressedNames {
    /// The function itself. It returns the address of its result where that has bytes in it, and
    /// the result otherwise.
    pub call: String,
    /// Function of type `func(at: u32)` that returns the result at an address, where that has bytes
    /// in it.
    pub result: String,
    /// Function of type `func(at: u32)` after which the result at an address is no more, where the
    /// guest has one.
    pub end: String,
}

impl AddressedNames {
    /// Returns the names for an exported function.
    #[must_use]
    pub fn of(export: &Export) -> Self {
        // Letters only: a word of a name begins with one.
        let digest = Sha256::digest(export.to_string());
        let halves = digest
            .iter()
            .take(10)
            .flat_map(|byte| [byte >> 4, byte & 15]);
        let id: String = halves.map(|half| char::from(b'a' + half)).collect();
        let name = |what| format!("{PREFIX}{what}-{id}");
        Self {
            call: name("call"),
            result: name("result"),
            end: name("end"),
        }
    }
}

/// Returns a component with all of its functions that have lists of bytes in their types exported
/// once more. A function that is made in a way that no known toolchain does is left out, and so are
/// all of a component that is concurrent, has a memory of 64 bits or cannot be read.
#[must_use]
pub fn with_addressed_bytes(component: &[u8]) -> Cow<'_, [u8]> {
    let added = lifted_exports(component).and_then(|found| added(&found));
    let Some(added) = added else {
        return Cow::Borrowed(component);
    };
    let whole = [component, &added].concat();
    // What is wrong with the component itself, its compiler says best.
    match Validator::new_with_features(WasmFeatures::all()).validate_all(&whole) {
        Ok(_) => Cow::Owned(whole),
        Err(error) => {
            tracing::debug!("lists of bytes are not addressed: {error}");
            Cow::Borrowed(component)
        }
    }
}

/// Returns the sections to add. None where there is nothing to add.
fn added(found: &LiftedExports) -> Option<Vec<u8>> {
    let mut added = Added {
        sections: Vec::new(),
        functions: found.types().component_function_count(),
        types: CopiedTypes::new(found.types()),
        memory: None,
    };
    for function in &found.functions {
        added.function(found, function);
    }
    added.memory.is_some().then_some(added.sections)
}

/// Sections that are added to a component.
struct Added<'t> {
    sections: Vec<u8>,
    /// Number of functions that the component has with them.
    functions: u32,
    types: CopiedTypes<'t>,
    memory: Option<MemoryFunctions>,
}

/// An index of a function's result, or of its address.
const U32: ComponentValType = ComponentValType::Primitive(PrimitiveValType::U32);
const U64: ComponentValType = ComponentValType::Primitive(PrimitiveValType::U64);

impl Added<'_> {
    /// Exports a function once more, if it has bytes and all of its types can be copied.
    fn function(&mut self, found: &LiftedExports, function: &LiftedExport) -> Option<()> {
        let memory = function.memory(found.types())?;
        if self.memory.is_some_and(|own| own.memory != memory) {
            return None;
        }
        let ty = found.types().get(function.ty).filter(|ty| !ty.async_)?;
        let mut params = Vec::with_capacity(ty.params.len());
        let mut has_bytes = false;
        for (name, ty) in &ty.params {
            let copied = self.types.copied(*ty)?;
            has_bytes |= copied.has_bytes;
            params.push((name.as_str(), copied.ty));
        }
        let result = match ty.result {
            Some(ty) => Some(self.types.copied(ty)?),
            None => None,
        };
        let returns_bytes = result.is_some_and(|copied| copied.has_bytes);
        if !has_bytes && !returns_bytes {
            return None;
        }
        // Bytes of arguments are placed with what the function's own are placed with.
        let realloc = function.realloc();
        let memory = match self.memory {
            Some(memory) => memory,
            None => self.memory_functions(found, memory, realloc),
        };
        if has_bytes && memory.realloc != realloc {
            return None;
        }
        let names = AddressedNames::of(&function.export);
        let without_end = function.options_without_post_return();
        if !returns_bytes {
            let result = result.map(|copied| copied.ty);
            let options = function.options();
            self.export(&names.call, function.core_function, params, result, options);
            return Some(());
        }
        let result = result.map(|copied| copied.ty);
        let call = without_end.clone();
        self.export(&names.call, function.core_function, params, Some(U32), call);
        let at = || vec![("at", U32)];
        self.export(&names.result, memory.same, at(), result, without_end);
        if let Some(end) = function.post_return() {
            self.export(&names.end, end, at(), None, Vec::new());
        }
        Some(())
    }

    /// Adds the functions that reach a memory.
    fn memory_functions(
        &mut self,
        found: &LiftedExports,
        memory: u32,
        realloc: Option<u32>,
    ) -> MemoryFunctions {
        let own = MemoryFunctions::add(&mut self.sections, found.types(), memory, realloc);
        self.memory = Some(own);
        let bytes = self.types.bytes();
        let in_memory = vec![CanonicalOption::Memory(memory)];
        let read = vec![("at", U32), ("address", U32), ("length", U32)];
        self.export(READ_BYTES, own.read, read, Some(bytes), in_memory);
        self.export(SAVE, own.save, vec![("at", U32)], Some(U64), Vec::new());
        let restored = vec![("at", U32), ("saved", U64)];
        self.export(RESTORE, own.restore, restored, None, Vec::new());
        if let Some(realloc) = realloc {
            let options = vec![
                CanonicalOption::Memory(memory),
                CanonicalOption::Realloc(realloc),
            ];
            let placed = vec![("bytes", bytes)];
            self.export(PLACE_BYTES, own.place, placed, Some(U32), options);
        }
        own
    }

    /// Lifts a core function to a type, and exports it.
    fn export(
        &mut self,
        name: &str,
        core_function: u32,
        params: Vec<(&str, ComponentValType)>,
        result: Option<ComponentValType>,
        options: Vec<CanonicalOption>,
    ) {
        self.types.write_to(&mut self.sections);
        let mut types = ComponentTypeSection::new();
        types.function().params(params).result(result);
        types.append_to_component(&mut self.sections);
        let mut lifted = CanonicalFunctionSection::new();
        lifted.lift(core_function, self.types.next_index(), options);
        lifted.append_to_component(&mut self.sections);
        let mut exports = ComponentExportSection::new();
        exports.export(name, ComponentExportKind::Func, self.functions, None);
        exports.append_to_component(&mut self.sections);
        // One by which it is lifted, and one by which it is exported.
        self.functions += 2;
    }
}

#[cfg(test)]
mod tests;
