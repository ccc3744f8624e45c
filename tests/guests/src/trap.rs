//! Executes an instruction that cannot be.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Trap;

dormouse_sdk::plugin!(Trap, world = "trap");

impl Guest for Trap {
    fn trap() {
        #[cfg(target_family = "wasm")]
        core::arch::wasm32::unreachable();
        #[cfg(not(target_family = "wasm"))]
        std::process::abort();
    }
}
