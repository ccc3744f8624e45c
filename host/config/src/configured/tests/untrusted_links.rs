//! Links of a project that nobody has ever trusted.

use dormouse_tests::telltale_links::TelltaleLinks;

use super::*;
use crate::discovery::places::{self, PROJECT_MARKS};

/// Settings of a project, beside what makes it one.
const SETTINGS: &str = ".claude/settings.json";

/// A home, a project in it, and links beside both.
struct Links {
    home: tempfile::TempDir,
    links: TelltaleLinks,
}

impl Links {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("project/.git")).unwrap();
        std::fs::create_dir(home.path().join("outside")).unwrap();
        let links = TelltaleLinks::new(&home.path().join("outside")).unwrap();
        Self { home, links }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn around(&self) -> Surroundings {
        let (home, project) = (self.home.path().to_owned(), self.path("project"));
        Surroundings::new(home, [].into(), Some(&project))
            .with_configuration(&self.path("own.toml"))
    }

    /// Makes the servers, and looks at each file that a host watches as it does. Returns the paths that
    /// are watched.
    fn watched(&self, around: &Surroundings) -> BTreeSet<PathBuf> {
        let trust = TestTrust::new(&self.path("data"));
        let all = Configured::new(Config::default(), Some(around), &trust);
        let mut paths = BTreeSet::new();
        for file in all.files() {
            let _ = file.metadata();
            paths.extend(file.paths());
        }
        paths
    }

    fn is_followed(&self) -> bool {
        !self.links.followed().unwrap().is_empty()
    }
}

/// Not even a look at what such a link leads to is taken: it may be on a machine that does not answer.
#[test]
fn no_look_at_a_file_of_an_untrusted_project_leads_out_of_it() {
    for mark in PROJECT_MARKS.into_iter().chain([SETTINGS]) {
        let mark = Path::new(mark);
        for linked in mark.ancestors().filter(|path| *path != Path::new("")) {
            let mut all = Links::new();
            let link = match mark.strip_prefix(linked) {
                Ok(rest) if rest != Path::new("") => all.links.to_folder("link", rest, "{}"),
                _ => all.links.to_file("link", "{}"),
            };
            let at = all.path("project").join(linked);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(link.unwrap(), &at).unwrap();
            let watched = all.watched(&all.around());
            assert!(!all.is_followed(), "{linked:?} of {mark:?}");
            // A folder of files of any name is not listed where it is a link, whoever is trusted.
            if mark.ends_with("mcpServers") {
                continue;
            }
            // The link may become something else.
            assert!(watched.contains(&at), "{linked:?} of {mark:?}: {watched:?}");
            let outside = all.path("outside").canonicalize().unwrap();
            let is_outside = |path: &PathBuf| path.starts_with(&outside);
            assert!(!watched.iter().any(is_outside), "{mark:?}: {watched:?}");
            // Whoever has trusted the project is asked what has changed.
            let project = all.path("project");
            let trust = TestTrust::new(&all.path("data"));
            trust.grant(&project, "other content").unwrap();
            let watched = all.watched(&all.around());
            assert!(all.is_followed(), "{linked:?} of {mark:?}");
            assert!(watched.iter().any(is_outside), "{mark:?}: {watched:?}");
        }
    }
}

/// A chain of links, each of them to thousands of names, takes milliseconds to follow.
#[test]
fn no_look_at_a_file_of_an_untrusted_project_goes_a_long_way() {
    let all = Links::new();
    let folder = all.path("project/.continue/mcpServers");
    std::fs::create_dir_all(folder.join("a")).unwrap();
    std::fs::write(folder.join("end"), "mcpServers:\n- name: s\n  command: c\n").unwrap();
    let link =
        |at: &str, target: &str| std::os::unix::fs::symlink(target, folder.join(at)).unwrap();
    link("near.yaml", "a/../end");
    link("far.yaml", &format!("{}end", "a/../".repeat(700)));
    link("0.yaml", "1");
    for index in 1..30 {
        link(&index.to_string(), &format!("a/../{}", index + 1));
    }
    link("30", "end");
    let watched = all.watched(&all.around());
    for file in ["near.yaml", "far.yaml", "0.yaml"] {
        assert!(watched.contains(&folder.join(file)), "{file}");
    }
    let trust = TestTrust::new(&all.path("data"));
    let counted = |around: &Surroundings| {
        let all = Configured::new(Config::default(), Some(around), &trust);
        all.untrusted.map(|project| project.servers)
    };
    assert_eq!(counted(&all.around()), Some(1));
    // Those that are not read are not looked at either.
    std::fs::remove_file(folder.join("near.yaml")).unwrap();
    let watched = all.watched(&all.around());
    assert!(!watched.contains(&folder.canonicalize().unwrap().join("end")));
    assert_eq!(counted(&all.around()), None);
}

