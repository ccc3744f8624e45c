//! Components for tests, and properties of everything that is done with bytes.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use dormouse_wit::{CONTRACT_WIT, Declaration, section, source};
use proptest::prelude::*;
use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve};

use crate::inspect::inspect;
use crate::{
    check, imports_alone, instance_footprint, max_module_items, pack, read, with_epoch_checks,
};

/// Returns a component with one tool, `add`, that it does not declare.
pub(crate) fn typed() -> Vec<u8> {
    wat::parse_str(
        r#"(component
            (core module $m
                (func (export "add") (param i32 i32) (result i32)
                    (i32.add (local.get 0) (local.get 1))))
            (core instance $i (instantiate $m))
            (func (export "add") (param "a" u32) (param "b" u32) (result u32)
                (canon lift (core func $i "add"))))"#,
    )
    .unwrap()
}

/// Returns a component with a tool in an interface, of types with names.
pub(crate) fn with_interface() -> Vec<u8> {
    wat::parse_str(
        r#"(component
            (core module $m
                (func (export "f") (param i32 i64) (result i32) i32.const 7))
            (core instance $i (instantiate $m))
            (type $order (enum "a-z" "z-a"))
            (func $f (param "sort-by" $order) (param "at-most" u64) (result u32)
                (canon lift (core func $i "f")))
            (component $shim
                (type $e (enum "a-z" "z-a"))
                (import "import-type-order" (type $order (eq $e)))
                (import "import-func-list-all"
                    (func $f (param "sort-by" $order) (param "at-most" u64) (result u32)))
                (export $o "order" (type $order))
                (export "list-all" (func $f)
                    (func (param "sort-by" $o) (param "at-most" u64) (result u32))))
            (instance $tools (instantiate $shim
                (with "import-type-order" (type $order))
                (with "import-func-list-all" (func $f))))
            (export "a:b/tools@1.0.0" (instance $tools)))"#,
    )
    .unwrap()
}

/// Returns a component that exports an interface `name` with a function like the contract's
/// `call-tool`, of so many parameters.
pub(crate) fn adapter(name: &str, params: usize) -> Vec<u8> {
    by_name_export(name, "call-tool", params)
}

/// Returns a component whose functions, all in an interface of that name, are no tools.
pub(crate) fn without_tools(functions: usize, interface: &str) -> Vec<u8> {
    let exports: String = (0..functions)
        .map(|n| format!(r#"(export "a{n}" (func $f))"#))
        .collect();
    wat::parse_str(format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "f") (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            (type $inner (option u8))
            (type $outer (option $inner))
            (func $f (result $outer)
                (canon lift (core func $i "f") (memory (core memory $i "memory"))))
            (instance $x {exports})
            (export "{interface}" (instance $x)))"#,
    ))
    .unwrap()
}

