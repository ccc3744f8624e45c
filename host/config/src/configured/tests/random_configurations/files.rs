//! Random files of a user's and of a project's, in the formats of their clients.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use proptest::collection::btree_map;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

use crate::Client;

/// Names of servers, two of which look alike; one that many clients have stands here more than once.
const NAMES: [&str; 6] = ["a", "s", "s", "s", "S", "z"];

/// Programs of servers; a project has one more, which no user has.
pub(super) const PROGRAMS: [&str; 3] = ["u", "v", "stranger"];

/// Tools of every server; the first is what entries deny.
pub(super) const TOOLS: [&str; 2] = ["delete", "read"];

/// Clients whose files are written, and which of a project's files each of them reads.
pub(super) const CLIENTS: [(Client, &[ProjectFile]); 8] = [
    (Client::ClaudeCode, &[ProjectFile::Shared]),
    (
        Client::Copilot,
        &[ProjectFile::Shared, ProjectFile::Copilot],
    ),
    (Client::Cursor, &[ProjectFile::Cursor]),
    (Client::OpenCode, &[ProjectFile::OpenCode]),
    (Client::Codex, &[ProjectFile::Codex]),
    (Client::Gemini, &[ProjectFile::Gemini]),
    (Client::Windsurf, &[]),
    (Client::Forge, &[ProjectFile::Shared]),
];

/// Files of a project's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProjectFile {
    Shared,
    Copilot,
    Cursor,
    OpenCode,
    Codex,
    Gemini,
    Own,
}

const PROJECT_FILES: [ProjectFile; 7] = [
    ProjectFile::Shared,
    ProjectFile::Copilot,
    ProjectFile::Cursor,
    ProjectFile::OpenCode,
    ProjectFile::Codex,
    ProjectFile::Gemini,
    ProjectFile::Own,
];

/// Statement of an entry on whether its server is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    Unsaid,
    On,
    Off,
    /// Off in words that no client has, which the user's own entries alone say.
    Odd,
}

/// An entry of a file, by its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The program; none in an entry that cannot be used.
    pub(super) program: Option<&'static str>,
    pub(super) switch: Switch,
    /// Whether the first of the tools is denied.
    pub(super) denies: bool,
    /// Whether the folder of the project is written as the program's.
    pub(super) has_folder: bool,
}

pub(super) type Entries = BTreeMap<&'static str, Entry>;

/// A table of the user's own `dormouse.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Table {
    Whole(Entry),
    /// Changes a server that is configured elsewhere.
    Overlay(Switch, bool),
    /// Has something wrong in it, with the program.
    Wrong(&'static str),
}

/// The files of a user and of a project.
#[derive(Debug, Clone)]
pub(super) struct Files {
    /// Each client's own entries; none of a client whose file cannot be read.
    pub(super) users: BTreeMap<Client, Option<Entries>>,
    pub(super) users_own: BTreeMap<&'static str, Table>,
    pub(super) projects: BTreeMap<ProjectFile, Entries>,
}

fn entry() -> impl Strategy<Value = Entry> {
    let program = prop_oneof![
        12 => (0..PROGRAMS.len()).prop_map(|index| Some(PROGRAMS[index])),
        1 => Just(None),
    ];
    let switch = prop_oneof![
        4 => Just(Switch::Unsaid),
        1 => Just(Switch::On),
        2 => Just(Switch::Off),
    ];
    (
        program,
        switch,
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(program, switch, denies, has_folder)| Entry {
            program,
            switch,
            denies,
            has_folder,
        })
}

fn users_entry() -> impl Strategy<Value = Entry> {
    (entry(), prop::bool::weighted(0.15)).prop_map(|(entry, is_odd)| Entry {
        program: entry.program.map(|program| match program {
            "stranger" => "u",
            other => other,
        }),
        has_folder: false,
        switch: if is_odd { Switch::Odd } else { entry.switch },
        ..entry
    })
}

fn name() -> impl Strategy<Value = &'static str> {
    (0..NAMES.len()).prop_map(|index| NAMES[index])
}

