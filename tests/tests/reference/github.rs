//! The plugin `github` beside `@modelcontextprotocol/server-github`, each with a stand-in of
//! GitHub's API of its own.

mod calls;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use dormouse_tests::github_api::{GitHubApi, LIMITED, MOVED, TOKEN};
use dormouse_tests::{Client, Home, artifacts, client};
use serde_json::{Value, json};

use self::calls::calls;
use super::{is_error, words};

/// What the reference server answers to `tools/list`, as others have captured it.
const CAPTURE: &str = include_str!("../../fixtures/github/tools.json");

fn reference(api: &GitHubApi) -> Client {
    let package = "@modelcontextprotocol/server-github";
    let mut server = Command::new(artifacts::node().unwrap());
    server
        .arg("--import")
        .arg(artifacts::workspace().join("tests/servers/github_redirected.mjs"))
        .arg(artifacts::npm_file(package, "dist/index.js").unwrap())
        .env("GITHUB_API", api.url())
        .env("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN);
    Client::start(server.stderr(Stdio::null())).unwrap()
}

fn ours(home: &Home, api: &GitHubApi) -> Client {
    let url = api.url();
    let more = format!(
        "prefix = \"\"\n[servers.github.grants]\nhttp = [\"{url}\"]\n\
         [servers.github.settings]\napi = \"{url}\"\n\
         [servers.github.secrets]\ntoken = {{ env = \"GITHUB_TOKEN\", hosts = [\"{url}\"], header = \"Authorization\", value = \"Bearer {{}}\" }}"
    );
    home.server_with("github", &artifacts::plugin("github").unwrap(), &more)
        .unwrap();
    Client::start(home.command(&["serve"]).env("GITHUB_TOKEN", TOKEN)).unwrap()
}

/// Returns the arguments of a call, with the repository where a tool has one.
fn in_repository(name: &str, more: &Value, tool: &str) -> Value {
    let mut arguments = match tool {
        "create_repository" => json!({}),
        tool if tool.starts_with("search_") => json!({}),
        _ => json!({ "owner": "octocat", "repo": name }),
    };
    let more = more.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(more);
    arguments
}

/// Returns a text's JSON, in which 1.0 and 1 are the same.
fn parsed(text: &str) -> Value {
    fn alike(value: Value) -> Value {
        match value {
            Value::Number(number) => json!(number.as_f64()),
            Value::Array(items) => items.into_iter().map(alike).collect(),
            Value::Object(members) => {
                let members = members.into_iter();
                members.map(|(name, value)| (name, alike(value))).collect()
            }
            value => value,
        }
    }
    alike(serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

#[test]
fn has_the_same_tools() {
    let [our_api, their_api] = [(); 2].map(|()| GitHubApi::start().unwrap());
    let home = Home::new().unwrap();
    let ours = ours(&home, &our_api).tools().unwrap();
    let theirs = reference(&their_api).tools().unwrap();
    let capture: Value = serde_json::from_str(CAPTURE).unwrap();
    assert_eq!(capture["tools"], Value::Array(theirs.clone()));
    for theirs in theirs {
        let name = theirs["name"].as_str().unwrap();
        let ours = ours.iter().find(|tool| tool["name"] == name).unwrap();
        let told = |tool: &Value| words(tool["description"].as_str().unwrap());
        assert_eq!(told(ours), told(&theirs), "{name}");
        let [mut ours, mut theirs] = [ours, &theirs].map(|tool| tool["inputSchema"].clone());
        for schema in [&mut ours, &mut theirs] {
            schema.as_object_mut().unwrap().remove("$schema");
        }
        if name == "create_pull_request_review" {
            // A comment has a position or a line. There, that is one of two objects; here both are
            // optional.
            let place = "/properties/comments/items";
            let theirs = theirs.pointer_mut(place).unwrap();
            let either: Vec<_> = theirs["anyOf"].as_array().unwrap().clone();
            let ours = ours.pointer_mut(place).unwrap();
            for variant in either {
                assert_eq!(
                    variant["additionalProperties"],
                    ours["additionalProperties"]
                );
                for (name, schema) in variant["properties"].as_object().unwrap() {
                    assert_eq!(*schema, ours["properties"][name]);
                }
            }
            assert_eq!(ours["required"], json!(["path", "body"]));
            (*ours, *theirs) = (Value::Null, Value::Null);
        }
        assert_eq!(ours, theirs, "{name}");
    }
    assert_eq!(ours.len(), 29);
}

#[test]
fn answers_alike() {
    let [our_api, their_api] = [(); 2].map(|()| GitHubApi::start().unwrap());
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &our_api);
    let mut theirs = reference(&their_api);
    let capture: Value = serde_json::from_str(CAPTURE).unwrap();
    let all = capture["tools"].as_array().unwrap().iter();
    let all: BTreeSet<_> = all.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        calls()
            .iter()
            .map(|(tool, _)| *tool)
            .collect::<BTreeSet<_>>(),
        all
    );
    for (tool, arguments) in calls() {
        let [ours, theirs] =
            [&mut ours, &mut theirs].map(|it| parsed(&it.text(tool, arguments.clone()).unwrap()));
        assert_eq!(ours, theirs, "{tool} {arguments}");
    }
    // What each has written is the same, and so is what it has asked for, but for defaults.
    let [ours, theirs] = [&our_api, &their_api].map(|api| {
        let requests = api.requests().unwrap().into_iter();
        let writes = requests.filter(|request| request.method != "GET");
        writes
            .map(|write| (write.method, write.path, write.body))
            .collect::<Vec<_>>()
    });
    assert_eq!(ours, theirs);
    let query = |api: &GitHubApi, path: &str| {
        let all = api.requests().unwrap();
        let found = all
            .into_iter()
            .rfind(|request| request.path.ends_with(path));
        found.unwrap().query
    };
    for path in [
        "/issues",
        "/pulls",
        "/commits",
        "/search/issues",
        "/search/repositories",
    ] {
        assert_eq!(query(&our_api, path), query(&their_api, path), "{path}");
    }
}

#[test]
fn refuses_alike() {
    let [our_api, their_api] = [(); 2].map(|()| GitHubApi::start().unwrap());
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &our_api);
    let mut theirs = reference(&their_api);
    for (tool, repository, more, expected) in [
        (
            "get_issue",
            "Hello-World",
            json!({ "issue_number": 99 }),
            "Not Found: Resource not found: Not Found",
        ),
        (
            "get_file_contents",
            "nothing",
            json!({ "path": "x" }),
            "Not Found: Resource not found: Not Found",
        ),
        (
            "create_branch",
            "Hello-World",
            json!({ "branch": "main", "from_branch": "main" }),
            "Validation Error: Reference already exists\nDetails: {\"message\":\"Reference already exists\"",
        ),
        (
            "create_or_update_file",
            "Hello-World",
            json!({ "path": "README.md", "content": "", "message": "m", "branch": "main", "sha": "1" }),
            "Conflict: README.md does not match \"1\"",
        ),
        (
            "update_pull_request_branch",
            "Hello-World",
            json!({ "pull_number": 1347, "expected_head_sha": "0" }),
            "Validation Error: expected_head_sha didn",
        ),
        (
            "search_code",
            "",
            json!({ "q": "" }),
            "Validation Error: Validation Failed\nDetails: ",
        ),
        ("search_code", "", json!({ "q": "x", "per_page": 101 }), ""),
        ("list_issues", "Hello-World", json!({ "state": "ajar" }), ""),
        ("get_issue", "Hello-World", json!({}), ""),
        (
            "get_issue",
            "Hello-World",
            json!({ "issue_number": "1" }),
            "",
        ),
    ] {
        let arguments = in_repository(repository, &more, tool);
        let call = json!({ "name": tool, "arguments": arguments });
        let answer = theirs.outcome("tools/call", call).unwrap();
        let their_error = answer["error"]["message"].as_str().unwrap();
        let error = ours.error(tool, arguments.clone()).unwrap();
        assert!(error.starts_with(expected), "{arguments}: {error}");
        assert!(their_error.contains(expected), "{arguments}: {their_error}");
    }
}

