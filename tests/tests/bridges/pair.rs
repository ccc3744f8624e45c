//! The same server twice: started by its client itself, and behind Dormouse.

use std::path::{Path, PathBuf};

use anyhow::Result;
use dormouse_tests::{Client, Home, Upstream};
use serde_json::{Value, json};

use crate::difference::assert_same;

/// Placeholder, in requests and in answers, for the folder of that side: the other side's has
/// another name.
pub(crate) const HERE: &str = "{here}";

/// Returns the capabilities that a client declares. They are the same on both sides, because some
/// servers show more tools to clients that can do more.
pub(crate) fn able() -> Value {
    json!({
        "roots": { "listChanged": true },
        "sampling": {},
        "elicitation": { "form": {}, "url": {} },
    })
}

/// Client of one side.
pub(crate) struct Side {
    pub(crate) client: Client,
    folder: PathBuf,
    /// Prefix of the names of tools and prompts.
    prefix: String,
}

impl Side {
    pub(crate) fn new(client: Client, folder: PathBuf, prefix: String) -> Self {
        let mut client = client;
        // Servers of files take a client's roots for all that they may touch.
        let uri = format!("file://{}", folder.display());
        let roots = json!({ "roots": [{ "uri": uri, "name": "project" }] });
        client.always_answers("roots/list", roots);
        Self {
            client,
            folder,
            prefix,
        }
    }

    /// Returns a request as this side has to be sent it.
    pub(crate) fn request(&self, method: &str, params: &Value) -> Value {
        let mut params = self.with(params, HERE, &self.folder.display().to_string());
        let named = match method {
            "tools/call" | "prompts/get" => params.pointer_mut("/name"),
            "completion/complete" => params.pointer_mut("/ref/name"),
            _ => None,
        };
        if let Some(name) = named {
            *name = json!(format!("{}{}", self.prefix, name.as_str().unwrap()));
        }
        params
    }

    /// Returns an answer of this side, without the parts that only this side can have.
    pub(crate) fn told(&self, answer: &Value) -> Value {
        let mut told = self.with(answer, &self.folder.display().to_string(), HERE);
        // Whose the words are is all that is said besides.
        if let Some(name) = self.prefix.strip_suffix("__") {
            told = self.with(&told, &format!("[server `{name}`] "), "");
            let logger = told.pointer_mut("/params/logger");
            if let Some(logger) = logger {
                assert_eq!(*logger, json!(name));
                told["params"]
                    .as_object_mut()
                    .unwrap()
                    .shift_remove("logger");
            }
            if let Some(id) = told.pointer_mut("/params/elicitationId") {
                *id = json!(of_server(name, id));
            }
            let pages = told.pointer_mut("/error/data/elicitations");
            for page in pages.and_then(Value::as_array_mut).into_iter().flatten() {
                page["elicitationId"] = json!(of_server(name, &page["elicitationId"]));
            }
        }
        told
    }

    /// Returns a value in which one text stands for another one.
    fn with(&self, value: &Value, of: &str, by: &str) -> Value {
        edited(value, &|text| text.replace(of, by))
    }

    /// Sends a request, and returns its outcome.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let params = self.request(method, params);
        let outcome = self.client.outcome(method, params);
        let outcome = outcome.unwrap_or_else(|error| panic!("{method}: {error:#}"));
        self.told(&outcome)
    }

    /// Returns all that is listed, with the names that the server itself has given.
    pub(crate) fn list(&mut self, method: &str, key: &str) -> Vec<Value> {
        let mut items = self.client.list(method, key).unwrap();
        // Dormouse's own commands and its status are there besides.
        items.retain(|item| match key {
            "prompts" => item["name"].as_str().unwrap().starts_with(&self.prefix),
            "resources" => !item["uri"].as_str().unwrap().starts_with("dormouse:"),
            _ => true,
        });
        for item in &mut items {
            let name = item["name"].as_str().unwrap();
            if matches!(key, "tools" | "prompts") {
                let own = name.strip_prefix(&self.prefix);
                let own = own.unwrap_or_else(|| panic!("`{name}` is without `{}`", self.prefix));
                item["name"] = json!(own);
            }
            *item = self.told(item);
        }
        items
    }
}

/// The same server on both sides.
pub(crate) struct Pair {
    pub(crate) direct: Side,
    pub(crate) through: Side,
    /// Home, kept until the end, because the host lives in it.
    pub(crate) home: Home,
}

impl Pair {
    /// Starts a server directly, and one behind Dormouse that knows it already.
    /// Each has a folder of its own, which is filled before.
    pub(crate) fn start(
        name: &str,
        fill: fn(&Path),
        upstream: impl Fn(&Path) -> Result<Upstream>,
    ) -> Self {
        let home = Home::new().unwrap();
        let folders = ["direct", "through"].map(|side| {
            // Real, because servers name real paths in their answers.
            let folder = home.path().canonicalize().unwrap().join(side);
            std::fs::create_dir(&folder).unwrap();
            fill(&folder);
            folder
        });
        let [direct, through] = folders;
        home.upstream(name, &upstream(&through).unwrap(), "")
            .unwrap();
        let mut command = upstream(&direct).unwrap().command();
        command.envs(home.environment());
        let client = Client::start_able(&mut command, able()).unwrap();
        let direct = Side::new(client, direct, String::new());
        Self::with(home, name, direct, through)
    }