pub(super) fn files() -> impl Strategy<Value = Files> {
    // Few clients, so that what they have meets in one file of the project's.
    let client = prop_oneof![
        2 => (0..CLIENTS.len()).prop_map(|index| CLIENTS[index].0),
        2 => Just(Client::ClaudeCode),
        1 => Just(Client::Copilot),
        1 => Just(Client::OpenCode),
    ];
    let entries = prop_oneof![
        12 => btree_map(name(), users_entry(), 1..4).prop_map(Some),
        1 => Just(None),
    ];
    let table = prop_oneof![
        3 => users_entry().prop_map(Table::Whole),
        3 => (entry(), any::<bool>()).prop_map(|(entry, denies)| Table::Overlay(entry.switch, denies)),
        1 => (0..2usize).prop_map(|index| Table::Wrong(PROGRAMS[index])),
    ];
    let file = (0..PROJECT_FILES.len()).prop_map(|index| PROJECT_FILES[index]);
    // By chance alone, a project hardly ever gives a name that one client has for a server the program
    // of an entry of another client's.
    let overrides = prop::collection::vec((any::<Index>(), any::<Index>()), 0..4);
    (
        btree_map(client, entries, 1..4),
        btree_map(name(), table, 0..3),
        btree_map(file, btree_map(name(), entry(), 1..3), 1..3),
        overrides,
    )
        .prop_map(|(users, users_own, projects, overrides)| {
            let mut files = Files {
                users,
                users_own,
                projects,
            };
            for (name, program) in overrides {
                files.add_override(&name, &program);
            }
            files
        })
}

/// Writes entries as most clients do.
fn mcp_servers(entries: &Entries, project: &Path, deny: &dyn Fn(&mut Map<String, Value>)) -> Value {
    let servers = entries.iter().map(|(name, entry)| {
        let mut server = Map::new();
        server.insert("command".to_owned(), json!(entry.program));
        if entry.program.is_none() {
            server.insert("command".to_owned(), json!(5));
        }
        if entry.has_folder {
            server.insert("cwd".to_owned(), json!(project));
        }
        match entry.switch {
            Switch::Unsaid => {}
            Switch::On => drop(server.insert("disabled".to_owned(), json!(false))),
            Switch::Off => drop(server.insert("disabled".to_owned(), json!(true))),
            Switch::Odd => drop(server.insert("disabled".to_owned(), json!("yes"))),
        }
        if entry.denies {
            deny(&mut server);
        }
        ((*name).to_owned(), Value::Object(server))
    });
    json!({ "mcpServers": servers.collect::<Map<_, _>>() })
}

/// Writes entries in TOML, with the key that lists denied tools.
fn toml(entries: &Entries, project: &Path, tables: &str, deny: &str) -> String {
    let mut text = String::new();
    for (name, entry) in entries {
        writeln!(text, "[{tables}.{name}]").unwrap();
        match entry.program {
            Some(program) => writeln!(text, "command = '{program}'").unwrap(),
            None => writeln!(text, "command = 5").unwrap(),
        }
        if entry.has_folder {
            writeln!(text, "cwd = '{}'", project.display()).unwrap();
        }
        match entry.switch {
            Switch::Unsaid => {}
            Switch::On => writeln!(text, "enabled = true").unwrap(),
            Switch::Off => writeln!(text, "enabled = false").unwrap(),
            Switch::Odd => writeln!(text, "enabled = 'false'").unwrap(),
        }
        if entry.denies {
            writeln!(text, "{deny} = ['{}']", TOOLS[0]).unwrap();
        }
    }
    text
}

fn opencode(entries: &Entries, project: &Path) -> Value {
    let mut servers = Map::new();
    let mut tools = Map::new();
    for (name, entry) in entries {
        let mut server = json!({"type": "local", "command": [entry.program]});
        if entry.program.is_none() {
            server["command"] = json!(5);
        }
        if entry.has_folder {
            server["cwd"] = json!(project);
        }
        match entry.switch {
            Switch::Unsaid => {}
            Switch::On => server["enabled"] = json!(true),
            Switch::Off => server["enabled"] = json!(false),
            Switch::Odd => server["enabled"] = json!(0),
        }
        servers.insert((*name).to_owned(), server);
        if entry.denies {
            tools.insert(format!("{name}_{}", TOOLS[0]), json!(false));
        }
    }
    json!({"mcp": servers, "tools": tools})
}

fn list(key: &'static str) -> impl Fn(&mut Map<String, Value>) {
    move |server| drop(server.insert(key.to_owned(), json!([TOOLS[0]])))
}

fn only_reads(server: &mut Map<String, Value>) {
    server.insert("tools".to_owned(), json!([TOOLS[1]]));
}

fn nothing(_: &mut Map<String, Value>) {}

fn denied_names(entries: &Entries, rule: impl Fn(&str) -> String) -> Value {
    let denied = entries.iter().filter(|(_, entry)| entry.denies);
    let rules = denied.map(|(name, _)| rule(name));
    json!({"permissions": {"deny": rules.collect::<Vec<_>>()}})
}

impl Entry {
    /// Whether an entry of the user's cannot be used as it is.
    pub(super) fn is_unusable(&self) -> bool {
        self.program.is_none() || self.switch == Switch::Odd
    }

