//! What the tests need from the registries. Everything lands below `target/`, is
//! pinned by a list in the repository, and is installed again only when that list
//! has changed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use dormouse_tests::artifacts;

use crate::step;

/// Python by the name that its installers give it.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// All of it.
pub(crate) fn all() -> Result<()> {
    python("clients")?;
    python("reference")?;
    python("servers")?;
    npm()?;
    foreign()
}

/// A Python environment, from `tests/clients/python/NAME.txt`.
pub(crate) fn python(name: &str) -> Result<()> {
    let list = artifacts::workspace()
        .join("tests/clients/python")
        .join(format!("{name}.txt"));
    let folder = artifacts::target().join("python").join(name);
    step::once(&folder, &artifacts::read(&list)?, || {
        step::run(
            step::command(PYTHON)
                .args(["-m", "venv", "--clear"])
                .arg(&folder),
        )?;
        let pip = artifacts::python(name, "python")?;
        step::run(
            step::command(pip)
                .args(["-m", "pip", "install", "--quiet", "--requirement"])
                .arg(&list),
        )
    })
}

/// The npm packages, from `tests/clients/ts/package.json`.
pub(crate) fn npm() -> Result<()> {
    let list = artifacts::workspace().join("tests/clients/ts/package.json");
    let folder = artifacts::npm();
    step::once(
        &folder.join("node_modules"),
        &artifacts::read(&list)?,
        || {
            std::fs::copy(&list, folder.join("package.json"))?;
            let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
            let quiet = [
                "install",
                "--no-audit",
                "--no-fund",
                "--no-package-lock",
                "--loglevel",
                "error",
            ];
            step::run(step::command(npm).args(quiet).current_dir(&folder))
        },
    )
}

/// The components of other toolchains, built from `tests/foreign`.
fn foreign() -> Result<()> {
    let sources = artifacts::workspace().join("tests/foreign");
    let built = artifacts::target().join("foreign");

    let lists = artifacts::workspace().join("tests/clients");
    let (js, wit) = (sources.join("js/greeter.mjs"), sources.join("wit"));
    let inputs = [
        &js,
        &wit.join("foreign.wit"),
        &lists.join("ts/package.json"),
    ];
    let outcome = built.join("js.wasm");
    step::once(&outcome, &together(&inputs)?, || {
        let jco = artifacts::npm_file("@bytecodealliance/jco", "dist/jco.js")?;
        let mut componentize = step::command(artifacts::node()?);
        componentize
            .arg(jco)
            .arg("componentize")
            .arg(&js)
            .arg("--wit")
            .arg(&wit);
        // Of its engines the small one, which also needs no network to build with.
        componentize
            .args(["--world-name", "greeter", "--backend", "quickjs", "--out"])
            .arg(&outcome);
        step::run(&mut componentize)
    })?;

    let py = sources.join("py/greeter_plugin.py");
    let inputs = [
        &py,
        &wit.join("foreign.wit"),
        &lists.join("python/clients.txt"),
    ];
    let outcome = built.join("py.wasm");
    step::once(&outcome, &together(&inputs)?, || {
        let mut componentize = step::command(artifacts::python("clients", "componentize-py")?);
        componentize
            .arg("--wit-path")
            .arg(&wit)
            .args(["--world", "greeter", "componentize"]);
        componentize
            .arg("--python-path")
            .arg(sources.join("py"))
            .args(["--stub-wasi", "greeter_plugin", "--output"]);
        step::run(componentize.arg(&outcome))
    })
}

/// Says what is missing of what nobody can install below `target/`.
pub(crate) fn prerequisites() -> Result<()> {
    let wanted: [(&str, &[&str], &str); 2] = [
        (
            PYTHON,
            &[
                "-c",
                "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))",
            ],
            "install Python 3.11 or newer with its `venv` module",
        ),
        (
            "node",
            &[
                "-e",
                "process.exit(process.versions.node.split('.')[0] < 20 ? 1 : 0)",
            ],
            "install Node 20 or newer with npm",
        ),
    ];
    for (program, probe, hint) in wanted {
        ensure!(
            step::works(Command::new(program).args(probe)),
            "`{program}` is missing or too old\nhint: {hint}"
        );
    }
    Ok(())
}

fn together(files: &[&PathBuf]) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for file in files {
        all.extend(artifacts::read(Path::new(file))?);
    }
    Ok(all)
}
