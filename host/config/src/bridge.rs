//! Bridged servers: an upstream, and how much of it is shown.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_launch::{Launch, Secret};
use dormouse_text::visible::visible_line;
use dormouse_text::wildcard::matches;

use crate::name::{plain, plain_pattern};

use super::{ChangePolicy, ClientRules, Scope};

/// An upstream to bridge, as it is configured.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridge {
    /// Launch, every variable expanded.
    pub launch: Launch,
    /// The launch as it is written, no variable expanded: what people are shown.
    pub written: Launch,
    /// The program as people see it before they trust the project that it is of, where that is
    /// another text than `written`.
    pub shown: Option<Box<ShownProgram>>,
    /// Sources of the user's own that are filled in, or would be if they were there, and the places
    /// that they go into.
    pub filled_in: BTreeSet<FilledIn>,
    /// Hash of `written`. Records of an upstream are kept under it, and so are found after a
    /// restart, and after a token was renewed.
    pub fingerprint: Fingerprint,
    /// Things that have to be set before the upstream can be started (DESIGN §5, needs-config).
    pub needs: Vec<Need>,
    /// Filter of the tools that are shown.
    pub filter: Filter,
    /// Rules for single clients, which are shown less.
    pub rules: ClientRules,
    /// Names of tools that the upstream is configured to have, to be shown until more is known.
    pub stubs: Vec<String>,
    /// Longest time for the start; a call has its time from the server's limits.
    pub start_timeout: Option<Duration>,
    /// Policy for items that are no longer what the user has approved.
    pub changes: ChangePolicy,
    /// Whether all sessions share one connection.
    pub share: bool,
}

/// Something that has to be set before a server can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Text of the launch that needs it (`env.TOKEN`), where it is one.
    pub place: Option<String>,
    /// Advice for the user, as sentences. Words of the file are quoted in it, and models are told
    /// those of the user's own files alone ([`Need::for_models`]).
    pub text: String,
}

impl Need {
    /// Returns the text for models: of a server of a project's file, only that something has to be
    /// set. The rest would be in the words of the project's author.
    #[must_use]
    pub fn for_models(&self, scope: &Scope) -> &str {
        match scope {
            Scope::Project(_) => {
                "something that its user has to set first is not set\n\
                 hint: `dormouse doctor` says what"
            }
            Scope::Managed | Scope::User | Scope::Local(_) => &self.text,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Name under which the variables of [`Bridge::written`] have the path of the file that more
/// variables are taken from. No variable has such a name.
pub(super) const ENV_FILE: &str = "=";

/// Most things of the user's that are filled into one server.
pub(super) const MAX_FILLED_IN: usize = 1000;

/// Something of the user's that a launch names, and that is filled in when the launch is read, or
/// would be if it were there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilledIn {
    /// Source of the value.
    pub source: FillSource,
    /// Text that the value goes into: `args[0]`, `headers.Authorization`.
    pub place: String,
}

/// A program as people see it before they trust a project: values from the project's files are
/// filled in, and variables of the user's stand as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownProgram {
    /// The program.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Working directory of the program.
    pub folder: Option<ShownFolder>,
}

/// Working directory of a program, as people see it before they trust a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownFolder {
    /// The folder itself.
    Known(PathBuf),
    /// Its text, where something of the user's is filled into it.
    Written(String),
}

/// Source of a value that is filled in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FillSource {
    /// A variable of the user's environment, by name.
    Variable(String),
    /// A file.
    File(PathBuf),
    /// A variable in a file of variables of the user's.
    VariableInFile {
        /// The variable's name.
        name: String,
        /// The file, which need not be there.
        file: PathBuf,
    },
    /// A variable in a file of variables of the project that the server is of.
    VariableInProjectFile {
        /// The variable's name.
        name: String,
        /// The file, as the project names it.
        file: PathBuf,
    },
    /// The user's answer to a client's question, by the id of the question.
    Input(String),
}

/// Longest time for the start of an upstream, where none is configured: a package runner may have
/// to download it first.
const START_TIMEOUT: Duration = Duration::from_secs(60);

impl Bridge {
    /// Whether something has to be set at `place` of the entry before the upstream can be started.
    pub(super) fn lacks(&self, place: &str) -> bool {
        let mut places = self.needs.iter().filter_map(|need| need.place.as_deref());
        places.any(|one| one == place)
    }

