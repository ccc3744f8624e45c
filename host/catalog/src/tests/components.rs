//! Components for tests.

use dormouse_wit::{CONTRACT_WIT, Declaration, source};
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve};

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

/// Returns the example of prompts and resources in the documentation: the component that a
/// toolchain would make of that WIT, with functions that do nothing, and the declaration of the
/// WIT.
pub(crate) fn documented() -> (Vec<u8>, Declaration) {
    let readme = include_str!("../../../../wit/README.md");
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
