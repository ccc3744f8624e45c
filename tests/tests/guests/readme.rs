//! The README of the SDK, followed to the letter: its code compiles, and does what the README says.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use dormouse_tests::artifacts;

const README: &str = include_str!("../../../guest-sdk/README.md");

/// Crates of this workspace that a plugin's author needs.
const CRATES: [&str; 3] = ["dormouse-sdk", "dormouse-sdk-macro", "dormouse-wit"];

/// Version of these crates, which all crates here have.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the texts of all fences of a language, in order.
fn fences(language: &str) -> Vec<&'static str> {
    let start = format!("```{language}\n");
    let fences = README.split(start.as_str()).skip(1);
    fences
        .map(|rest| rest.split_once("```").unwrap().0)
        .collect()
}

/// Unpacks the crates of the SDK, as a registry would hand them out: each into a folder of its own,
/// which has nothing of this workspace around it.
fn unpacked() -> PathBuf {
    let target = artifacts::target().join("readme/sdk");
    if target.exists() {
        std::fs::remove_dir_all(&target).unwrap();
    }
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
    };
    let mut package = Command::new("cargo");
    package.args([
        "package",
        "--no-verify",
        "--allow-dirty",
        "--offline",
        "--target-dir",
    ]);
    package.arg(&target).current_dir(artifacts::workspace());
    run(package.args(CRATES.iter().flat_map(|name| ["--package", name])));
    for name in CRATES {
        let packed = format!("package/{name}-{VERSION}.crate");
        run(Command::new("tar")
            .args(["xzf", &packed])
            .current_dir(&target));
    }
    target
}

/// Writes the greeter's folder, with all that the README adds to it.
fn write(folder: &Path) {
    let sdk = unpacked();
    let path = |name| sdk.join(format!("{name}-{VERSION}"));
    let patches: String = CRATES
        .iter()
        .map(|name| format!("{name} = {{ path = '{}' }}\n", path(name).display()))
        .collect();
    let [library, target] = fences("toml").try_into().unwrap();
    let cargo = format!(
        "[package]\nname = \"greeter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{library}\n\
         [dependencies]\ndormouse-sdk = \"{VERSION}\"\nserde_json = \"1\"\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\n\n[workspace]\n\n\
         [patch.crates-io]\n{patches}"
    );
    // Functions of the world belong into it, and Rust's into the trait's only block.
    let all = fences("wit");
    let (world, more) = all.split_first().unwrap();
    let end = world.rfind('}').unwrap();
    let wit = format!("{}{}}}\n", &world[..end], more.concat());
    let all = fences("rust");
    let (first, more) = all.split_first().unwrap();
    let (functions, others): (Vec<&str>, Vec<&str>) =
        more.iter().partition(|text| text.starts_with("fn "));
    let end = first.rfind('}').unwrap();
    let rust = format!(
        "{}{}}}\n{}",
        &first[..end],
        functions.concat(),
        others.concat()
    );
    for (name, text) in [
        ("Cargo.toml", cargo.as_str()),
        (".cargo/config.toml", target),
        ("wit/greeter.wit", &wit),
        ("src/lib.rs", &rust),
        ("objects.json", fences("json")[0]),
    ] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    // The versions that the workspace has, so that nothing is fetched.
    let lock = artifacts::workspace().join("Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).unwrap();
}

#[test]
fn heavy_what_it_shows_compiles_and_works() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    // The dependencies take most of the time, and most of them are there: the guests of the workspace
    // have the same.
    let target = artifacts::target();
    let built = Command::new("cargo")
        .args(["build", "--release", "--offline"])
        .env("CARGO_TARGET_DIR", &target)
        // What the workspace's own build was told is not for this one.
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_BUILD_TARGET")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");

    let home = Home::new().unwrap();
    let file = target.join("wasm32-wasip2/release/greeter.wasm");
    let run = |arguments: &[&str]| {
        let output = home.run(arguments).unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let file = file.to_str().unwrap();
    let checked = run(&["check", file]);
    assert!(checked.contains("ok: "), "{checked}");
    assert_eq!(
        checked.matches("warning").count(),
        1,
        "that it is not packed, and nothing else: {checked}"
    );
    run(&["add", "greeter", file]);
    let said = run(&["call", "greeter", "greet", r#"{"name": "world"}"#]);
    assert_eq!(said, "Hello, world!\n");

    let mut client = home.serve().unwrap();
    let count = client.text("greeter__count", json!({ "sheep": 3 }));
    assert_eq!(count.unwrap(), "asleep");
    let face = client.call("greeter__draw", json!({})).unwrap();
    assert_eq!(face["content"].as_array().unwrap().len(), 8, "{face}");
    let forecast = client.call("greeter__forecast", json!({ "city": "Rome" }));
    let forecast = forecast.unwrap();
    assert_eq!(forecast["structuredContent"], json!({ "rain": true }));
    for (uri, text) in [
        ("notes://by-title/Ada", "Wrote the first program."),
        ("weather://today", "Rain."),
    ] {
        let read = client.request("resources/read", json!({ "uri": uri }));
        assert_eq!(read.unwrap()["contents"][0]["text"], text);
    }
}