    /// Makes the same pair, where one side is there already.
    pub(crate) fn with(home: Home, name: &str, direct: Side, through: PathBuf) -> Self {
        home.synced(name).unwrap();
        let client = Client::start_able(&mut home.command(&["serve"]), able()).unwrap();
        let through = Side::new(client, through, format!("{name}__"));
        Self {
            direct,
            through,
            home,
        }
    }

    /// Checks that both sides answer a request alike. Returns the answer.
    #[track_caller]
    pub(crate) fn same(&mut self, method: &str, params: Value) -> Value {
        self.alike(method, params, str::to_owned)
    }

    /// Checks that both sides answer a request alike, but for what is masked in every text because
    /// it is never the same twice.
    #[track_caller]
    pub(crate) fn alike(
        &mut self,
        method: &str,
        params: Value,
        mask: impl Fn(&str) -> String,
    ) -> Value {
        let direct = edited(&self.direct.ask(method, &params), &mask);
        let through = edited(&self.through.ask(method, &params), &mask);
        assert_same(&through, &direct, &format!("{method} {params}"));
        direct
    }

    /// Calls a tool on both sides. Returns the text of the result, which is no error.
    #[track_caller]
    pub(crate) fn same_call(&mut self, tool: &str, arguments: Value) -> String {
        self.alike_call(tool, arguments, str::to_owned)
    }

    /// Does the same, masked.
    #[track_caller]
    pub(crate) fn alike_call(
        &mut self,
        tool: &str,
        arguments: Value,
        mask: impl Fn(&str) -> String,
    ) -> String {
        let params = json!({ "name": tool, "arguments": arguments });
        let outcome = self.alike("tools/call", params, mask);
        let result = &outcome["result"];
        assert_ne!(result["isError"], true, "{tool}: {outcome}");
        text(result)
    }

    /// Calls a tool on both sides, which fails on both. Returns the error.
    #[track_caller]
    pub(crate) fn same_failure(&mut self, tool: &str, arguments: Value) -> String {
        let params = json!({ "name": tool, "arguments": arguments });
        let outcome = self.same("tools/call", params);
        let result = &outcome["result"];
        assert_eq!(result["isError"], true, "{tool}: {outcome}");
        text(result)
    }

    /// Checks that both sides list the same, in the same order. Returns the names.
    #[track_caller]
    pub(crate) fn same_list(&mut self, method: &str, key: &str) -> Vec<String> {
        let mut direct = self.direct.list(method, key);
        // What is called as a task alone is shown to nobody.
        direct.retain(|item| item["execution"]["taskSupport"] != "required");
        let through = self.through.list(method, key);
        let names = |items: &[Value]| -> Vec<String> {
            let names = items.iter().map(|item| item["name"].as_str().unwrap());
            names.map(str::to_owned).collect()
        };
        // First the names alone, which are easier to look at.
        assert_eq!(names(&through), names(&direct), "{method}");
        for (through, direct) in through.iter().zip(&direct) {
            assert_same(through, direct, &format!("{method}: {}", direct["name"]));
        }
        names(&direct)
    }

    /// Checks that the tools are the same.
    #[track_caller]
    pub(crate) fn same_tools(&mut self) -> Vec<String> {
        self.same_list("tools/list", "tools")
    }

    /// Waits for the same notification on both sides. Returns its parameters.
    #[track_caller]
    pub(crate) fn same_notification(&mut self, method: &str) -> Value {
        let [direct, through] = [&mut self.direct, &mut self.through].map(|side| {
            let message = side
                .client
                .notification(method, dormouse_tests::client::PATIENCE);
            let message = message.unwrap();
            side.told(message.get("params").unwrap_or(&Value::Null))
        });
        assert_same(&through, &direct, method);
        direct
    }
}

/// Returns the text of a result: that of all its blocks which are text.
fn text(result: &Value) -> String {
    let blocks = result["content"].as_array();
    let blocks = blocks.unwrap_or_else(|| panic!("no content in {result}"));
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns a value with every text in it edited; names of members are left alone. Numbers are
/// compared by their values, so that `1.0` is `1`, as in JSON.
fn edited(value: &Value, edit: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => json!(edit(text)),
        Value::Number(number) => match number.as_f64() {
            Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole.abs() < 1e15 => {
                json!(whole as i64)
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| edited(item, edit)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), edited(value, edit)))
            .collect(),
        other => other.clone(),
    }
}

/// Returns the id of a page as its server has given it.
#[track_caller]
fn of_server(server: &str, id: &Value) -> String {
    let own = id.as_str().and_then(|id| {
        let id = id.strip_prefix(server)?;
        id.strip_prefix('/')
    });
    own.unwrap_or_else(|| panic!("{id} is without `{server}`"))
        .to_owned()
}

/// Masks every digit: times and dates.
pub(crate) fn no_digits(text: &str) -> String {
    text.replace(|letter: char| letter.is_ascii_digit(), "#")
}

/// Masks texts that may be a random identifier or a hash: every run of hexadecimal digits and `-`
/// that is longer than words are.
pub(crate) fn no_identifiers(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let of_run = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        let run = rest.find(|letter| !of_run(letter)).unwrap_or(rest.len());
        if run > 6 {
            masked.push('#');
            rest = &rest[run..];
        } else {
            let length = run.max(letter.len_utf8());
            masked.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    masked
}
