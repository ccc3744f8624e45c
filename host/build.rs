//! Links `dormouse` with its relocations packed, where the C library of this system can load such a
//! program. A start reads all of them, and they stay in the memory of a host for as long as it
//! runs: one to two MiB of it, of which less than twenty KiB are left.

use std::env;
use std::process::Command;

/// First version of glibc that loads programs with packed relocations (`DT_RELR`).
const FIRST_GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if is_for_glibc_of_this_system() && glibc().is_some_and(|version| version >= FIRST_GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the program is built for the system that it is built on, and that has glibc: of another
/// one, nothing is known.
fn is_for_glibc_of_this_system() -> bool {
    let set_to = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    set_to("CARGO_CFG_TARGET_OS", "linux")
        && set_to("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var_os("HOST") == env::var_os("TARGET")
}

/// Returns the version of this system's glibc.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    // A third number may follow.
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
