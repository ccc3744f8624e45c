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
    open: Vec<Open>,
    /// Section of the next module or component.
    entered: Option<u8>,
}

/// A module or a component that has not ended.
struct Open {
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
                self.open.push(Open {
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
mod tests {
    use wasmparser::Validator;

    use super::*;

    /// Returns the number of checks in each function of a component's modules.
    fn checks(component: &[u8]) -> Vec<usize> {
        let payloads = Parser::new(0).parse_all(component).map(Result::unwrap);
        let bodies = payloads.filter_map(|payload| match payload {
            Payload::CodeSectionEntry(body) => Some(body),
            _ => None,
        });
        let count = |body: FunctionBody<'_>| {
            let operators = body.get_operators_reader().unwrap().into_iter();
            let operators: Vec<_> = operators.map(Result::unwrap).collect();
            let pairs = operators.windows(2);
            pairs
                .filter(|pair| matches!(pair, [Operator::Loop { .. }, Operator::End]))
                .count()
        };
        bodies.map(count).collect()
    }

    fn rewritten(wat: &str) -> Vec<u8> {
        let bytes = wat::parse_str(wat).unwrap();
        let rewritten = with_epoch_checks(&bytes).unwrap();
        Validator::new().validate_all(&rewritten).unwrap();
        rewritten
    }

    #[test]
    fn what_may_take_long_is_followed_by_a_check() {
        let module = r#"
            (type $t (func))
            (import "a" "host" (func $host))
            (import "a" "memory" (memory 1))
            (import "a" "other" (func $other))
            (table 1 funcref)
            (global (mut i32) (i32.const 0))
            (func $own (nop))
            (func (call $host) (call $own) (call $other) (call $own))
            (func (call_indirect (type $t) (i32.const 0)))
            (func (block (br 0) (call $host)))
            (func (param i32)
                (drop (memory.grow (local.get 0)))
                (drop (table.grow (ref.null func) (local.get 0)))
                (drop (i32.load (local.get 0))))
            (func (result i32) (call $own) (i32.const 7))"#;
        let expected = [0, 2, 1, 1, 2, 0];
        let component = format!("(component (core module {module}))");
        assert_eq!(checks(&rewritten(&component)), expected);
        let nested = format!(
            "(component (core module) (component (component (core module {module}) (core module {module})))
                (core module (func)))"
        );
        let expected = [&expected[..], &expected[..], &[0]].concat();
        assert_eq!(checks(&rewritten(&nested)), expected);
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for wat in [
            "(component)",
            "(component (core module))",
            r#"(component (core module $named (func $f (nop)) (func $g (call $f)) (@custom "x" "y")))"#,
            r#"(component
                (import "a:b/c" (instance $i (export "f" (func (param "s" string) (result u32)))))
                (core module $libc (memory (export "memory") 1)
                    (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable))
                (core instance $libc (instantiate $libc))
                (core func $f (canon lower (func $i "f") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
                (core module $m (import "" "f" (func (param i32 i32) (result i32)))
                    (func (export "g") (result i32) (call 0 (i32.const 0) (i32.const 0))))
                (core instance $m (instantiate $m (with "" (instance (export "f" (func $f))))))
                (func (export "g") (result u32) (canon lift (core func $m "g"))))"#,
        ] {
            let before = wat::parse_str(wat).unwrap();
            let after = rewritten(wat);
            let sections = |bytes: &[u8]| -> Vec<String> {
                let payloads = Parser::new(0).parse_all(bytes).map(Result::unwrap);
                payloads
                    .filter_map(|payload| match payload {
                        Payload::CustomSection(section) if section.name() != "name" => None,
                        Payload::CodeSectionStart { count, .. } => Some(format!("code {count}")),
                        payload => {
                            let (section, range) = payload.as_section()?;
                            let nested = [MODULE_SECTION, COMPONENT_SECTION].contains(&section)
                                && matches!(
                                    payload,
                                    Payload::ModuleSection { .. }
                                        | Payload::ComponentSection { .. }
                                );
                            let bytes = if nested { &[][..] } else { &bytes[range] };
                            Some(format!("{section} {bytes:?}"))
                        }
                    })
                    .collect()
            };
            assert_eq!(sections(&before), sections(&after), "{wat}");
        }
    }

    #[test]
    fn calls_are_checked_in_linear_time() {
        let calls = |number: usize| {
            let calls = "(call $f)".repeat(number);
            let modules = "(core module (func))".repeat(number);
            let text = format!(
                "(component (core module (import \"\" \"\" (func $f)) (func {calls})) {modules})"
            );
            wat::parse_str(text).unwrap()
        };
        dormouse_tests::growth::is_linear("calls", 2000, calls, |component: &Vec<u8>| {
            std::hint::black_box(with_epoch_checks(component).unwrap());
        });
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let whole = wat::parse_str("(component (core module (func (nop)) (func (nop))))").unwrap();
        for length in 8..whole.len() {
            let cut = &whole[..length];
            if let Ok(rewritten) = with_epoch_checks(cut) {
                // Where a section ends, a component may end.
                assert!(Validator::new().validate_all(cut).is_ok(), "{length}");
                Validator::new().validate_all(&rewritten).unwrap();
            }
        }
        assert!(with_epoch_checks(b"no component").is_err());
    }

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 1, 127, 128, 300, 1 << 20, u32::MAX as usize] {
            let bytes = padded(number);
            let mut reader = wasmparser::BinaryReader::new(&bytes, 0);
            assert_eq!(reader.read_var_u32().unwrap() as usize, number);
            assert!(reader.eof());
        }
    }
}
