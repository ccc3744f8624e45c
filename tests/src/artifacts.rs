//! Paths of the files that `cargo xtask test` builds and installs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// Returns the root of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_owned()
}

/// Returns Cargo's target folder.
#[must_use]
pub fn target() -> PathBuf {
    let workspace = workspace();
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => workspace.join(folder),
        None => workspace.join("target"),
    }
}

/// Checks that a file or folder is there.
///
/// # Errors
/// It is not there: the tests were not started by `cargo xtask test`, which builds and installs it.
/// That is never a reason to skip a test.
pub fn existing(path: PathBuf) -> Result<PathBuf> {
    ensure!(
        path.exists(),
        "`{}` does not exist\nhint: run `cargo xtask test` once, which builds and installs what the tests need",
        path.display()
    );
    Ok(path)
}

fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Returns a program of this workspace, as the tests drive it.
///
/// # Errors
/// It has not been built.
pub fn program(name: &str) -> Result<PathBuf> {
    existing(target().join("release").join(executable(name)))
}

/// Profile of the programs that are shipped, and so of those that are measured.
pub const DIST: &str = "dist";

/// Returns a program of this workspace, as users get it.
///
/// # Errors
/// It has not been built.
pub fn dist(name: &str) -> Result<PathBuf> {
    existing(target().join(DIST).join(executable(name)))
}

/// Returns a guest of `tests/guests`, as rustc left it: its declaration is in the core module.
///
/// # Errors
/// It has not been built.
pub fn guest(name: &str) -> Result<PathBuf> {
    existing(
        target()
            .join("wasm32-wasip2/release/examples")
            .join(format!("{name}.wasm")),
    )
}

/// Returns a guest of `tests/hostile-guests`, as rustc left it.
///
/// # Errors
/// It has not been built.
pub fn hostile_guest(name: &str) -> Result<PathBuf> {
    guest(name)
}

/// Returns a plugin of `plugins/`, packed.
///
/// # Errors
/// It has not been built.
pub fn plugin(name: &str) -> Result<PathBuf> {
    existing(target().join("plugins").join(format!("{name}.wasm")))
}

/// Returns a component that another toolchain has built from `tests/foreign`, before
/// `dormouse pack` has seen it.
///
/// # Errors
/// It has not been built.
pub fn foreign(name: &str) -> Result<PathBuf> {
    existing(target().join("foreign").join(format!("{name}.wasm")))
}

/// Returns a program in one of the Python environments: `clients`, `reference` or `servers`.
///
/// # Errors
/// It is not installed.
pub fn python(environment: &str, program: &str) -> Result<PathBuf> {
    let folder = target().join("python").join(environment);
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    existing(folder.join(bin).join(executable(program)))
}

/// Returns the folder into which the npm packages are installed.
#[must_use]
pub fn npm() -> PathBuf {
    target().join("npm")
}

/// Returns a JavaScript file of an npm package, by its name within the package's folder.
///
/// # Errors
/// It is not installed.
pub fn npm_file(package: &str, file: &str) -> Result<PathBuf> {
    existing(npm().join("node_modules").join(package).join(file))
}

/// Returns the `node` that the npm packages run on; the Inspector and the conformance suite want a
/// newer one than many systems have.
///
/// # Errors
/// It is not installed.
pub fn node() -> Result<PathBuf> {
    npm_file("node", &format!("bin/{}", executable("node")))
}

/// Returns Chromium, which `.ci/run` takes from the system's packages. None, with a message, where
/// it is missing on a machine that nobody has prepared.
///
/// # Errors
/// It is missing where `CI` is set.
pub fn chromium() -> Result<Option<PathBuf>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| ["chromium", "chromium-browser"].map(|name| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        ensure!(
            std::env::var_os("CI").is_none(),
            "`chromium` is not in the PATH\nhint: install Debian's package `chromium`, as `.ci/run` does"
        );
        eprintln!("skipped: `chromium` is not in the PATH");
    }
    Ok(found)
}

/// Reads a file. The error names the file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
}
