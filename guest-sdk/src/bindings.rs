//! What wit-bindgen makes of the contract.
//!
//! The bindings cover all that a host offers, but a component imports of it
//! only what its code really calls: the linker drops the rest, and so does the
//! step that turns the core module into a component.

#![allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::restriction,
    reason = "generated; the contract's own comments are what there is to say"
)]

wit_bindgen::generate!({
    path: "../wit/plugin",
    world: "adapter-plugin",
    runtime_path: "::wit_bindgen::rt",
    // The export half is for the crates that use this one, through `adapter!`.
    pub_export_macro: true,
    export_macro_name: "export_adapter",
    default_bindings_module: "::dormouse_sdk::bindings",
    generate_unused_types: true,
    additional_derives: [PartialEq],
});
