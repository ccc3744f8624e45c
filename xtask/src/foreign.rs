//! Components of other toolchains, built from `tests/foreign`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use dormouse_tests::artifacts;

use crate::step;

/// Component and its build.
struct Foreign {
    name: &'static str,
    /// Sources, WIT among them, below `tests/foreign`.
    sources: &'static [&'static str],
    /// List that has its toolchain's version, below `tests/clients`.
    toolchain: &'static str,
    build: fn(&Path, &Path) -> Result<()>,
}

/// Components, built with their toolchain's defaults, where nothing else is said.
const COMPONENTS: [Foreign; 6] = [
    Foreign {
        name: "js",
        sources: &["js/greeter.mjs", "wit-web/web.wit"],
        toolchain: "ts/package.json",
        build: |sources, outcome| {
            let mut componentize = jco("componentize")?;
            componentize.arg(sources.join("js/greeter.mjs"));
            componentize.arg("--wit").arg(sources.join("wit-web"));
            componentize.args(["--world-name", "greeter", "--out"]);
            step::run(componentize.arg(outcome))
        },
    },
    Foreign {
        name: "js_quickjs",
        sources: &["js/greeter.mjs", "wit/foreign.wit"],
        toolchain: "ts/package.json",
        build: |sources, outcome| {
            let mut componentize = jco("componentize")?;
            componentize.arg(sources.join("js/greeter.mjs"));
            componentize.arg("--wit").arg(sources.join("wit"));
            componentize.args(["--world-name", "greeter", "--backend", "quickjs", "--out"]);
            step::run(componentize.arg(outcome))
        },
    },
    Foreign {
        name: "py",
        sources: &["py/greeter_plugin.py", "wit/foreign.wit"],
        toolchain: "python/clients.txt",
        build: |sources, outcome| componentize_py(sources, &[], outcome),
    },
    Foreign {
        name: "py_stubbed",
        sources: &["py/greeter_plugin.py", "wit/foreign.wit"],
        toolchain: "python/clients.txt",
        build: |sources, outcome| componentize_py(sources, &["--stub-wasi"], outcome),
    },
    Foreign {
        name: "zig",
        sources: &["zig/greeter.zig", "wit/foreign.wit"],
        toolchain: "python/toolchains.txt",
        build: |sources, outcome| {
            let core = outcome.with_extension("core");
            let mut zig = step::command(artifacts::python("toolchains", "python")?);
            zig.args(["-m", "ziglang", "build-exe"]);
            zig.arg(sources.join("zig/greeter.zig"));
            zig.args(["-target", "wasm32-wasi", "-mexec-model=reactor"]);
            zig.args(["-O", "ReleaseSmall", "-rdynamic", "-fno-entry"]);
            step::run(zig.arg(joined("-femit-bin=", &core)))?;
            component_of(sources, &core, outcome)
        },
    },
    Foreign {
        name: "go",
        sources: &["go/greeter.go", "wit/foreign.wit"],
        toolchain: "python/toolchains.txt",
        build: |sources, outcome| {
            let core = outcome.with_extension("core");
            let mut go = step::command(artifacts::python("toolchains", "go")?);
            go.env("GOOS", "wasip1").env("GOARCH", "wasm");
            go.env("GOCACHE", artifacts::target().join("go"));
            go.env("GOTOOLCHAIN", "local");
            go.args(["build", "-buildmode=c-shared", "-o"]).arg(&core);
            step::run(go.arg(sources.join("go/greeter.go")))?;
            component_of(sources, &core, outcome)
        },
    },
];

/// Builds the components that are not there yet, or whose sources or toolchain have changed.
pub(crate) fn all() -> Result<()> {
    let sources = artifacts::workspace().join("tests/foreign");
    let lists = artifacts::workspace().join("tests/clients");
    for component in COMPONENTS {
        let mut inputs = artifacts::read(&lists.join(component.toolchain))?;
        for source in component.sources {
            inputs.extend(artifacts::read(&sources.join(source))?);
        }
        let outcome = artifacts::target().join(format!("foreign/{}.wasm", component.name));
        step::once(&outcome, &inputs, || (component.build)(&sources, &outcome))?;
    }
    Ok(())
}

/// Returns a command of jco, which makes components of JavaScript and of core modules.
fn jco(command: &str) -> Result<Command> {
    let program = artifacts::npm_file("@bytecodealliance/jco", "dist/jco.js")?;
    let mut jco = step::command(artifacts::node()?);
    jco.arg(program).arg(command);
    Ok(jco)
}

fn componentize_py(sources: &Path, options: &[&str], outcome: &Path) -> Result<()> {
    let mut componentize = step::command(artifacts::python("clients", "componentize-py")?);
    componentize.arg("--wit-path").arg(sources.join("wit"));
    componentize.args(["--world", "greeter", "componentize", "--python-path"]);
    componentize.arg(sources.join("py")).args(options);
    step::run(
        componentize
            .args(["greeter_plugin", "--output"])
            .arg(outcome),
    )
}

/// Makes a component of a core module that was built for WASI 0.1.
fn component_of(sources: &Path, core: &Path, outcome: &Path) -> Result<()> {
    let embedded = core.with_extension("embedded");
    let mut embed = jco("embed")?;
    embed.arg(core).arg("--wit").arg(sources.join("wit"));
    step::run(embed.args(["--world-name", "greeter", "-o"]).arg(&embedded))?;
    let mut new = jco("new")?;
    new.arg(&embedded).args(["--wasi-reactor", "-o"]);
    step::run(new.arg(outcome))
}

fn joined(option: &str, path: &Path) -> std::ffi::OsString {
    let mut word = std::ffi::OsString::from(option);
    word.push(path);
    word
}
