//! Declarations of built components.

use super::*;

#[test]
fn a_component_declares_what_its_source_did_but_for_the_words() {
    // As toolchains write it: an inner component gives the instance its types.
    let component = wat::parse_str(
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
    .unwrap();
    let built = from_component(&component).unwrap();
    let declaration = sound(
        "package a:b@1.0.0;
        interface tools {
            enum order { a-z, z-a }
            /// Lists them all.
            list-all: func(sort-by: order, at-most: u64) -> u32;
        }
        world w { export tools; }",
    );
    let source = declaration.tools[0].function.as_ref().unwrap();
    let found = built.declaration.tools[0].function.as_ref().unwrap();
    assert_eq!(source, found);
    assert_eq!(names(&built.declaration), ["list_all"]);
    assert!(
        tool(&built.declaration, "list_all")
            .get("description")
            .is_none()
    );
}

#[test]
fn what_is_no_component_is_an_error() {
    for bytes in [
        &b""[..],
        b"junk",
        b"\0asm\x01\0\0\0",
        b"\0asm\x0d\0\x01\0\xff\xff",
    ] {
        let error = from_component(bytes).unwrap_err();
        assert!(matches!(error, Error::Component(_)), "{error}");
        assert!(error.to_string().contains("hint:"), "{error}");
    }
}