    /// Keeps the records of the upstream for one project alone: the same launch may reach something
    /// else in another folder.
    pub(super) fn keep_apart_in_project(&mut self, folder: &Path) {
        let is_apart = match &self.written {
            Launch::Stdio(stdio) => stdio.cwd.as_deref() == Some(folder),
            Launch::Http(_) => false,
        };
        // Older versions have kept it so where the folder is written in the launch.
        if !is_apart {
            self.fingerprint = self.fingerprint.in_project(folder);
        }
    }

    /// Keeps the records of the upstream for the folder that the host works in, where that folder
    /// decides which program is started: where it is started there, or is led there by a variable.
    pub(super) fn keep_apart_by_folder(&mut self, folder: &Path) {
        let (Launch::Stdio(written), Launch::Stdio(filled)) = (&self.written, &self.launch) else {
            return;
        };
        // A folder is the same by whichever link.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let real_folder = real(folder);
        let leads_there = |path: &Path| real(path).starts_with(&real_folder);
        let is_elsewhere = match (&written.cwd, &filled.cwd) {
            (Some(written), Some(filled)) => {
                !leads_there(filled)
                    || written.starts_with(folder)
                    || written.starts_with(&real_folder)
                    || written.starts_with("~")
            }
            _ => false,
        };
        // No text names a folder whose path is no text.
        let spellings = [folder, &*real_folder].map(Path::to_str);
        let names = |text: &str| {
            let path = Path::new(text);
            spellings
                .iter()
                .flatten()
                .any(|folder| text.contains(folder))
                || path.is_absolute() && leads_there(path)
        };
        let is_led_there = |written: &str, filled: &str| names(filled) && written != filled;
        let mut args = written.args.iter().zip(&filled.args);
        let mut env = filled.env.iter().map(|(name, value)| {
            let written = written.env.get(name);
            (written.map_or("", Secret::expose), value.expose())
        });
        if !is_elsewhere
            || is_led_there(&written.command, &filled.command)
            || args.any(|(written, filled)| is_led_there(written, filled))
            || env.any(|(written, filled)| is_led_there(written, filled))
        {
            self.fingerprint = self.fingerprint.in_folder(&real_folder);
        }
    }

    /// Returns the longest time for the start.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.start_timeout.unwrap_or(START_TIMEOUT)
    }
}

/// Hash of a bridge's configuration, and the scope of the records under it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Fingerprint {
    /// Hexadecimal digits.
    launch: String,
    known_of: KnownOf,
}

/// Scope of the records of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
enum KnownOf {
    /// The upstream, wherever it is started.
    #[default]
    Anywhere,
    /// The folder that the upstream is started in, where another one may start another program.
    Folder(PathBuf),
    /// The project whose file configures the upstream.
    Project(PathBuf),
}

impl Fingerprint {
    /// Makes the fingerprint of a launch, no variable expanded.
    #[must_use]
    pub fn of(launch: &Launch) -> Self {
        let mut hasher = blake3::Hasher::new();
        // Each part with its length, so that no two lists of parts are one text.
        let mut add_bytes = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        let mut add = |part: &str| add_bytes(part.as_bytes());
        let table = |add: &mut dyn FnMut(&str), values: &BTreeMap<String, Secret>| {
            add(&values.len().to_string());
            for (name, value) in values {
                add(name);
                add(value.expose());
            }
        };
        match launch {
            Launch::Stdio(stdio) => {
                add("stdio");
                add(&stdio.command);
                add(&stdio.args.len().to_string());
                stdio.args.iter().for_each(|arg| add(arg));
                table(&mut add, &stdio.env);
                let cwd = stdio.cwd.as_deref().map(Path::as_os_str);
                add_bytes(cwd.unwrap_or_default().as_encoded_bytes());
            }
            Launch::Http(http) => {
                add("http");
                add(&http.url);
                table(&mut add, &http.headers);
                // Who is logged in may see other tools. Where nothing is said, the
                // hash stays what it was before there was anything to say.
                for (key, text) in http.oauth.identity() {
                    add(key);
                    add(text);
                }
            }
        }
        Self {
            launch: hasher.finalize().to_hex().to_string(),
            known_of: KnownOf::Anywhere,
        }
    }

