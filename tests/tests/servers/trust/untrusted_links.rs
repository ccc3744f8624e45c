//! Links out of a project that nobody has ever trusted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use dormouse_tests::telltale_links::TelltaleLinks;

use crate::scripted::{Scripted, asks, comes_to, tools};
use crate::trust::TRUST;

/// Files of a project that some servers are found by.
const FILES: [&str; 6] = [
    ".mcp.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    ".continue/mcpServers/more.json",
    ".claude/settings.json",
    "dormouse.toml",
];

/// A look at what a link leads to may never end, for the whole host and everybody who asks it.
#[test]
fn no_link_out_of_an_untrusted_project_is_followed() {
    for are_folders in [false, true] {
        let all = Scripted::new();
        let (project, outside) = (all.project(), all.home.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        let mut links = TelltaleLinks::new(&outside).unwrap();
        for (number, file) in FILES.into_iter().enumerate() {
            let name = format!("link-{number}");
            let (folder, rest) = file.split_once('/').unwrap_or((file, ""));
            let (at, link) = match are_folders && !rest.is_empty() {
                true => (folder, links.to_folder(&name, Path::new(rest), "{}")),
                false => (file, links.to_file(&name, "{}")),
            };
            let at = project.join(at);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(link.unwrap(), at).unwrap();
        }
        let mut host = all.serve_project(asks());
        assert!(tools(&mut host).is_empty());
        // It looks at all of them once more.
        all.configure(&project.join(".github/mcp.json"), &["evil"]);
        comes_to(&mut host, &[TRUST]);
        for words in [
            &["list"][..],
            &["status"],
            &["doctor"],
            &["import", "--dry-run"],
            &["trust", "--list"],
        ] {
            let (_, said) = all.run_in(&project, words);
            assert!(links.followed().unwrap().is_empty(), "{words:?}: {said}");
        }
        // Whoever wants to be shown what they would trust has them followed.
        all.run_in(&project, &["trust", "--yes"]);
        assert!(!links.followed().unwrap().is_empty());
    }
}
