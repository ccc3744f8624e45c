//! Bindings that wit-bindgen makes of the contract.
//!
//! The bindings cover all that a host offers, but a component imports only those functions that its
//! code really calls: the linker drops the rest, and so does the step that turns the core module
//! into a component. The interfaces that a component exports are a world each, so that `adapter!`
//! exports only those that it is told to.

#![allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::restriction,
    reason = "generated; the contract's own comments are what there is to say"
)]

dormouse_sdk_macro::contract_bindings! {
    world: "adapter-plugin",
    runtime_path: "::wit_bindgen::rt",
    // The export half is for the crates that use this one, through `adapter!`.
    pub_export_macro: true,
    export_macro_name: "export_adapter",
    default_bindings_module: "::dormouse_sdk::bindings",
    generate_unused_types: true,
    additional_derives: [PartialEq],
}

pub mod prompts {
    dormouse_sdk_macro::contract_bindings! {
        inline: "package dormouse:sdk; world prompts-plugin { export dormouse:plugin/prompts@0.1.0; }",
        runtime_path: "::wit_bindgen::rt",
        pub_export_macro: true,
        export_macro_name: "export_prompts",
        default_bindings_module: "::dormouse_sdk::bindings::prompts",
    }
}

pub mod resources {
    dormouse_sdk_macro::contract_bindings! {
        inline: "package dormouse:sdk; world resources-plugin { export dormouse:plugin/resources@0.1.0; }",
        runtime_path: "::wit_bindgen::rt",
        pub_export_macro: true,
        export_macro_name: "export_resources",
        default_bindings_module: "::dormouse_sdk::bindings::resources",
        additional_derives: [PartialEq],
    }
}

pub mod completion {
    dormouse_sdk_macro::contract_bindings! {
        inline: "package dormouse:sdk; world completion-plugin { export dormouse:plugin/completion@0.1.0; }",
        runtime_path: "::wit_bindgen::rt",
        pub_export_macro: true,
        export_macro_name: "export_completion",
        default_bindings_module: "::dormouse_sdk::bindings::completion",
        additional_derives: [PartialEq],
    }
}
