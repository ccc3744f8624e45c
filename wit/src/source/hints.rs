//! Hints on errors of the WIT parser, which knows nothing of the contract: authors of plugins often
//! name its types wrongly.

use wit_parser::{PackageId, Resolve};

use crate::CONTRACT;

/// The contract's types that authors use.
const TYPES: [&str; 7] = [
    "content",
    "prompt-message",
    "embedded-resource",
    "annotations",
    "resource-link",
    "role",
    "text-content",
];

/// Returns a message of the parser without the folder, which the error names in front of it.
pub(crate) fn plain(message: &str) -> &str {
    let mut message = message;
    for (start, end) in [
        (
            "failed to resolve directory while parsing WIT for path [",
            "]: ",
        ),
        ("failed to parse package: ", ": "),
    ] {
        let inner = message
            .strip_prefix(start)
            .and_then(|rest| rest.split_once(end));
        message = inner.map_or(message, |(_, inner)| inner);
    }
    message
}

/// Returns a hint on a message of the parser, in a line of its own; empty where there is none.
pub(crate) fn on(message: &str) -> String {
    let (name, version) = CONTRACT.split_once('@').unwrap_or((CONTRACT, ""));
    let missing = TYPES
        .iter()
        .find(|ty| message.contains(&format!("`{ty}` does not exist")));
    if let Some(ty) = missing {
        return format!(
            "\nhint: it is one of the contract's: write `use {name}/types@{version}.{{{ty}}};` into the interface or the world"
        );
    }
    if message.contains(&format!("package '{name}")) && message.contains("not found") {
        return format!("\nhint: name it with its version, like `{name}/types@{version}`");
    }
    String::new()
}

/// Returns the error text for a package of which no world was chosen.
pub(crate) fn on_worlds(
    resolve: &Resolve,
    package: PackageId,
    wanted: Option<&str>,
    message: String,
) -> String {
    let Some(package) = resolve.packages.get(package) else {
        return message;
    };
    let worlds: Vec<_> = package.worlds.keys().map(|w| format!("`{w}`")).collect();
    let list = worlds.join(", ");
    match (wanted, worlds.as_slice()) {
        (_, []) => format!("the package `{}` has none", package.name),
        (Some(wanted), [_]) => format!("there is no `{wanted}`, only {list}"),
        (Some(wanted), _) => format!("there is no `{wanted}` among {list}"),
        (None, _) => format!("there are {list}"),
    }
}
