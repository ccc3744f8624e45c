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

    fn dig() -> u64 {
        deeper(1)
    }
}

#[allow(unconditional_recursion, reason = "that is what it is for")]
fn deeper(depth: u64) -> u64 {
    let hole = std::hint::black_box([depth; 64]);
    let bottom = deeper(depth + 1);
    bottom + hole.iter().sum::<u64>()
}
