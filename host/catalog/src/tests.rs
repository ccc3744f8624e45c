//! Components for tests, and what holds of everything that is done with them.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use dormouse_wit::Declaration;

use crate::component::listing;
use crate::inspect::inspect;
use crate::{check, imports_alone, instance_footprint, max_module_items, pack, with_epoch_checks};

mod any_bytes;
mod components;
mod declarations;

pub(crate) use components::*;
pub(crate) use declarations::*;

/// The lines that `work` logs.
pub(crate) fn logged<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(Arc::new(file.reopen().unwrap()))
        .finish();
    let done = tracing::subscriber::with_default(subscriber, work);
    let text = std::fs::read_to_string(file.path()).unwrap();
    (done, text.lines().map(str::to_owned).collect())
}

#[test]
fn prompts_and_resources_of_wit_are_packed_and_read() {
    let (component, declared) = documented();
    // Without its section, nobody knows what its functions are.
    let derived = listing::bytes(&component).unwrap();
    assert_eq!((derived.tools.len(), derived.prompts.len()), (5, 0));
    assert!(derived.completion);

    let packed = pack(&component, Some(declared.clone())).unwrap();
    let told: Vec<_> = check(&packed).iter().map(ToString::to_string).collect();
    // Functions that do nothing tell of no changes either.
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("it would tell of changes"), "{told:?}");

    let found = inspect(&packed).unwrap();
    let json = |declaration: &Declaration| serde_json::to_string(declaration).unwrap();
    assert_eq!(json(&found.declaration), json(&declared));
    // What is packed once more stays as it is.
    assert_eq!(pack(&packed, None).unwrap(), packed);
}

/// The dependencies ensure that listing tools compiles and runs nothing.
#[test]
fn nothing_here_can_run_a_component() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = Command::new(cargo)
        .args(["tree", "-p", "dormouse-catalog", "-e", "normal"])
        .args(["--prefix", "none", "--offline", "--locked"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    let packages = String::from_utf8(tree.stdout).unwrap();
    let told = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{told}");
    assert!(packages.contains("wasmparser v"), "{packages}");
    for package in packages.lines() {
        let runs = ["wasmtime", "cranelift"];
        assert!(
            !runs.iter().any(|name| package.starts_with(name)),
            "{package}"
        );
    }
}

/// Reading a type recursively would take all of the stack, and end the process.
#[test]
fn types_that_are_nested_without_end_are_refused() {
    for depth in [101, 300_000] {
        let component = nested_types(depth);
        let refused = listing::bytes(&component).unwrap_err().to_string();
        assert!(refused.contains("more than 100 levels deep"), "{refused}");
        let findings = check(&component);
        assert!(findings[0].message.contains("100 levels"), "{findings:?}");
        assert!(inspect(&component).is_err());
        let footprint = instance_footprint(&component).unwrap();
        assert_eq!(footprint.component_instances, 1);
        assert!(imports_alone(&component).is_some());
        assert_eq!(max_module_items(&component), 0);
        assert!(with_epoch_checks(&component).is_ok());
        assert!(pack(&component, None).is_err());
    }
}