    /// Returns the fingerprint of the same launch, started in a folder.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        Self {
            launch: self.launch.clone(),
            known_of: KnownOf::Folder(folder.to_owned()),
        }
    }

    /// Returns the fingerprint of the same launch, in a file of a project's.
    #[must_use]
    pub fn in_project(&self, folder: &Path) -> Self {
        Self {
            launch: self.launch.clone(),
            known_of: KnownOf::Project(folder.to_owned()),
        }
    }

    /// Returns the fingerprint of the same launch, in whichever folder it is started.
    #[must_use]
    pub fn anywhere(&self) -> Self {
        let known_of = match &self.known_of {
            KnownOf::Anywhere | KnownOf::Folder(_) => KnownOf::Anywhere,
            KnownOf::Project(_) => self.known_of.clone(),
        };
        Self {
            launch: self.launch.clone(),
            known_of,
        }
    }

    /// Returns the fingerprint under which older versions keep a project's server; none for others.
    #[must_use]
    pub fn without_project(&self) -> Option<Self> {
        let is_of_project = matches!(self.known_of, KnownOf::Project(_));
        is_of_project.then(|| Self {
            launch: self.launch.clone(),
            known_of: KnownOf::Anywhere,
        })
    }

    /// Returns the folder that the launch is started in, where that makes a difference.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match &self.known_of {
            KnownOf::Folder(folder) => Some(folder),
            KnownOf::Anywhere | KnownOf::Project(_) => None,
        }
    }

    /// Returns the name of a file for the fingerprint, without an extension.
    #[must_use]
    pub fn file_stem(&self) -> String {
        let hash = |folder: &Path| blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
        match &self.known_of {
            KnownOf::Anywhere => self.launch.clone(),
            KnownOf::Folder(folder) => format!("{}{}", self.file_stem_of_folders(), hash(folder)),
            KnownOf::Project(folder) => format!("{}.of-{}", self.launch, hash(folder)),
        }
    }

    /// Returns the beginning of the [file stem](Self::file_stem) in every folder.
    #[must_use]
    pub fn file_stem_of_folders(&self) -> String {
        format!("{}.in-", self.anywhere().file_stem())
    }
}

/// Filter of an upstream's tools: shows those that `include` names (all of them, where there is
/// none), without those that `exclude` names. `*` stands for any characters.
///
/// Clients have a `_` for each character of a tool's name that is no letter, digit, `-` or `_`, and
/// deny the tool by that name. So `exclude` takes all of these characters for the same one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Names or patterns; none where all tools are shown.
    pub include: Option<Vec<String>>,
    /// Names or patterns; they win over `include`.
    pub exclude: Vec<String>,
    /// More lists, each of which has to have a tool for the tool to be shown: two lists of patterns
    /// are not one.
    pub also: Vec<Vec<String>>,
}

/// A [`Filter`] that is prepared for many tools.
pub struct ToolFilter<'f> {
    include: Vec<ToolNames<'f>>,
    exclude: ToolNames<'f>,
}

/// A list of names and patterns.
struct ToolNames<'f> {
    names: HashSet<Cow<'f, str>>,
    patterns: Vec<Cow<'f, str>>,
}

impl ToolFilter<'_> {
    /// Whether a tool is shown.
    #[must_use]
    pub fn shows(&self, tool: &str) -> bool {
        self.include.iter().all(|list| list.has(tool)) && !self.exclude.has(&plain(tool))
    }
}

impl<'f> ToolNames<'f> {
    fn of(list: &'f [String]) -> Self {
        Self::of_texts(list.iter().map(|one| Cow::Borrowed(one.as_str())))
    }

    /// Makes a list for names in which `_` stands for all that clients do not want there.
    fn of_plain(list: &'f [String]) -> Self {
        Self::of_texts(list.iter().map(|one| plain_pattern(one)))
    }

    fn of_texts(list: impl Iterator<Item = Cow<'f, str>>) -> Self {
        let all: HashSet<_> = list.collect();
        let (patterns, names): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one.contains('*'));
        Self {
            names: names.into_iter().collect(),
            patterns,
        }
    }

    fn has(&self, tool: &str) -> bool {
        let mut patterns = self.patterns.iter();
        self.names.contains(tool) || patterns.any(|pattern| matches(pattern, tool))
    }
}

impl Filter {
    /// Whether a tool is shown. For many tools, [`Self::of_tools`] is faster.
    #[must_use]
    pub fn shows(&self, tool: &str) -> bool {
        self.of_tools().shows(tool)
    }