/// Returns a small component with so many tools of one type that is large.
pub(crate) fn with_large_types(tools: usize) -> Vec<u8> {
    let fields: String = (0..60)
        .map(|n| format!(r#"(field "{}{n}" u8)"#, "a".repeat(200)))
        .collect();
    let exports: String = (0..tools)
        .map(|n| format!(r#"(export "a{n}" (func $f) (func (param "a" $o)))"#))
        .collect();
    wat::parse_str(format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
                (func (export "f") (param i32)))
            (core instance $i (instantiate $m))
            (type $t (record {fields}))
            (func $f (param "a" $t)
                (canon lift (core func $i "f")
                    (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
            (component $shim
                (type $e (record {fields}))
                (import "import-type-t" (type $t (eq $e)))
                (import "import-func-f" (func $f (param "a" $t)))
                (export $o "t" (type $t))
                {exports})
            (instance $tools (instantiate $shim
                (with "import-type-t" (type $t)) (with "import-func-f" (func $f))))
            (export "a:b/tools@1.0.0" (instance $tools)))"#,
    ))
    .unwrap()
}

/// Returns the same with a function of any name, as `get-prompt` is like `call-tool`.
pub(crate) fn by_name_export(name: &str, function: &str, params: usize) -> Vec<u8> {
    let lifted: String = (0..params)
        .map(|n| format!("(param \"p{n}\" string)"))
        .collect();
    let core = "i32 i32 ".repeat(params);
    wat::parse_str(format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
                (func (export "f") (param {core}) (result i32) unreachable))
            (core instance $i (instantiate $m))
            (func $f {lifted} (result (result string (error string)))
                (canon lift (core func $i "f")
                    (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
            (instance $adapter (export "{function}" (func $f)))
            (export "{name}" (instance $adapter)))"#,
    ))
    .unwrap()
}

/// Returns a component that exports the contract's `resources`, with an error that has such a
/// second case.
pub(crate) fn resources(case: &str) -> Vec<u8> {
    let error = format!("(variant (case \"not-found\") (case \"{case}\" string))");
    wat::parse_str(format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
                (func (export "f") (param i32 i32) (result i32) unreachable))
            (core instance $i (instantiate $m))
            (type $error {error})
            (func $f (param "uri" string) (result (result string (error $error)))
                (canon lift (core func $i "f")
                    (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
            (component $shim
                (type $e {error})
                (import "import-type-read-error" (type $error (eq $e)))
                (import "import-func-read-resource"
                    (func $f (param "uri" string) (result (result string (error $error)))))
                (export $o "read-error" (type $error))
                (export "read-resource" (func $f)
                    (func (param "uri" string) (result (result string (error $o))))))
            (instance $resources (instantiate $shim
                (with "import-type-read-error" (type $error))
                (with "import-func-read-resource" (func $f))))
            (export "dormouse:plugin/resources@0.1.0" (instance $resources)))"#,
    ))
    .unwrap()
}

/// A declaration of items without functions: pairs of a key and an MCP object, in
/// one of the lists.
pub(crate) fn with_items(list: &str, items: &[(&str, Value)]) -> Declaration {
    let items: Vec<_> = items
        .iter()
        .map(|(key, object)| json!({ "key": key, "object": object }))
        .collect();
    let declaration = json!({ "format": 1, "mapping": 1, "tools": [], list: items });
    serde_json::from_str(&declaration.to_string()).unwrap()
}

/// A declaration of tools without functions: pairs of a name and an MCP object.
pub(crate) fn by_name(tools: &[(&str, Value)]) -> Declaration {
    let tools: Vec<_> = tools
        .iter()
        .map(|(name, tool)| json!({ "name": name, "tool": tool }))
        .collect();
    let declaration = json!({ "format": 1, "mapping": 1, "tools": tools });
    serde_json::from_str(&declaration.to_string()).unwrap()
}

/// An MCP object that is in order.
pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "One.", "inputSchema": { "type": "object" } })
}

/// Returns the declaration of [`typed`], with a description.
pub(crate) fn words(description: &str) -> Declaration {
    let mut declaration = source::from_component(&typed()).unwrap().declaration;
    declaration.description = Some(description.to_owned());
    for tool in &mut declaration.tools {
        let mut object: Value = serde_json::from_str(tool.tool.get()).unwrap();
        object["description"] = Value::from("One.");
        tool.tool = serde_json::value::to_raw_value(&object).unwrap();
    }
    declaration
}

/// The component with the declaration right behind its preamble.
pub(crate) fn front(component: &[u8], declaration: &Declaration) -> Vec<u8> {
    section::insert(component, &section::encode(declaration).unwrap()).unwrap()
}

/// The component with the section's content in a section at its end.
pub(crate) fn back(component: &[u8], content: &[u8]) -> Vec<u8> {
    // What `insert` puts behind the preamble is the same anywhere else.
    let packed = section::insert(component, content).unwrap();
    let added = packed.len() - component.len();
    [component, &packed[8..8 + added]].concat()
}

/// The lines that `work` logs.
pub(crate) fn logged<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(Arc::new(file.reopen().unwrap()))
        .finish();
    let done = tracing::subscriber::with_default(subscriber, work);
    let text = std::fs::read_to_string(file.path()).unwrap();
    (done, text.lines().map(str::to_owned).collect())
}