/// A user's own link, or variable, may lead into the project, and one of the project's on from there.
#[test]
fn no_look_at_a_users_file_leads_through_an_untrusted_project() {
    for variable in [None, Some("CODEX_HOME")] {
        for is_left_out in [false, true] {
            let mut all = Links::new();
            let file = Path::new("config.toml");
            let link = all
                .links
                .to_folder("link", file, "[mcp_servers.a]\ncommand = \"b\"\n");
            let of_project = all.path("project/codex");
            std::os::unix::fs::symlink(link.unwrap(), &of_project).unwrap();
            let mut around = all.around();
            match variable {
                Some(variable) => {
                    let folder = of_project.to_str().unwrap().to_owned();
                    around.env.insert(variable.to_owned(), folder);
                }
                None => std::os::unix::fs::symlink(&of_project, all.path(".codex")).unwrap(),
            }
            if is_left_out {
                around = around.of_users_servers();
            }
            all.watched(&around);
            assert!(!all.is_followed(), "{variable:?} {is_left_out}");
        }
    }
}

/// So it is of folders that are listed, as files in them have any name.
#[test]
fn no_folder_of_a_user_is_listed_through_an_untrusted_project() {
    for (users, of_project, rest) in [
        (".continue", "cont/mcpServers", "a.yaml"),
        (".config/Code/User", "code/profiles", "one/mcp.json"),
        (".config/Code/User", "code/profiles/one", "mcp.json"),
        (".config/Code/User", "code/globalStorage", "storage.json"),
    ] {
        for is_left_out in [false, true] {
            let mut all = Links::new();
            let link = all.links.to_folder("link", Path::new(rest), "{}").unwrap();
            let (linked, users) = (all.path("project").join(of_project), all.path(users));
            for folder in [linked.parent(), users.parent()].into_iter().flatten() {
                std::fs::create_dir_all(folder).unwrap();
            }
            std::os::unix::fs::symlink(link, &linked).unwrap();
            let first = all
                .path("project")
                .join(of_project.split('/').next().unwrap());
            if of_project.ends_with("globalStorage") {
                std::fs::create_dir(first.join("profiles")).unwrap();
            }
            std::os::unix::fs::symlink(&first, &users).unwrap();
            let mut around = all.around();
            if is_left_out {
                around = around.of_users_servers();
            }
            all.watched(&around);
            for client in Client::all() {
                let _ = places::read(client, &around);
            }
            assert!(!all.is_followed(), "{of_project} {is_left_out}");
        }
    }
}

/// One that stays in the project is.
#[test]
fn a_folder_of_a_user_is_listed_in_the_project() {
    let all = Links::new();
    let blocks = all.path("project/cont/mcpServers");
    std::fs::create_dir_all(&blocks).unwrap();
    std::fs::write(blocks.join("a.yaml"), "").unwrap();
    std::os::unix::fs::symlink("project/cont", all.path(".continue")).unwrap();
    let listed = places::files(Client::Continue, &all.around());
    let block = all.path(".continue/mcpServers/a.yaml");
    assert!(listed.iter().any(|place| place.file == block), "{listed:?}");
}

#[test]
fn no_folder_that_an_untrusted_project_names_is_looked_at() {
    let mut all = Links::new();
    let link = all.links.to_file("link", "").unwrap();
    let text = ["project", "component", "cwd", "env_file"]
        .map(|key| format!("[servers.{key}]\ncommand = [\"x\"]\n{key} = {link:?}\n"));
    let grant = format!(
        "[servers.fs]\ncomponent = \"x.wasm\"\n[[servers.fs.grants.fs]]\npath = {link:?}\n"
    );
    std::fs::write(all.path("project/dormouse.toml"), text.concat() + &grant).unwrap();
    all.watched(&all.around());
    assert!(!all.is_followed());
}

/// Which of the user's servers are the same is found out at each reading, also where their folders are
/// those of whichever project is worked in.
#[test]
fn no_folder_of_a_project_that_a_users_entry_names_is_looked_at() {
    for entry in [
        r#""command": "node", "args": ["index.js"], "cwd": "${workspaceFolder}/server""#,
        r#""command": "node", "args": ["index.js", "${workspaceFolder}/server/x"]"#,
        r#""command": "node", "args": ["index.js"], "env": {"A": "${workspaceFolder}/server"}"#,
        r#""command": "${workspaceFolder}/server/program", "args": ["serve"]"#,
    ] {
        let mut all = Links::new();
        let link = all.links.to_folder("link", Path::new("program"), "");
        std::os::unix::fs::symlink(link.unwrap(), all.path("project/server")).unwrap();
        let file = all.path(".cursor/mcp.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = format!(r#"{{"mcpServers": {{"a": {{{entry}}}}}}}"#);
        std::fs::write(file, text).unwrap();
        all.watched(&all.around());
        assert!(!all.is_followed(), "{entry}");
        let trust = TestTrust::new(&all.path("data"));
        trust.grant(&all.path("project"), "other content").unwrap();
        let around = all.around();
        let found = Configured::new(Config::default(), Some(&around), &trust);
        assert_eq!(found.servers.len(), 1, "{entry}");
    }
}
