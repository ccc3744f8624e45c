//! Builds the bridge, the only component inside of the program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Target that components are compiled for.
const TARGET: &str = "wasm32-wasip2";

fn main() -> ExitCode {
    match bridge() {
        Ok(component) => {
            println!("cargo::rustc-env=DORMOUSE_BRIDGE={}", component.display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("cargo::error=the bridge cannot be built: {why}");
            ExitCode::FAILURE
        }
    }
}

fn bridge() -> Result<PathBuf, String> {
    let variable = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .ok_or_else(|| format!("cargo has not set `{name}`"))
    };
    let workspace = variable("CARGO_MANIFEST_DIR")?
        .ancestors()
        .nth(2)
        .map(Path::to_path_buf)
        .ok_or("the workspace is not where it should be")?;
    for source in ["plugins/bridge", "wit/plugin", "Cargo.lock"] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    // A folder of its own, because cargo holds the lock of the other while this runs.
    let target = variable("OUT_DIR")?.join("bridge");
    let mut build = Command::new(variable("CARGO")?);
    build
        .args(["build", "--release", "--locked", "--quiet"])
        .args(["--package", "dormouse-plugin-bridge", "--target", TARGET])
        .arg("--manifest-path")
        .arg(workspace.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .current_dir(&workspace);
    // What is meant for the program is not for a component: flags of its platform,
    // and the wrapper by which `cargo clippy` comes here.
    for name in [
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTFLAGS",
    ] {
        build.env_remove(name);
    }
    let output = build
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let lines = said.trim().replace('\n', "\ncargo::error=");
        let hint = if said.contains("E0463") {
            format!("\ncargo::error=hint: rustup target add {TARGET}")
        } else {
            String::new()
        };
        return Err(format!("{}\ncargo::error={lines}{hint}", output.status));
    }
    Ok(target.join(TARGET).join("release").join("bridge.wasm"))
}