/// Returns one component of each kind.
fn good() -> Vec<Vec<u8>> {
    let adapter = adapter("dormouse:plugin/adapter@0.1.0", 2);
    let declared = by_name(&[("ask", tool("ask"))]);
    let object = json!({ "uri": "notes://all", "name": "notes" });
    let notes = with_items("resources", &[("notes://all", object)]);
    vec![
        typed(),
        with_interface(),
        front(&typed(), &words("Adds.")),
        back(&typed(), &section::encode(&words("Adds.")).unwrap()),
        front(&adapter, &declared),
        front(&resources("failed"), &notes),
    ]
}

/// Does everything that is done with bytes. It returns if nothing panics, and checks the few
/// properties that hold for any bytes.
fn all(bytes: &[u8]) {
    let findings = check(bytes);
    if read::bytes(bytes).is_err() {
        assert!(!findings.is_empty(), "unreadable, but fine with `check`");
        assert!(inspect(bytes).is_err());
    }
    if let Ok(packed) = pack(bytes, None) {
        assert!(read::bytes(&packed).is_ok() || read::bytes(bytes).is_err());
    }
}

/// Returns the example of prompts and resources in the documentation: the component that a
/// toolchain would make of that WIT, with functions that do nothing, and the declaration of the
/// WIT.
pub(crate) fn documented() -> (Vec<u8>, Declaration) {
    let readme = include_str!("../../../wit/README.md");
    let wit = readme.split("```wit\n").nth(2).unwrap();
    let (wit, _) = wit.split_once("```").unwrap();
    let mut resolve = Resolve::default();
    resolve.push_str("plugin.wit", CONTRACT_WIT).unwrap();
    let package = resolve.push_str("main.wit", wit).unwrap();
    let world = resolve.select_world(&[package], None).unwrap();
    let (declaration, findings) = source::from_resolve(&resolve, world);
    assert_eq!(findings, []);
    let abi = ManglingAndAbi::Legacy(LiftLowerAbi::Sync);
    let mut module = wit_component::dummy_module(&resolve, world, abi);
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .unwrap();
    let mut encoder = ComponentEncoder::default().module(&module).unwrap();
    (encoder.encode().unwrap(), declaration)
}

#[test]
fn prompts_and_resources_of_wit_are_packed_and_read() {
    let (component, declared) = documented();
    // Without its section, nobody knows what its functions are.
    let derived = read::bytes(&component).unwrap();
    assert_eq!((derived.tools.len(), derived.prompts.len()), (5, 0));
    assert!(derived.completion);

    let packed = pack(&component, Some(declared.clone())).unwrap();
    let told: Vec<_> = check(&packed).iter().map(ToString::to_string).collect();
    // Functions that do nothing tell of no changes either.
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("it would tell of changes"), "{told:?}");

    let found = inspect(&packed).unwrap();
    let json = |declaration: &Declaration| serde_json::to_string(declaration).unwrap();
    assert_eq!(json(&found.declaration), json(&declared));
    // What is packed once more stays as it is.
    assert_eq!(pack(&packed, None).unwrap(), packed);
}

#[test]
fn the_components_of_these_tests_are_good() {
    for bytes in good() {
        read::bytes(&bytes).unwrap();
        inspect(&bytes).unwrap();
        let packed = pack(&bytes, None).unwrap();
        // What was derived from types has no words.
        let mut findings = check(&packed);
        findings.retain(|one| !one.message.contains("no description"));
        assert_eq!(findings, []);
    }
}

#[test]
fn no_cut_panics() {
    for bytes in good() {
        for end in 0..bytes.len() {
            all(&bytes[..end]);
        }
    }
}

