//! Building what this workspace holds: the programs, the plugins, the guests.

use std::path::Path;

use anyhow::{Context as _, Result};
use dormouse_tests::artifacts;

use crate::step;

/// What plugins are compiled for.
const TARGET: &str = "wasm32-wasip2";

/// How much is built for the machine itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The programs that users run, and what benches compare them with.
    Programs,
    /// The tests too. What they need selects other features of some crates, so
    /// programs that are built without them would all be compiled once more.
    Tests,
}

fn programs(extent: Extent) -> Result<()> {
    let mut build = step::cargo();
    build.args(["build", "--release"]).args(match extent {
        Extent::Programs => ["-p", "dormouse", "-p", "dormouse-floor"].as_slice(),
        Extent::Tests => &["--workspace", "--bins", "--tests"],
    });
    step::run(&mut build)
}

/// Builds every plugin into `target/plugins/NAME.wasm`, its declaration in front,
/// where two small reads find it, and the programs that run them.
pub(crate) fn plugins(extent: Extent) -> Result<()> {
    target()?;
    let names = plugin_names()?;
    let mut build = step::cargo();
    build.args(["build", "--release", "--target", TARGET]);
    for name in &names {
        build.arg("-p").arg(format!("dormouse-plugin-{name}"));
    }
    step::run(&mut build)?;
    programs(extent)?;
    let folder = artifacts::target().join("plugins");
    std::fs::create_dir_all(&folder)?;
    for name in &names {
        let built = artifacts::target()
            .join(TARGET)
            .join("release")
            .join(format!("{name}.wasm"));
        pack(&built, None, &folder.join(format!("{name}.wasm")))?;
    }
    Ok(())
}

/// Builds the guests of the tests.
pub(crate) fn guests() -> Result<()> {
    target()?;
    step::run(step::cargo().args([
        "build",
        "--release",
        "--target",
        TARGET,
        "-p",
        "dormouse-guests",
        "--examples",
    ]))
}

/// `dormouse pack`, with the WIT that declares the component's tools where it
/// does not do so itself.
pub(crate) fn pack(component: &Path, wit: Option<&Path>, packed: &Path) -> Result<()> {
    let mut pack = step::command(artifacts::program("dormouse")?);
    pack.arg("pack").arg(component).arg("--output").arg(packed);
    if let Some(wit) = wit {
        pack.arg("--wit").arg(wit);
    }
    step::run(&mut pack)
}

/// The folders of `plugins/`, in order.
pub(crate) fn plugin_names() -> Result<Vec<String>> {
    let folder = artifacts::workspace().join("plugins");
    let mut names = Vec::new();
    for entry in
        std::fs::read_dir(&folder).with_context(|| format!("cannot read `{}`", folder.display()))?
    {
        let entry = entry?;
        if entry.path().join("Cargo.toml").exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Adds the plugins' target to the toolchain, where it is missing.
fn target() -> Result<()> {
    let rustc = step::command("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    let folder = String::from_utf8_lossy(&rustc.stdout);
    if Path::new(folder.trim()).exists() {
        return Ok(());
    }
    step::run(step::command("rustup").args(["target", "add", TARGET]))
}
