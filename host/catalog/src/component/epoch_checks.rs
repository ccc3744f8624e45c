//! Places in the code of a component at which it can be interrupted.
//!
//! An engine checks a guest's time at the beginning of a function and of each turn of a loop, but
//! not after a call of the host. Code between two such places takes no longer than its length
//! suggests, but for each call of the host in it, which may take long. So an empty loop is put
//! behind each such call.

use wasmparser::{BinaryReaderError, FunctionBody, Operator, Parser, Payload, TypeRef};

/// An empty loop: `loop end`.
const CHECK: [u8; 3] = [0x03, 0x40, 0x0b];

/// Ids of the sections for modules and components nested in a component.
const MODULE_SECTION: u8 = 1;
const COMPONENT_SECTION: u8 = 4;
const CODE_SECTION: u8 = 10;

/// Length of a number whose value is written later, in bytes.
const PADDED_BYTES: usize = 5;

/// Returns a component with a check of the epoch behind each instruction that may take long. Custom
/// sections other than `name` are dropped, as they refer to offsets in the code. Reads without
/// validating.
///
/// # Errors
/// The component cannot be read.
pub fn with_epoch_checks(component: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut rewritten = Rewritten {
        bytes: Vec::with_capacity(component.len() + component.len() / 8),
        open: Vec::new(),
        entered: None,
    };
    for payload in Parser::new(0).parse_all(component) {
        rewritten.payload(component, payload?)?;
    }
    Ok(rewritten.bytes)
}

struct Rewritten {
    bytes: Vec<u8>,
    /// Modules and components around the payload, the outermost first.
    open: Vec<OpenModule>,
    /// Section of the next module or component.
    entered: Option<u8>,
}

/// A module or a component that has not ended.
struct OpenModule {
    /// Offset at which its length is to be written; none for the outermost.
    length_at: Option<usize>,
    /// Number of functions that it imports, if it is a module.
    imported_functions: u32,
    /// Offset at which the length of its code section is to be written, and the number of functions
    /// that are to come.
    code: Option<(usize, u32)>,
}

impl Rewritten {
    fn payload(&mut self, from: &[u8], payload: Payload<'_>) -> Result<(), BinaryReaderError> {
        match payload {
            Payload::Version { range, .. } => {
                let length_at = self.entered.take().map(|section| self.begin(section));
                self.open.push(OpenModule {
                    length_at,
                    imported_functions: 0,
                    code: None,
                });
                self.copy(from, range);
            }
            Payload::End(_) => {
                let open = self.open.pop();
                if let Some(at) = open.and_then(|open| open.length_at) {
                    self.end(at);
                }
            }
            Payload::ModuleSection { .. } => self.entered = Some(MODULE_SECTION),
            Payload::ComponentSection { .. } => self.entered = Some(COMPONENT_SECTION),
            Payload::CustomSection(section) if section.name() != "name" => {}
            Payload::CodeSectionStart { count, .. } => {
                let at = self.begin(CODE_SECTION);
                self.bytes.extend(padded(count as usize));
                if let Some(open) = self.open.last_mut() {
                    open.code = Some((at, count));
                }
                self.functions_ended(0);
            }
            Payload::CodeSectionEntry(body) => {
                let imported = self.open.last().map_or(0, |open| open.imported_functions);
                self.function(from, &body, imported)?;
                self.functions_ended(1);
            }
            other => {
                if let Payload::ImportSection(section) = &other
                    && let Some(open) = self.open.last_mut()
                {
                    for import in section.clone().into_imports() {
                        let is_function =
                            matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_));
                        open.imported_functions += u32::from(is_function);
                    }
                }
                if let Some((section, range)) = other.as_section() {
                    let at = self.begin(section);
                    self.copy(from, range);
                    self.end(at);
                }
            }
        }
        Ok(())
    }

    fn function(
        &mut self,
        from: &[u8],
        body: &FunctionBody<'_>,
        imported: u32,
    ) -> Result<(), BinaryReaderError> {
        let length_at = self.length();
        let mut copied = body.range().start;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            if takes_long(&operators.read()?, imported) {
                let end = operators.original_position();
                self.copy(from, copied..end);
                self.bytes.extend(CHECK);
                copied = end;
            }
        }
        self.copy(from, copied..body.range().end);
        self.end(length_at);
        Ok(())
    }

    /// Counts ended functions, and ends the code section after the last one.
    fn functions_ended(&mut self, ended: u32) {
        let code = self.open.last_mut().and_then(|open| open.code.as_mut());
        if let Some((at, left)) = code {
            *left = left.saturating_sub(ended);
            if *left == 0 {
                let at = *at;
                self.end(at);
            }
        }
    }

    /// Begins a section. Returns the offset at which its length is to be written.
    fn begin(&mut self, section: u8) -> usize {
        self.bytes.push(section);
        self.length()
    }

    fn length(&mut self) -> usize {
        let at = self.bytes.len();
        self.bytes.extend([0; PADDED_BYTES]);
        at
    }

    /// Writes the length of all bytes since then.
    fn end(&mut self, length_at: usize) {
        let begin = length_at + PADDED_BYTES;
        let length = self.bytes.len().saturating_sub(begin);
        if let Some(place) = self.bytes.get_mut(length_at..begin) {
            place.copy_from_slice(&padded(length));
        }
    }

    fn copy(&mut self, from: &[u8], range: std::ops::Range<usize>) {
        self.bytes.extend(from.get(range).unwrap_or_default());
    }
}

/// Encodes a number as a LEB128 of fixed length.
fn padded(number: usize) -> [u8; PADDED_BYTES] {
    std::array::from_fn(|at| {
        let more = if at + 1 < PADDED_BYTES { 0x80 } else { 0 };
        u8::try_from(number >> (7 * at) & 0x7f).unwrap_or_default() | more
    })
}

/// Checks whether an instruction may run other code for long without a check by the engine. A
/// function of the module itself is checked at its beginning, and wasmtime checks instructions that
/// fill or copy memories and tables in parts.
fn takes_long(operator: &Operator<'_>, imported_functions: u32) -> bool {
    match operator {
        Operator::Call { function_index } => *function_index < imported_functions,
        Operator::CallIndirect { .. }
        | Operator::CallRef { .. }
        | Operator::MemoryGrow { .. }
        | Operator::TableGrow { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