#[test]
fn no_changed_byte_panics() {
    for good in good() {
        for at in 0..good.len() {
            for change in [0x01, 0x40, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                all(&bytes);
            }
        }
    }
}

/// A change to a file: of a byte, or of its length.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0..4096_usize;
    prop_oneof![
        4 => (at.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => (at.clone(), 1..64_usize).prop_map(|(at, many)| Change::Remove(at, many)),
        1 => (at, prop::collection::vec(any::<u8>(), 1..32))
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_changes_panic(which in 0..6_usize, changes in prop::collection::vec(change(), 1..6)) {
        let mut bytes = good().swap_remove(which);
        for change in changes {
            let length = bytes.len();
            match change {
                Change::Set(at, byte) => bytes[at % length] = byte,
                Change::Remove(at, many) => {
                    let start = at % length;
                    bytes.drain(start..(start + many).min(length));
                }
                Change::Insert(at, new) => {
                    let at = at % (length + 1);
                    bytes.splice(at..at, new);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        all(&bytes);
    }

    #[test]
    fn no_section_panics(content in prop::collection::vec(any::<u8>(), 0..256)) {
        all(&section::insert(&typed(), &content).unwrap());
        let mut whole = u32::try_from(content.len()).unwrap().to_le_bytes().to_vec();
        whole.extend(content);
        all(&back(&typed(), &whole));
    }
}

/// The dependencies ensure that listing tools compiles and runs nothing.
#[test]
fn nothing_here_can_run_a_component() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = Command::new(cargo)
        .args(["tree", "-p", "dormouse-catalog", "-e", "normal"])
        .args(["--prefix", "none", "--offline", "--locked"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    let packages = String::from_utf8(tree.stdout).unwrap();
    let told = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{told}");
    assert!(packages.contains("wasmparser v"), "{packages}");
    for package in packages.lines() {
        let runs = ["wasmtime", "cranelift"];
        assert!(
            !runs.iter().any(|name| package.starts_with(name)),
            "{package}"
        );
    }
}

/// Returns a component with `depth` components in one another.
pub(crate) fn nested_components(depth: usize) -> Vec<u8> {
    const PREAMBLE: &[u8] = b"\0asm\x0d\0\x01\0";
    const COMPONENT_SECTION: u8 = 4;
    let mut component = PREAMBLE.to_vec();
    for _ in 0..depth {
        let mut outer = PREAMBLE.to_vec();
        outer.push(COMPONENT_SECTION);
        let mut length = component.len();
        while length >= 0x80 {
            outer.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        outer.push(u8::try_from(length).unwrap());
        outer.extend(component);
        component = outer;
    }
    component
}

/// Returns a component with `depth` component types in one another.
pub(crate) fn nested_types(depth: usize) -> Vec<u8> {
    let mut section = vec![1];
    section.extend([0x41, 1, 1].repeat(depth));
    // A set of flags.
    section.extend([0x6e, 1, 1, b'a']);
    let mut component = b"\0asm\x0d\0\x01\0\x07".to_vec();
    let mut length = section.len();
    while length >= 0x80 {
        component.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    component.push(u8::try_from(length).unwrap());
    component.extend(section);
    component
}

/// Reading a type recursively would take all of the stack, and end the process.
#[test]
fn types_that_are_nested_without_end_are_refused() {
    for depth in [101, 300_000] {
        let component = nested_types(depth);
        let refused = read::bytes(&component).unwrap_err().to_string();
        assert!(refused.contains("more than 100 levels deep"), "{refused}");
        let findings = check(&component);
        assert!(findings[0].message.contains("100 levels"), "{findings:?}");
        assert!(inspect(&component).is_err());
        let footprint = instance_footprint(&component).unwrap();
        assert_eq!(footprint.component_instances, 1);
        assert!(imports_alone(&component).is_some());
        assert_eq!(max_module_items(&component), 0);
        assert!(with_epoch_checks(&component).is_ok());
        assert!(pack(&component, None).is_err());
    }
}
