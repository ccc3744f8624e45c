//! Answers to the questions of clients.

use dormouse_launch::Secret;

use super::*;
use crate::Input;

const SERVERS: &str = r#"{
  "inputs": [{"type": "promptString", "id": "api key", "description": "The key", "password": true}],
  "servers": {"a": {"command": "x", "args": ["--key=${input:api key}"], "env": {"K": "${input:api key}"}}}
}"#;

fn found(inputs: &Inputs) -> FoundServer {
    let home = Home::empty();
    home.write("home/.config/Code/User/mcp.json", SERVERS);
    let discovery = discover_all(&home.around(), &[Client::VsCode], inputs);
    discovery.found.into_iter().next().unwrap()
}

fn needs(found: &FoundServer) -> Vec<String> {
    let needs = found.server.bridge().unwrap().needs.iter();
    needs.map(ToString::to_string).collect()
}

#[test]
fn a_question_names_what_to_write() {
    let found = found(&Inputs::new());
    let needs = needs(&found);
    assert_eq!(
        needs[1],
        "`env.K` asks for `api key` (`The key`)\n\
         hint: write it in dormouse.toml, below `[discovery.inputs]`: `\"api key\" = \"…\"`, \
         or `\"api key\" = { env = \"API_KEY\" }` for a variable of the environment"
    );
    // What it names is what is read.
    let (config, problems) = crate::file::parse(
        Path::new("/d.toml"),
        "[discovery.inputs]\n\"api key\" = { env = \"API_KEY\" }\n",
    );
    assert_eq!(problems, []);
    let answer = config.discovery.inputs.get("api key");
    assert_eq!(answer, Some(&Input::Variable("API_KEY".to_owned())));
}

#[test]
fn an_answer_is_filled_in_and_kept_to_itself() {
    let unanswered = found(&Inputs::new());
    assert_eq!(unanswered.own.unanswered.len(), 2);
    for (answer, value) in [
        (Input::Value(Secret::new("SECRET-INPUT")), "SECRET-INPUT"),
        (Input::Variable("API_KEY".to_owned()), "SECRET-KEY"),
    ] {
        let found = found(&Inputs::from([("api key".to_owned(), answer)]));
        let bridge = found.server.bridge().unwrap();
        assert_eq!(bridge.needs, []);
        let Launch::Stdio(stdio) = &bridge.launch else {
            panic!("{:?}", bridge.launch);
        };
        assert_eq!(stdio.env["K"].expose(), value);
        assert_eq!(stdio.args, [format!("--key={value}")]);
        // What people see and what is kept of it is the question.
        assert_eq!(bridge.written.to_string(), "x '--key=${input:api key}'");
        assert_eq!(
            bridge.fingerprint,
            unanswered.server.bridge().unwrap().fingerprint
        );
        // Taken over, the question is, too.
        let Launch::Stdio(own) = &found.own.launch else {
            panic!("{:?}", found.own.launch);
        };
        assert_eq!(own.args, ["--key=${input:api key}"]);
        assert_eq!(own.env["K"].expose(), "${input:api key}");
        assert_eq!(found.own.missing.len() + found.own.unanswered.len(), 0);
    }
}

#[test]
fn an_answer_in_a_variable_needs_the_variable() {
    let inputs = Inputs::from([("api key".to_owned(), Input::Variable("NOWHERE".to_owned()))]);
    assert_eq!(
        needs(&found(&inputs))[0],
        "set the environment variable `NOWHERE`, from which `[discovery.inputs]` takes `api key` for `args[0]`"
    );
}
