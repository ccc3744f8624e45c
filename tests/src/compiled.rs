//! Components that are compiled once for many tests: `cargo xtask test` has `dormouse` compile
//! them, and each new home is given copies of what it has kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::UNIX_EPOCH;

use anyhow::{Context as _, Result, ensure};

use crate::{Home, Upstream, artifacts};

/// Guests that more than a few tests load.
const GUESTS: [&str; 11] = [
    "asker", "bench", "counter", "echo", "folders", "http", "library", "network", "shelf", "sleep",
    "spin",
];

/// Plugins that more than a few tests load, or that take long to compile.
const PLUGINS: [&str; 6] = [
    "calendar",
    "conformance",
    "fetch",
    "filesystem",
    "github",
    "time",
];

/// Name of the component that is inside of `dormouse`.
pub(crate) const BRIDGE: &str = "bridge";

/// Returns the folder of the compiled components.
#[must_use]
pub fn folder() -> PathBuf {
    artifacts::target().join("compiled")
}

/// Returns what they are made from, in lines: the program, and each component.
///
/// # Errors
/// It has not been built.
pub fn made_from() -> Result<String> {
    let mut lines = vec![version(&artifacts::program("dormouse")?)?];
    for (_, component) in components()? {
        lines.push(version(&component)?);
    }
    Ok(lines.join("\n"))
}

/// Compiles them, each alone, by what a user does with it first.
///
/// # Errors
/// One cannot be compiled, or not be kept.
pub fn compile() -> Result<()> {
    if folder().exists() {
        fs::remove_dir_all(folder())?;
    }
    let home = Home::with_empty_cache()?;
    for (name, component) in components()? {
        let component = component.to_str().context("the path is no Unicode")?;
        // It is compiled before anything of it is refused, such as that its secret is missing.
        let output = home.run(&["add", name, component, "--yes"])?;
        take(&home, name, &output)?;
    }
    let floor = Upstream::new(&artifacts::program("dormouse-floor")?);
    home.upstream(BRIDGE, &floor.arg(1).arg(1), "")?;
    home.synced(BRIDGE)?;
    let output = home.run(&["call", BRIDGE, "p0000__echo", r#"{"text":"a"}"#])?;
    take(&home, BRIDGE, &output)
}

/// Checks whether they were compiled by the program that the tests drive, and from what is built
/// now. The names of entries say which component it was and which compiler, and hardly what another
/// build of the program changes before that.
#[must_use]
pub fn is_current() -> bool {
    let kept = fs::read_to_string(folder().with_extension("made-from"));
    kept.is_ok_and(|kept| made_from().is_ok_and(|made_from| made_from == kept))
}

/// Gives a home the entry of a component and the key of all, if there is one and they are current.
///
/// # Errors
/// It cannot be copied.
pub(crate) fn give(home: &Home, name: &str) -> Result<()> {
    let from = folder().join(name);
    if !from.exists() || !is_current() {
        return Ok(());
    }
    let into = kept_in(home);
    make_private(&into)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        let path = into.join(file.file_name());
        if !path.exists() {
            // A host that runs already must not find half of it.
            let next = path.with_extension("next");
            fs::copy(file.path(), &next)?;
            fs::rename(&next, &path)?;
        }
    }
    Ok(())
}

/// Returns the folder in which Dormouse keeps what it compiles.
fn kept_in(home: &Home) -> PathBuf {
    home.path().join("cache/dormouse/components")
}

/// Takes from a home all that it has compiled, and copies of the key.
fn take(home: &Home, name: &str, said: &Output) -> Result<()> {
    let (from, into) = (kept_in(home), folder().join(name));
    fs::create_dir_all(&into)?;
    let files = fs::read_dir(&from).with_context(|| format!("`{name}` is not kept: {said:?}"))?;
    let mut taken = 0;
    for file in files {
        let file = file?;
        fs::copy(file.path(), into.join(file.file_name()))?;
        if file.file_name() != "key" {
            fs::remove_file(file.path())?;
            taken += 1;
        }
    }
    // Its code and that code's hash.
    ensure!(taken == 2, "of `{name}`, {taken} files are kept: {said:?}");
    Ok(())
}

fn components() -> Result<Vec<(&'static str, PathBuf)>> {
    let guests = GUESTS.map(|name| artifacts::guest(name).map(|path| (name, path)));
    let plugins = PLUGINS.map(|name| artifacts::plugin(name).map(|path| (name, path)));
    guests.into_iter().chain(plugins).collect()
}

/// Returns a line that is another one after a file has been built again.
fn version(file: &Path) -> Result<String> {
    let metadata = fs::metadata(file)?;
    let built = metadata.modified()?.duration_since(UNIX_EPOCH)?;
    let (file, length) = (file.display(), metadata.len());
    Ok(format!("{file} {length} {}", built.as_nanos()))
}

/// Makes a folder, and those above it, that Dormouse takes for its own: nobody else's.
fn make_private(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.recursive(true).create(folder)?;
    Ok(())
}