/// What the reference server does not have, or gets wrong.
#[test]
fn goes_on_where_the_reference_server_does_not() {
    let api = GitHubApi::start().unwrap();
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &api);
    let mut call = |tool: &str, repository: &str, more: Value| {
        ours.call(tool, in_repository(repository, &more, tool))
            .unwrap()
    };
    let text = |result: &Value| client::text(result).unwrap().to_owned();
    for (tool, more) in [
        ("list_releases", json!({ "perPage": 1 })),
        ("get_latest_release", json!({})),
        ("get_release_by_tag", json!({ "tag": "v1.0.0" })),
    ] {
        let shown = parsed(&text(&call(tool, "Hello-World", more)));
        let release = shown.get(0).unwrap_or(&shown);
        let names: Vec<_> = release.as_object().unwrap().keys().collect();
        assert_eq!(
            (names.len(), release["author"]["login"].as_str()),
            (9, Some("octocat"))
        );
    }
    // A repository that has moved is found, also by what is written.
    let made = call("create_issue", MOVED, json!({ "title": "Here?" }));
    assert_eq!(parsed(&text(&made))["title"], "Here?");
    let made = call(
        "create_repository",
        "",
        json!({ "name": "pond", "autoInit": true }),
    );
    assert!(!is_error(&made), "{made}");
    assert_eq!(
        api.requests().unwrap().last().unwrap().body["auto_init"],
        true
    );
    // GitHub's own words for it have another status code than the reference server knows.
    let refused = text(&call("list_issues", LIMITED, json!({})));
    let expected = "Rate Limit Exceeded: API rate limit exceeded for user ID 583231.\nResets in ";
    assert!(refused.starts_with(expected), "{refused}");
    // No argument is a way to another part of the API.
    let before = api.requests().unwrap().len();
    for (name, path) in [("..", "x"), ("Hello-World", "../../../user"), ("", "x")] {
        let refused = call("get_file_contents", name, json!({ "path": path }));
        assert!(is_error(&refused), "{refused}");
    }
    assert_eq!(api.requests().unwrap().len(), before);
}

