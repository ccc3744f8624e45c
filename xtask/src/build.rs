//! Building the programs, the plugins and the guests of this workspace.

use std::path::Path;

use anyhow::{Context as _, Result};
use dormouse_tests::artifacts;

use crate::step;

/// Target of plugins.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Profiles of the workspace's `Cargo.toml` that programs are built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For tests, and for people who change the code.
    Release,
    /// For users, and for benches.
    Dist,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dist => artifacts::DIST,
        }
    }
}

/// Builds the programs. The whole workspace is selected, however much of it is built, so that cargo
/// gives its dependencies the same features each time.
pub(crate) fn programs(profile: Profile) -> Result<()> {
    let mut build = step::cargo();
    build.args([
        "build",
        "--profile",
        profile.name(),
        "--workspace",
        "--bins",
    ]);
    step::run(&mut build)
}

/// Builds the programs that the tests run, plugins and guests.
pub(crate) fn all() -> Result<()> {
    plugins(Profile::Release)?;
    guests()
}

/// Builds the programs that are shipped.
pub(crate) fn dist() -> Result<()> {
    target()?;
    programs(Profile::Dist)
}

/// Builds every plugin into `target/plugins/NAME.wasm`, its declaration in front,
/// where two small reads find it, and the programs that run them.
pub(crate) fn plugins(profile: Profile) -> Result<()> {
    target()?;
    let mut build = step::cargo();
    build.args(["build", "--release", "--target", TARGET]);
    for name in plugin_names()? {
        build.arg("-p").arg(format!("dormouse-plugin-{name}"));
    }
    step::run(&mut build)?;
    programs(profile)?;
    pack_plugins()
}

/// Packs the plugins that were built last.
pub(crate) fn pack_plugins() -> Result<()> {
    let folder = artifacts::target().join("plugins");
    std::fs::create_dir_all(&folder)?;
    for name in plugin_names()? {
        let built = artifacts::target()
            .join(TARGET)
            .join("release")
            .join(format!("{name}.wasm"));
        pack(&built, &folder.join(format!("{name}.wasm")))?;
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
        "-p",
        "dormouse-hostile-guests",
        "--examples",
    ]))
}

/// Runs `dormouse pack`.
fn pack(component: &Path, packed: &Path) -> Result<()> {
    let mut pack = step::command(artifacts::program("dormouse")?);
    step::run(pack.arg("pack").arg(component).arg("--output").arg(packed))
}

/// Returns the names of the folders of `plugins/`, in order.
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
pub(crate) fn target() -> Result<()> {
    let rustc = step::command("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    let folder = String::from_utf8_lossy(&rustc.stdout);
    if Path::new(folder.trim()).exists() {
        return Ok(());
    }
    step::run(step::command("rustup").args(["target", "add", TARGET]))
}
