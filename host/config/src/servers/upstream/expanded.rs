//! Launches with every variable expanded.

use super::*;

/// A launch with its variables expanded.
pub(super) struct ExpandedLaunch {
    pub(super) launch: Launch,
    /// Needs for the variables that are missing.
    pub(super) needs: Vec<Need>,
    /// Sources that the launch is made of, and the place of each.
    pub(super) filled_in: BTreeSet<FilledIn>,
    /// Whether all variables are expanded: not where that would be too much.
    pub(super) is_whole: bool,
}

impl DocumentReader<'_> {
    /// Expands the variables of a launch. Where that would be too much, adds a problem, and expands
    /// no more of them.
    pub(super) fn expanded(
        &mut self,
        at: &str,
        span: Option<Range<usize>>,
        written: &Launch,
    ) -> ExpandedLaunch {
        let left = match self.variables {
            // No file is so large that its own text would be too much.
            VariableHandling::Kept => None,
            VariableHandling::FilledIn(left) => Some(Cell::new(left.unwrap_or(usize::MAX))),
        };
        let is_too_much = Cell::new(false);
        let inputs = self.inputs.clone().unwrap_or_default();
        let mut missing: BTreeMap<String, String> = BTreeMap::new();
        let mut filled_in = BTreeSet::new();
        let secrets_filled_in = RefCell::new(Vec::new());
        let mut text = |text: &str, place: &str| {
            let Some(left) = &left else {
                return text.to_owned();
            };
            let named = RefCell::new(Vec::new());
            let expanded = expand(text, &|name| {
                named.borrow_mut().push(name.to_owned());
                let id = name.strip_prefix(INPUT);
                let value = match id.map(|id| inputs.get(id)) {
                    None => std::env::var(name).ok()?,
                    Some(answer) => match answer? {
                        Input::Value(value) => value.expose().to_owned(),
                        Input::Variable(name) => std::env::var(name).ok()?,
                    },
                };
                match left.get().checked_sub(value.len()) {
                    Some(rest) => left.set(rest),
                    None => {
                        left.set(0);
                        is_too_much.set(true);
                        return Some(String::new());
                    }
                }
                let secret = match id {
                    Some(_) => Some(value.as_str().into()),
                    None => secret_in(name, &value),
                };
                secrets_filled_in
                    .borrow_mut()
                    .extend(secret.map(Secret::new));
                Some(value)
            });
            for name in named.into_inner() {
                if filled_in.len() >= MAX_FILLED_IN {
                    is_too_much.set(true);
                    break;
                }
                filled_in.insert(FilledIn {
                    source: match name.strip_prefix(INPUT) {
                        Some(id) => FillSource::Input(id.to_owned()),
                        None => FillSource::Variable(name),
                    },
                    place: place.to_owned(),
                });
            }
            for name in expanded.missing {
                missing.entry(name).or_insert_with(|| place.to_owned());
            }
            expanded.text
        };
        let mut launch = match written {
            Launch::Stdio(stdio) => {
                let base = self.file.parent().unwrap_or(Path::new(""));
                let args = stdio.args.iter().enumerate();
                Launch::Stdio(Stdio {
                    command: program(text(&stdio.command, "command"), base),
                    written: Some(stdio.command.clone()),
                    args: args
                        .map(|(index, arg)| text(arg, &format!("args[{index}]")))
                        .collect(),
                    env: secrets("env", &stdio.env, &mut text),
                    cwd: stdio.cwd.as_deref().map(|cwd| {
                        let cwd = text(&cwd.to_string_lossy(), "cwd");
                        paths::expand(&cwd, base).unwrap_or_else(|_| PathBuf::from(cwd))
                    }),
                    filled_in: Vec::new(),
                    pass_env: stdio.pass_env.clone(),
                })
            }
            Launch::Http(http) => Launch::Http(Http {
                url: text(&http.url, "url"),
                written: Some(http.url.clone()),
                headers: secrets("headers", &http.headers, &mut text),
                transport: http.transport,
                oauth: http
                    .oauth
                    .map(&mut |value, key| text(value, &format!("oauth.{key}"))),
                filled_in: Vec::new(),
            }),
        };
        launch.set_filled_in(secrets_filled_in.into_inner());
        if let Some(left) = left {
            self.variables = VariableHandling::FilledIn(Some(left.get()));
        }
        if is_too_much.get() {
            let message = format!("too much is filled into `[{at}]` and the servers before it");
            let hint = format!(
                "`filled_in` in `[discovery]` says how much may be, of at most {MAX_FILLED_IN} \
                 variables in one server"
            );
            self.problem(span, message, Some(hint));
        }
        let needs = missing.into_iter().map(|(name, place)| {
            let id = name.strip_prefix(INPUT);
            let text = match id.map(|id| (id, inputs.get(id))) {
                None => {
                    let name = unquoted(&name);
                    format!(
                        "the environment variable `{name}` is not set\nhint: set it where your \
                         agent starts `dormouse serve`, or write `${{{name}:-…}}`"
                    )
                }
                Some((id, Some(Input::Variable(variable)))) => format!(
                    "set the environment variable {}, from which `[discovery.inputs]` takes {} \
                     for `{place}`",
                    quoted(variable),
                    quoted(id)
                ),
                Some((id, _)) => questions::unanswered(&place, id),
            };
            Need {
                place: Some(place),
                text,
            }
        });
        ExpandedLaunch {
            needs: needs.collect(),
            launch,
            filled_in,
            is_whole: !is_too_much.get(),
        }
    }
}

/// Expands a `~` for the user's home at the beginning of the path of a program: nothing that starts
/// it does.
fn program(command: String, base: &Path) -> String {
    let is_of_home = command
        .strip_prefix('~')
        .is_some_and(|rest| rest.starts_with(std::path::is_separator));
    if !is_of_home {
        return command;
    }
    let path = paths::expand(&command, base).ok();
    let path = path.and_then(|path| path.into_os_string().into_string().ok());
    path.unwrap_or(command)
}

fn secrets(
    key: &str,
    values: &BTreeMap<String, Secret>,
    expand: &mut dyn FnMut(&str, &str) -> String,
) -> BTreeMap<String, Secret> {
    let values = values.iter();
    values
        .map(|(name, value)| {
            let value = expand(value.expose(), &within(key, name));
            (name.clone(), Secret::new(value))
        })
        .collect()
}