    /// Whether an entry of a client's says that its server is on, by the client's own key.
    pub(super) fn says_on_in(&self, client: Client) -> bool {
        self.switch == Switch::On && matches!(client, Client::Codex | Client::OpenCode)
    }

    /// Whether an entry of a client's denies the tool, as that client writes it.
    pub(super) fn denies_in(&self, client: Client) -> bool {
        self.denies && client != Client::Forge
    }
}

impl Files {
    pub(super) fn of_users(&self, project: &Path) -> Vec<(&'static str, String)> {
        let mut files = Vec::new();
        for (client, entries) in &self.users {
            let is_unread = entries.is_none();
            let entries = entries.clone().unwrap_or_default();
            let all = |deny: &dyn Fn(&mut Map<String, Value>)| {
                mcp_servers(&entries, project, deny).to_string()
            };
            let (file, text) = match client {
                Client::ClaudeCode => {
                    let rules = denied_names(&entries, |name| format!("mcp__{name}__{}", TOOLS[0]));
                    files.push((".claude/settings.json", rules.to_string()));
                    (".claude.json", all(&nothing))
                }
                Client::Copilot => (".copilot/mcp-config.json", all(&only_reads)),
                Client::Cursor => {
                    let rules = denied_names(&entries, |name| format!("Mcp({name}:{})", TOOLS[0]));
                    files.push((".cursor/cli-config.json", rules.to_string()));
                    (".cursor/mcp.json", all(&nothing))
                }
                Client::OpenCode => (
                    ".config/opencode/opencode.json",
                    opencode(&entries, project).to_string(),
                ),
                Client::Codex => (
                    ".codex/config.toml",
                    toml(&entries, project, "mcp_servers", "disabled_tools"),
                ),
                Client::Gemini => (".gemini/settings.json", all(&list("excludeTools"))),
                Client::Windsurf => (
                    ".codeium/windsurf/mcp_config.json",
                    all(&list("disabledTools")),
                ),
                _ => ("forge/.mcp.json", all(&nothing)),
            };
            let text = if is_unread {
                "{ this is".to_owned()
            } else {
                text
            };
            files.push((file, text));
        }
        files
    }

    pub(super) fn of_project(&self, project: &Path) -> Vec<(&'static str, String)> {
        let files = self.projects.iter().map(|(file, entries)| {
            let all = |deny: &dyn Fn(&mut Map<String, Value>)| {
                mcp_servers(entries, project, deny).to_string()
            };
            match file {
                ProjectFile::Shared => (".mcp.json", all(&only_reads)),
                ProjectFile::Copilot => (".github/mcp.json", all(&only_reads)),
                ProjectFile::Cursor => (".cursor/mcp.json", all(&nothing)),
                ProjectFile::OpenCode => ("opencode.json", opencode(entries, project).to_string()),
                ProjectFile::Codex => (
                    ".codex/config.toml",
                    toml(entries, project, "mcp_servers", "disabled_tools"),
                ),
                ProjectFile::Gemini => (".gemini/settings.json", all(&list("excludeTools"))),
                ProjectFile::Own => (
                    "dormouse.toml",
                    toml(entries, project, "servers", "exclude_tools"),
                ),
            }
        });
        files.collect()
    }

    pub(super) fn own_text(&self) -> String {
        let mut text = String::new();
        for (name, table) in &self.users_own {
            match table {
                Table::Whole(entry) => {
                    let one = BTreeMap::from([(*name, entry.clone())]);
                    text += &toml(&one, Path::new(""), "servers", "exclude_tools");
                }
                Table::Overlay(switch, denies) => {
                    writeln!(text, "[servers.{name}]").unwrap();
                    match switch {
                        Switch::Unsaid => {}
                        Switch::On => writeln!(text, "enabled = true").unwrap(),
                        Switch::Off | Switch::Odd => writeln!(text, "enabled = false").unwrap(),
                    }
                    if *denies {
                        writeln!(text, "exclude_tools = ['{}']", TOOLS[0]).unwrap();
                    }
                }
                Table::Wrong(program) => {
                    writeln!(text, "[servers.{name}]\ncommand = '{program}'\nenabled = 7").unwrap();
                }
            }
        }
        text
    }

    /// Returns the programs that the user's own files name.
    pub(super) fn users_programs(&self) -> BTreeSet<&'static str> {
        let entries = self.users.values().flatten().flat_map(BTreeMap::values);
        let tables = self.users_own.values().filter_map(|table| match table {
            Table::Whole(entry) => entry.program,
            Table::Wrong(program) => Some(*program),
            Table::Overlay(..) => None,
        });
        let programs = entries.filter_map(|entry| entry.program);
        programs.chain(tables).collect()
    }
}