#[test]
fn a_missing_token_is_said_to_be_missing() {
    let api = GitHubApi::start().unwrap();
    let home = Home::new().unwrap();
    let url = api.url();
    let more = format!(
        "[servers.github.grants]\nhttp = [\"{url}\"]\n[servers.github.settings]\napi = \"{url}/\""
    );
    home.server_with("github", &artifacts::plugin("github").unwrap(), &more)
        .unwrap();
    let arguments = in_repository("Hello-World", &json!({}), "list_issues");
    let error = home
        .serve()
        .unwrap()
        .error("github__list_issues", arguments)
        .unwrap();
    let expected = "server `github` is not started: its plugin needs the secret `token`, which its user has not given it yet\n\
                    hint: `dormouse grant github --secret token`";
    assert_eq!(error, expected);
    assert_eq!(api.requests().unwrap().len(), 0);
}

/// From `add` to a closed issue, with a token that nobody sees but the API.
#[test]
fn a_new_user_closes_an_issue() {
    let api = GitHubApi::start().unwrap();
    let home = Home::new().unwrap();
    // As its author has packed it, but for the API that it asks for.
    let wit = home.path().join("wit");
    std::fs::create_dir(&wit).unwrap();
    for entry in std::fs::read_dir(artifacts::workspace().join("plugins/github/wit")).unwrap() {
        let file = entry.unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        let text = text.replace("https://api.github.com", &api.url());
        std::fs::write(wit.join(file.file_name()), text).unwrap();
    }
    let packed = home.path().join("github.wasm");
    let component = artifacts::plugin("github").unwrap();
    let words = [&component, &wit, &packed].map(|path| path.to_str().unwrap());
    let [component, wit, packed] = words;
    let succeeds = |words: &[&str]| {
        let output = home.run(words).unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        format!("{output:?}")
    };
    succeeds(&["pack", component, "--wit", wit, "--output", packed]);
    let said = succeeds(&["add", "github", packed]);
    assert!(said.contains("GET,POST,PUT,PATCH"), "{said}");
    let token = home.path().join("token");
    std::fs::write(&token, TOKEN).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let more = format!(
        "\n[servers.github.secrets]\ntoken = {{ file = '{}', hosts = [\"{url}\"], header = \"Authorization\", value = \"Bearer {{}}\" }}\n[servers.github.settings]\napi = \"{url}\"\n",
        token.display(),
        url = api.url()
    );
    let configuration = std::fs::read_to_string(home.config()).unwrap();
    std::fs::write(home.config(), configuration + &more).unwrap();

    let mut command = home.command(&["serve"]);
    command.env("DORMOUSE_LOG", "trace");
    let (log, stderr) = (home.path().join("log"), home.path().join("log"));
    command.stderr(std::fs::File::create(stderr).unwrap());
    let mut agent = Client::start_able(&mut command, json!({ "elicitation": {} })).unwrap();
    let always = json!({ "action": "accept", "content": { "answer": "always" } });
    agent.always_answers("elicitation/create", always);
    let mut call = |tool: &str, more: Value| {
        let arguments = in_repository("Hello-World", &more, tool);
        parsed(&agent.text(&format!("github__{tool}"), arguments).unwrap())
    };
    let issue = call(
        "create_issue",
        json!({ "title": "It sleeps", "labels": ["bug"] }),
    );
    let number = issue["number"].clone();
    call(
        "add_issue_comment",
        json!({ "issue_number": number, "body": "It is winter." }),
    );
    call(
        "update_issue",
        json!({ "issue_number": number, "state": "closed" }),
    );
    let issue = call("get_issue", json!({ "issue_number": number }));
    assert_eq!(
        (issue["state"].as_str(), issue["title"].as_str()),
        (Some("closed"), Some("It sleeps"))
    );
    // The user was asked once, in words that say what for.
    assert_eq!(agent.asked.len(), 1, "{:?}", agent.asked);
    let question = agent.asked[0]["params"]["message"].as_str().unwrap();
    assert!(
        question.contains("what its tools read and write"),
        "{question}"
    );
    for request in api.requests().unwrap() {
        assert_eq!(request.authorization, Some(format!("Bearer {TOKEN}")));
    }
    let mut seen = std::fs::read_to_string(log).unwrap();
    seen += &std::fs::read_to_string(home.config()).unwrap();
    seen += &serde_json::to_string(&(&agent.asked, &agent.notifications)).unwrap();
    assert!(!seen.contains(TOKEN) && seen.contains("github"), "{seen}");
}