    /// Prepares the filter for many tools: names that are no patterns are looked up.
    #[must_use]
    pub fn of_tools(&self) -> ToolFilter<'_> {
        let include = self.include.iter().chain(&self.also);
        ToolFilter {
            include: include.map(|list| ToolNames::of(list)).collect(),
            exclude: ToolNames::of_plain(&self.exclude),
        }
    }

    /// Returns a filter that shows no tools.
    #[must_use]
    pub fn none() -> Self {
        Self {
            exclude: vec!["*".to_owned()],
            ..Self::default()
        }
    }

    /// Returns about the memory of the lists, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let lists = self.include.iter().chain(&self.also);
        let all = lists.flatten().chain(&self.exclude);
        all.map(|one| size_of::<String>() + one.len()).sum()
    }

    /// Restricts the filter to tools that another filter shows, too.
    pub fn restrict(&mut self, other: &Self) {
        for list in other.include.iter().chain(&other.also) {
            if self.include.is_none() {
                self.include = Some(list.clone());
            } else if self.include.as_ref() != Some(list) && !self.also.contains(list) {
                self.also.push(list.clone());
            }
        }
        let known: HashSet<&String> = self.exclude.iter().collect();
        let mut taken = HashSet::new();
        let more = other.exclude.iter();
        let more = more.filter(|pattern| !known.contains(pattern) && taken.insert(*pattern));
        let more: Vec<String> = more.cloned().collect();
        self.exclude.extend(more);
    }

    /// Returns the included tools as one list: where there are several lists, the patterns of each
    /// that all others have, so that nothing more is shown.
    #[must_use]
    pub fn single_include(&self) -> Option<Vec<String>> {
        let first = self.include.as_ref()?;
        if self.also.is_empty() {
            return Some(first.clone());
        }
        let lists = || std::iter::once(first).chain(&self.also);
        let in_all =
            |pattern: &&String| lists().all(|list| list.iter().any(|of| matches(of, pattern)));
        let mut single: Vec<String> = lists().flatten().filter(in_all).cloned().collect();
        single.sort_unstable();
        single.dedup();
        Some(single)
    }

    /// Whether no tool is shown, whatever tools there are, as far as the lists alone tell that.
    #[must_use]
    pub fn shows_none(&self) -> bool {
        let is_empty = self.single_include().is_some_and(|list| list.is_empty());
        is_empty || self.exclude.iter().any(|pattern| pattern == "*")
    }

    /// Describes the shown tools for a person: of long lists, `most` patterns.
    #[must_use]
    pub fn told(&self, most: usize) -> String {
        let few = |patterns: &[String]| {
            let shown = patterns.iter().take(most);
            let shown: Vec<_> = shown
                .map(|pattern| format!("`{}`", visible_line(pattern)))
                .collect();
            match patterns.len().saturating_sub(most) {
                0 if shown.is_empty() => "none".to_owned(),
                0 => shown.join(", "),
                more => format!("{} and {more} more", shown.join(", ")),
            }
        };
        let lists = self.include.iter().chain(&self.also);
        let mut parts: Vec<_> = lists
            .map(|list| format!("of its tools only {}", few(list)))
            .collect();
        if !self.exclude.is_empty() {
            parts.push(match parts.is_empty() {
                true => format!("all of its tools but {}", few(&self.exclude)),
                false => format!("not {}", few(&self.exclude)),
            });
        }
        match parts.is_empty() {
            true => "all of its tools".to_owned(),
            false => parts.join(", and "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters() {
        // `-` for no list, which is something else than an empty one.
        let table = [
            ("-", "", "a", true),
            ("-", "a", "a", false),
            ("-", "a*", "abc", false),
            ("-", "*c", "abc", false),
            ("-", "a*c*e", "abcde", false),
            ("-", "a*c*e", "abcd", true),
            ("-", "a*a", "a", true),
            ("*", "", "a", true),
            ("", "", "a", false),
            ("a b", "", "b", true),
            ("a b", "", "bb", false),
            ("a*", "ab", "ab", false),
            ("-", "a_b", "a.b", false),
            ("-", "a_b", "a/b", false),
            ("-", "*_b", "a:b", false),
            ("-", "a.b", "a.b", false),
            ("-", "a.b", "ab", true),
            ("-", "a-b", "a_b", true),
            ("-", "a__", "a\u{1f600}", false),
            ("a_b", "", "a.b", false),
            ("a.b", "", "a.b", true),
        ];
        for (include, exclude, tool, shown) in table {
            let texts = |all: &str| all.split_whitespace().map(str::to_owned).collect();
            let filter = Filter {
                include: (include != "-").then(|| texts(include)),
                exclude: texts(exclude),
                also: Vec::new(),
            };
            assert_eq!(filter.shows(tool), shown, "{filter:?} {tool}");
            assert_eq!(filter.of_tools().shows(tool), shown, "{filter:?} {tool}");
        }
    }

    #[test]
    fn a_fingerprint_is_of_who_logs_in() {
        use dormouse_launch::{Http, OAuth};

        let of = |change: &dyn Fn(&mut OAuth)| {
            let mut http = Http {
                url: "https://x/mcp".into(),
                ..Http::default()
            };
            change(&mut http.oauth);
            Fingerprint::of(&Launch::Http(http))
        };
        let plain = of(&|_| {});
        assert_eq!(of(&|it| it.off = true), plain);
        assert_eq!(
            of(&|it| it.redirect_uri = Some("http://localhost:1/".into())),
            plain
        );
        let mine = of(&|it| it.client_id = Some("mine".into()));
        let scoped = of(&|it| it.scopes = vec!["mine".into()]);
        let secret = of(&|it| {
            it.client_id = Some("mine".into());
            it.client_secret = Some(Secret::new("hush"));
        });
        assert!(!secret.file_stem().contains("hush"));
        let all = [plain, mine, scoped, secret];
        for (i, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(i));
        }
    }

    /// Records that an older version has written are found by it, and of an upstream whose
    /// record is not found all is taken as seen. These are from 7475b5f.
    #[test]
    fn a_fingerprint_is_what_it_was_in_older_versions() {
        use dormouse_launch::{Http, Stdio};

        let scripted = |home: &str, name: &str, env: &[(&str, &str)]| {
            let files = [
                "scripted.py".into(),
                format!("{name}.starts"),
                format!("{name}.tools"),
            ];
            Launch::Stdio(Stdio {
                command: "python3".into(),
                written: None,
                args: files.map(|file| format!("${{{home}}}/mcp/{file}")).into(),
                env: env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
                    .collect(),
                cwd: None,
                pass_env: Vec::new(),
                filled_in: Vec::new(),
            })
        };
        let web = Launch::Http(Http {
            url: "http://127.0.0.1:${NOTES_PORT}/mcp".into(),
            ..Http::default()
        });
        for (launch, digits) in [
            (
                scripted("env:HOME", "calendar", &[]),
                "87694e4288b58241106d26bf192a0000a7961ca3931c8ce128cf54c5de181a6a",
            ),
            (
                scripted("HOME", "post", &[("GREETING", "hello")]),
                "94081f9b71195a4a81cfcc19dd4c2e4c989fca7dbfe6d86cd4bdb35844cab305",
            ),
            (
                web,
                "b152d1f1ae647029d00c4d4a2bc94b318c245853cc7cd3d2a629462661c395cd",
            ),
        ] {
            assert_eq!(Fingerprint::of(&launch).file_stem(), digits, "{launch:?}");
        }
    }

    #[test]
    fn a_fingerprint_is_of_every_part() {
        use dormouse_launch::Stdio;

        let launch = |args: &[&str], env: &[(&str, &str)]| {
            Launch::Stdio(Stdio {
                command: "npx".into(),
                written: None,
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
                    .collect(),
                cwd: None,
                pass_env: Vec::new(),
                filled_in: Vec::new(),
            })
        };
        let all = [
            launch(&[], &[]),
            launch(&["a"], &[]),
            launch(&["a", "b"], &[]),
            launch(&["ab"], &[]),
            launch(&[], &[("a", "b")]),
            launch(&[], &[("a", "${B}")]),
        ]
        .map(|launch| Fingerprint::of(&launch));
        for (i, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(i));
        }
    }

    #[test]
    fn filtering_takes_linear_time() {
        let names = |of: &str, size: usize| (0..size).map(|n| format!("{of}{n}")).collect();
        let filters = |size: usize| {
            let filter = |of: &str| Filter {
                include: Some(names("tool", size)),
                exclude: names(of, size),
                also: vec![names("tool", size), vec!["*".to_owned(); size]],
            };
            [filter("a"), filter("b")]
        };
        dormouse_tests::growth::is_linear("filters", 500, filters, |[one, other]| {
            let mut filter = one.clone();
            filter.restrict(other);
            let size = one.exclude.len();
            assert_eq!(filter.exclude.len(), 2 * size);
            let filter = filter.of_tools();
            let shown = (0..size).filter(|n| filter.shows(&format!("tool{n}")));
            assert_eq!(shown.count(), size);
        });
    }
}
