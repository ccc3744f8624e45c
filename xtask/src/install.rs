//! Packages from the registries that the tests need. They land below `target/`, are pinned by a
//! list in the repository, and are installed again only when that list has changed.

use std::process::Command;

use anyhow::{Result, ensure};
use dormouse_tests::artifacts;

use crate::{foreign, step};

/// Python by the name that its installers give it.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Installs all of them.
pub(crate) fn all() -> Result<()> {
    python("clients")?;
    python("reference")?;
    python("servers")?;
    python("toolchains")?;
    npm()?;
    foreign::all()
}

/// Installs a Python environment, from `tests/clients/python/NAME.txt`.
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

/// Installs the npm packages, from `tests/clients/ts/package.json`.
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

/// Checks the programs that cannot be installed below `target/`.
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
