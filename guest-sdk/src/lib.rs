//! Write a Dormouse plugin in Rust: a WIT file, a trait, one macro line.
//!
//! Every function that the WIT world exports is a tool. Its doc comment is the
//! tool's description, its parameters are the tool's arguments, and the `err`
//! of its `result` is what the agent sees when the tool fails.
//!
//! ```wit
//! package example:greeter;
//!
//! world greeter {
//!     /// Greets someone.
//!     /// @readonly
//!     export greet: func(name: string) -> result<string, string>;
//! }
//! ```
//!
//! ```ignore
//! struct Greeter;
//!
//! dormouse_sdk::plugin!(Greeter);
//!
//! impl Guest for Greeter {
//!     fn greet(name: String) -> Result<String, String> {
//!         Ok(format!("Hello, {name}!"))
//!     }
//! }
//! ```
//!
//! `cargo build --release --target wasm32-wasip2` makes of this a component
//! that tells by itself, without being run, what its tools are. The crate's
//! README walks through it from `cargo new` on.

pub mod client;
pub mod log;
pub mod mcp;
pub mod notify;
pub mod settings;

mod annotations;
#[doc(hidden)]
pub mod bindings;
mod call;
mod completion;
mod content;

pub use bindings::dormouse::plugin::types;
pub use bindings::exports::dormouse::plugin::adapter::Guest as Adapter;
pub use bindings::prompts::exports::dormouse::plugin::prompts::Guest as Prompts;
pub use bindings::resources::exports::dormouse::plugin::resources::{
    Guest as Resources, ReadError,
};
pub use call::{is_cancelled, progress};
pub use completion::{Completion, Completions, Reference};
pub use dormouse_sdk_macro::{adapter, plugin};
pub use types::{Annotations, Content, EmbeddedResource, PromptMessage, ResourceLink, Role};

/// Dependencies of the macros' code, so that a plugin needs no other dependency.
#[doc(hidden)]
pub mod private {
    pub use {serde, wit_bindgen};
}
