//! Files that are named for values: whatever is written beside them, no plugin is granted one.

use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::file::parse_usable;
use crate::project::trusted::TestTrust;
use crate::{Configured, FilledInFiles, HostPaths, own_places};

/// Number of homes: the same ones each time.
const CASES: u32 = 40;

/// Clients that take values from files which an entry names, with the file of their servers and what
/// names a file there.
const NAMING: [(Client, &str, &str); 6] = [
    (
        Client::VsCode,
        "home/.config/Code/User/mcp.json",
        "\"envFile\": \"@\"",
    ),
    (
        Client::VsCode,
        "home/.config/Code/User/profiles/4328b3eb/mcp.json",
        "\"envFile\": \"@\"",
    ),
    (
        Client::Cursor,
        "home/.cursor/mcp.json",
        "\"envFile\": \"@\"",
    ),
    (
        Client::Windsurf,
        "home/.codeium/windsurf/mcp_config.json",
        "\"cwd\": \"${file:@}\"",
    ),
    (
        Client::OpenCode,
        "home/.config/opencode/opencode.json",
        "\"cwd\": \"{file:@}\"",
    ),
    (
        Client::Continue,
        "home/.continue/config.yaml",
        "envFile: '@'",
    ),
];

/// Mistakes in an entry of JSON, and what else may be beside its program.
const BESIDE: [&str; 10] = [
    "",
    "\"env\": 5, ",
    "\"args\": \"x\", ",
    "\"type\": \"of-pigeons\", ",
    "\"type\": [], ",
    "\"command\": {}, ",
    "\"disabled\": true, ",
    "\"enabled\": \"perhaps\", ",
    "\"url\": \"ws://x\", ",
    "\"headers\": [], ",
];

/// Mistakes in a whole file of JSON: what it begins and ends with.
const AROUND: [(&[u8], &[u8]); 7] = [
    (b"", b""),
    (b"", b"}"),
    (b",", b""),
    (b"\xff", b""),
    (b"[", b"]"),
    (b"/*", b""),
    (b"{\"mcpServer\": {}}", b""),
];

/// Tables of the user's own for a server, and a provider. `@` is a file of a secret.
const TABLES: [&str; 10] = [
    "",
    "[servers.'N']\nsecrets.s = { file = '@', hosts = ['a.example'], query = 'q' }\n",
    "[servers.'N']\ncomponent = 'x'\nsecrets.s = { file = '@', hosts = ['a.example'], query = 'q' }\n",
    "[servers.'N']\ncomponent = 'x'\nsecrets.s = { file = '@', hosts = 5, query = 'q' }\n",
    "[servers.'N']\ncommand = 'x'\nprefixx = 'x'\nsecrets.s = { file = '@' }\n",
    "[servers.'N']\ncommand = 5\nenv = 5\nsecrets.s.file = '@'\n",
    "[servers.'N']\nenabled = false\n[providers.'N']\nclient_secret = { file = '@' }\n",
    "[servers.'N']\nargs = ['x']\n",
    "[servers.'N']\ncommand = 'x'\nprefixx = 'x'\n",
    "[servers.'N']\nheaders = { A = 'x' }\nproject = '/x'\n",
];

/// Fault or peculiarity of a home.
#[derive(Debug, Clone)]
struct Peculiar {
    /// The homes that it is made of.
    homes: Vec<String>,
    /// Texts beside the entries, one after the other, and around each file.
    beside: Vec<Index>,
    around: Vec<Index>,
    /// Tables for the servers, one after the other.
    tables: Vec<Index>,
    clients: Option<Vec<Client>>,
    is_project_trusted: bool,
}

fn peculiar() -> impl Strategy<Value = Peculiar> {
    let homes = all_homes();
    let all: Vec<_> = Client::all().collect();
    let homes = prop_oneof![
        select(homes.clone()).prop_map(|home| vec![home]),
        Just(homes)
    ];
    let some = |most| proptest::collection::vec(any::<Index>(), 1..most);
    let clients = proptest::option::of(subsequence(all.clone(), 0..all.len()));
    (homes, some(8), some(4), some(8), clients, any::<bool>()).prop_map(
        |(homes, beside, around, tables, clients, is_project_trusted)| Peculiar {
            homes,
            beside,
            around,
            tables,
            clients,
            is_project_trusted,
        },
    )
}

