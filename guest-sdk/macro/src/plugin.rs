//! `plugin!`: bindings, export and declaration of a typed plugin.

use std::path::{Path, PathBuf};

use dormouse_wit::error::{Error as WitError, Finding, Severity};
use dormouse_wit::source;
use proc_macro2::TokenStream;
use syn::{Error, LitStr, Result};

use crate::arguments::{Plugin, span_of};
use crate::{bindings, section};

pub(crate) fn expand(arguments: &Plugin) -> Result<TokenStream> {
    let span = span_of(arguments.path.as_ref());
    let fail = |message: String| Error::new(span, message);
    let folder = arguments
        .path
        .as_ref()
        .map_or_else(|| "wit".into(), LitStr::value);
    let path = section::manifest_dir(span)?.join(folder);
    let world = arguments.world.as_ref().map(LitStr::value);
    let declared =
        source::from_wit(&[path.as_path()], world.as_deref()).map_err(|error| {
            let component = &arguments.component;
            fail(match error {
                _ if !path.exists() => format!(
                    "{error}\nhint: put a WIT file there, or name another folder: `plugin!({component}, path = \"…\")`"
                ),
                WitError::World { .. } => format!(
                    "{error}\nhint: choose one: `plugin!({component}, world = \"…\")`"
                ),
                error => error.to_string(),
            })
        })?;
    // What `dormouse check` would refuse is not worth building. A macro cannot warn;
    // but where nothing is left, the warnings say why.
    let errors = declared
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error || declared.nothing.is_some())
        .map(|finding| format!("{}: {}", finding.item, finding.told()));
    let errors: Vec<_> = errors
        .chain(declared.nothing.iter().map(Finding::told))
        .collect();
    if !errors.is_empty() {
        return Err(fail(errors.join("\n")));
    }
    let mut declaration = declared.declaration;
    section::name_after_crate(&mut declaration);
    let mut paths = vec![path];
    if !brings_contract(&paths) {
        paths.insert(0, PathBuf::from(dormouse_wit::CONTRACT_DIR));
    }
    let mut code = bindings::expand(&paths, world.as_deref(), &arguments.component, span)?;
    code.extend(section::expand(&declaration, span)?);
    Ok(code)
}

/// Whether a plugin has a copy of the contract among its dependencies: a package
/// that comes twice is an error.
fn brings_contract(paths: &[PathBuf]) -> bool {
    let package = dormouse_wit::CONTRACT
        .split_once('@')
        .map_or(dormouse_wit::CONTRACT, |(package, _)| package);
    let declares = |file: &Path| {
        std::fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("package {package}")))
    };
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    paths.iter().any(|path| {
        files(&path.join("deps"))
            .iter()
            .any(|entry| declares(entry) || files(entry).iter().any(|file| declares(file)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error that an author reads where the macro gets these arguments, and `WIT` is a
    /// folder with this text.
    fn told(wit: &str, arguments: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.wit"), wit).unwrap();
        let path = folder.path().display().to_string();
        let arguments = arguments.replace("WIT", &path);
        let expanded = syn::parse_str(&arguments).and_then(|arguments| expand(&arguments));
        let error = expanded.err()?;
        Some(error.to_string().replace(&path, "WIT"))
    }

    #[test]
    fn what_check_would_refuse_does_not_compile() {
        let told = |wit| told(wit, "Greeter, path = \"WIT\"");
        assert_eq!(told("package a:b; world w { export f: func(); }"), None);
        for (wit, expected) in [
            (
                "package a:b; world w { /// @readnly\n export f: func(); }",
                "f: there is no tag `@readnly` here\nhint: did you mean `@readonly`? ",
            ),
            ("package a:b; world w {}", "it offers nothing: "),
            (
                "package a:b; world w { export f: func() -> stream<u8>; }",
                "f: not a tool: `stream` is no tool type\nit offers nothing: ",
            ),
            (
                "package a:b; world w { export f: func() -> stream<u8>; export g: func(); }",
                "the world `w` has a `stream` in it, which this SDK has no bindings for\nhint: ",
            ),
            (
                "package a:b; world w { /// @pattern (\n type t = string; export f: func(t: t); }",
                "t: `@pattern (` is no regular expression that the host knows: ",
            ),
            (
                "package a:b; world v { export f: func(); } world w {}",
                "cannot choose a world: there are `v`, `w`\nhint: choose one: `plugin!(Greeter, world = ",
            ),
        ] {
            let told = told(wit).unwrap();
            assert!(told.starts_with(expected), "{told}");
        }
    }

    #[test]
    fn arguments_that_are_none_have_a_hint() {
        let told = |arguments| told("", arguments).unwrap();
        for (arguments, expected) in [
            (
                "Greeter, path = \"WIT/none\"",
                "cannot read the WIT in `WIT/none`: there is no such file or folder\nhint: put",
            ),
            (
                "Greeter, path \"WIT\"",
                "`path` needs a text\nhint: `path = \"…\"`",
            ),
            (
                "Greeter, path = 5",
                "`path` needs a text\nhint: `path = \"…\"`",
            ),
            (
                "Greeter, wrld = \"w\"",
                "unknown argument `wrld`\nhint: there is `path = \"…\"`, `world = \"…\"`",
            ),
            (
                "\"WIT\"",
                "expected the type that implements the plugin\nhint: ",
            ),
        ] {
            let told = told(arguments);
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