/// Makes a home, and returns it with the user's own file and the files that are named for values.
fn made(peculiar: &Peculiar) -> (Home, String, Vec<PathBuf>) {
    let names: Vec<_> = peculiar.homes.iter().map(String::as_str).collect();
    let home = Home::of(&names);
    let mut named: Vec<PathBuf> = Vec::new();
    let mut new = |folder: &str| {
        let file = PathBuf::from(format!("/{folder}/{}", named.len()));
        named.push(file.clone());
        file.to_str().unwrap().to_owned()
    };
    let mut beside = peculiar.beside.iter().cycle();
    let mut around = peculiar.around.iter().cycle();
    for (client, file, naming) in NAMING {
        let path = home.path(file);
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let is_yaml = client == Client::Continue;
        let key = if is_yaml {
            "command: "
        } else {
            "\"command\": "
        };
        let mut parts = text.split(key);
        let mut text = parts.next().unwrap().to_owned();
        for part in parts {
            let naming = naming.replace('@', &new("values"));
            text += &match is_yaml {
                true => format!("{naming}\n    {key}{part}"),
                false => format!(
                    "{}{naming}, {key}{part}",
                    beside.next().unwrap().get(&BESIDE)
                ),
            };
        }
        let mut bytes = text.into_bytes();
        if !is_yaml {
            let (before, after) = around.next().unwrap().get(&AROUND);
            bytes = [before, &bytes[..], after].concat();
        }
        fs::write(path, bytes).unwrap();
    }
    let found = discover_all(
        &home.around(),
        &Client::all().collect::<Vec<_>>(),
        &Inputs::new(),
    );
    let written = found.found.iter().map(|found| found.written_name.as_str());
    let names: BTreeSet<_> = written.chain(["alone"]).collect();
    let mut own = String::new();
    let mut tables = peculiar.tables.iter().cycle();
    for name in names {
        let table = tables.next().unwrap().get(&TABLES);
        // No name in the homes has a quote in it.
        let table = table.replace("'N'", &format!("'{name}'"));
        own += &match table.contains('@') {
            true => table.replace('@', &new("keys")),
            false => table,
        };
    }
    if let Some(clients) = &peculiar.clients {
        let clients: Vec<_> = clients.iter().map(|client| client.name()).collect();
        own += &format!("[discovery]\nclients = {clients:?}\n");
    }
    // What the homes have in them without this.
    let there = [
        ("windsurf", "token.txt"),
        ("opencode", ".secrets/token"),
        ("opencode", ".config/opencode/gone"),
        ("continue", ".continue/.env"),
    ];
    for (of, file) in there {
        if peculiar.homes.iter().any(|home| home == of) {
            named.push(home.path("home").join(file));
        }
    }
    (home, own, named)
}

fn holds(peculiar: &Peculiar) -> Result<(), TestCaseError> {
    let (home, own, named) = made(peculiar);
    let around = home.around();
    let project = home.path("project");
    let read = || parse_usable(Path::new("/d/dormouse.toml"), &own).unwrap();
    let trust = TestTrust::new(&home.path("data"));
    if peculiar.is_project_trusted {
        let all = Configured::for_review(read(), Some(&around), &trust, &project);
        if let Ok(review) = all.review(&project) {
            trust.grant(&project, &review.content).unwrap();
        }
    }
    let configured = Configured::new(read(), Some(&around), &trust);
    let filled_in = FilledInFiles::default();
    filled_in.note(&configured, Some(&project), Ok(BTreeMap::new()));
    let host = HostPaths {
        config: Path::new("/d/dormouse.toml"),
        cache: Path::new("/cache"),
        data: Path::new("/data"),
        token_file: None,
    };
    let places = own_places(host, None, &filled_in).places;
    let kept: BTreeSet<_> = places.iter().map(|own| own.path.as_path()).collect();
    for file in &named {
        prop_assert!(kept.contains(file.as_path()), "{:?} in {}", file, own);
    }
    prop_assert!(!kept.iter().any(|kept| kept.starts_with(&project)));
    Ok(())
}

#[test]
fn each_file_that_is_named_for_values_is_kept_from_grants() {
    let config = RunnerConfig {
        failure_persistence: None,
        ..RunnerConfig::with_cases(CASES)
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[0; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    if let Err(error) = runner.run(&peculiar(), |peculiar| holds(&peculiar)) {
        panic!("{error}");
    }
}

/// Each client whose entries can name a file is one of those that the test above knows.
#[test]
fn every_client_whose_entries_name_files_is_known() {
    for client in Client::all() {
        let dialect = crate::discovery::formats::dialect(client);
        let mut forms = dialect.expansion.forms.iter();
        let has_form = forms.any(|form| {
            matches!(
                form,
                crate::discovery::filling::expansion::ExpansionForm::File { .. }
            )
        });
        let is_known = NAMING.iter().any(|(known, ..)| *known == client);
        assert_eq!(has_form || dialect.env_file.is_some(), is_known, "{client}");
        // The path of a file of variables would open the files that it is made of.
        assert!(!has_form || dialect.env_file.is_none(), "{client}");
    }
}

/// A host starts with it: each file is read once, and a project's not at all.
#[test]
fn clients_that_are_left_out_have_little_read() {
    use std::cell::RefCell;
    use std::rc::Rc;

    use crate::discovery::files::hook;

    let names = all_homes();
    let home = Home::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let read = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&read);
    hook::set(move |file| noted.borrow_mut().push(file.to_owned()));
    let discovery = discover_all(&home.around(), &[], &Inputs::new());
    assert_eq!(
        (discovery.found, discovery.sources),
        (Vec::new(), Vec::new())
    );
    assert_eq!(discovery.hashes.len(), 0);
    let read = read.borrow();
    let once: BTreeSet<_> = read.iter().collect();
    // VS Code's profiles are listed in a file of their own.
    assert_eq!(once.len(), read.len(), "{read:?}");
    let of_project = home.path("project");
    assert!(!read.iter().any(|file| file.starts_with(&of_project)));
    for unread in [
        ".claude.json",
        "token.txt",
        ".secrets/token",
        ".codex/config.toml",
    ] {
        assert!(!read.iter().any(|file| file.ends_with(unread)), "{unread}");
    }
}
