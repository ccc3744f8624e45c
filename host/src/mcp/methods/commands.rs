//! Dormouse's own commands, which clients show their users as slash commands: MCP
//! prompts that do what they say.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::mcp::messages::error_object::ErrorObject;
use crate::roster::{ApprovalOutcome, Roster, Snapshot, Status};

/// Command that clients are offered as a prompt.
struct PromptCommand {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Whether it is about one server.
    about_one: bool,
    /// Whether it changes the configuration.
    changes: bool,
}

const COMMANDS: [PromptCommand; 5] = [
    PromptCommand {
        name: "servers",
        title: "Servers",
        description: "Lists the MCP servers behind Dormouse, and what state each is in.",
        about_one: false,
        changes: false,
    },
    PromptCommand {
        name: "status",
        title: "Server status",
        description: "Says all about one of the MCP servers behind Dormouse.",
        about_one: true,
        changes: false,
    },
    PromptCommand {
        name: "enable",
        title: "Enable a server",
        description: "Shows the tools of one of the MCP servers behind Dormouse again, for good.",
        about_one: true,
        changes: true,
    },
    PromptCommand {
        name: "disable",
        title: "Disable a server",
        description: "Stops one of the MCP servers behind Dormouse and hides its tools, for good.",
        about_one: true,
        changes: true,
    },
    PromptCommand {
        name: APPROVE,
        title: "Approve what has changed",
        description: "Shows you what one of the MCP servers behind Dormouse offers that you have \
            not approved as it is now, and asks whether you do.",
        about_one: true,
        changes: true,
    },
];

/// The command that asks its user something, which [`run`] does not carry out.
const APPROVE: &str = "approve";

/// The only argument of commands on one server.
const SERVER: &str = "server";

/// The command of that name. No server has a prompt that is shown under it.
fn find(name: &str) -> Option<&'static PromptCommand> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// Appends the MCP `Prompt` objects of the commands to the text of a list.
pub(in crate::mcp) fn append(list: &mut String) {
    for command in &COMMANDS {
        let mut prompt = json!({
            "name": command.name,
            "title": command.title,
            "description": command.description,
        });
        if let (true, Some(prompt)) = (command.about_one, prompt.as_object_mut()) {
            let argument = json!([{
                "name": SERVER,
                "description": "The server's name.",
                "required": true,
            }]);
            prompt.insert("arguments".into(), argument);
        }
        push(list, &prompt);
    }
}

/// URI of the resource in which agents read the status of all servers.
const STATUS: &str = "dormouse://status";

/// Whether a resource is the status. No server can have one of its scheme.
pub(in crate::mcp) fn is_status(uri: &str) -> bool {
    uri == STATUS
}

/// Appends the MCP `Resource` object of the status to the text of a list.
pub(in crate::mcp) fn append_status(list: &mut String) {
    let resource = json!({
        "uri": STATUS,
        "name": "status",
        "title": "Dormouse's status",
        "description": "The MCP servers behind Dormouse: state, calls, errors, where each is configured.",
        "mimeType": "application/json",
    });
    push(list, &resource);
}

/// The status: an MCP `ReadResourceResult`. None where another resource is asked for.
pub(in crate::mcp) fn read_status(
    roster: &Roster,
    snapshot: &Snapshot,
    profile: Option<&str>,
    uri: &str,
) -> Option<Value> {
    let is_it = uri == STATUS;
    let text = is_it.then(|| {
        let mut status = status_of(roster, snapshot);
        if profile.is_some() || roster.serves_a_part() {
            status.keep_of_profile(profile);
        }
        serde_json::to_string_pretty(&status)
    })?;
    let text = text.unwrap_or_default();
    let contents = json!([{ "uri": STATUS, "mimeType": "application/json", "text": text }]);
    Some(json!({ "contents": contents }))
}

/// Returns the status as agents are told it: of a project that is not trusted only that it is
/// there, and of an upstream's unseen texts only their number, as a name may be any text. Of
/// running servers agents are told the program or the host: arguments, paths and variables are
/// their user's. Of servers that they do not see, nothing.
fn status_of(roster: &Roster, snapshot: &Snapshot) -> Status {
    let mut status = roster.status_in(snapshot);
    for server in &mut status.servers {
        let seen = snapshot.tools().iter();
        server.tools = seen.filter(|tool| tool.server() == server.name).count();
        server.server_info = None;
        server.component = server
            .component
            .take()
            .and_then(|file| file.file_name().map(PathBuf::from));
        server.upstream = snapshot
            .servers()
            .get(&server.name)
            .and_then(|server| server.config().bridge())
            .map(|bridge| bridge.written.without_arguments());
        server.changed.clear();
        let count = server.not_shown.len();
        if count > 0 {
            server.not_shown = vec![format!(
                "{count} of what it offers is not shown\n\
                 hint: `dormouse status` says what and why"
            )];
        }
    }
    if let Some(project) = &mut status.untrusted {
        project.folder = None;
    }
    status
}

/// Appends an object to the text of a list.
pub(in crate::mcp) fn push(list: &mut String, object: &Value) {
    if list.pop() != Some(']') {
        return;
    }
    if !list.ends_with('[') {
        list.push(',');
    }
    // Writing to a string cannot fail.
    let _ = write!(list, "{object}]");
}

/// The names that a command's argument can be completed to; none where it is no
/// command.
pub(in crate::mcp) fn complete(name: &str, snapshot: &Snapshot) -> Option<Vec<String>> {
    let command = find(name)?;
    let servers = snapshot.servers().iter();
    let servers = servers.filter(|(_, server)| {
        command.about_one && (name != APPROVE || !server.pending().is_empty())
    });
    Some(servers.map(|(name, _)| name.clone()).collect())
}

/// Returns the server whose pending items a request asks its user to approve. None where it does
/// not, or where [`run`] refuses it.
pub(in crate::mcp) fn approves(
    snapshot: &Snapshot,
    name: &str,
    arguments: &Map<String, Value>,
    may_decide: bool,
) -> Option<Result<String, ErrorObject>> {
    let command = find(name).filter(|_| name == APPROVE && may_decide)?;
    Some(about(snapshot, command, arguments))
}

/// Returns the text for the user on the outcome of an approval: an MCP `GetPromptResult`.
pub(in crate::mcp) fn approved(server: &str, outcome: &ApprovalOutcome) -> Value {
    let items = |count: usize| match count {
        1 => "1 item".to_owned(),
        count => format!("{count} items"),
    };
    let said = match outcome {
        ApprovalOutcome::NothingWaits => {
            format!("Nothing of the MCP server `{server}` waits to be approved.")
        }
        ApprovalOutcome::Approved(count) => format!(
            "I have approved what waited of the MCP server `{server}` ({}).",
            items(*count)
        ),
        ApprovalOutcome::Waits { count, why } => format!(
            "What waits of the MCP server `{server}` ({}) is not approved: {why}. On a terminal, \
             `dormouse approve {server}` shows it, and allows it.",
            items(*count)
        ),
    };
    let command = find(APPROVE).map_or("", |command| command.description);
    message(command, &format!("{said} Say so, and nothing else."))
}

/// Carries a command out, and returns an MCP `GetPromptResult`. None where there is no such
/// command. Over HTTP, where the context may be somebody else than the user, no server is switched
/// on or off, and nothing is approved.
pub(in crate::mcp) fn run(
    roster: &Roster,
    snapshot: &Snapshot,
    name: &str,
    arguments: &Map<String, Value>,
    may_decide: bool,
) -> Option<Result<Value, ErrorObject>> {
    let command = find(name)?;
    if command.changes && !may_decide {
        let why = format!(
            "`{name}` does nothing over HTTP, where anybody may say it\n\
             hint: `dormouse {name}` does that"
        );
        return Some(Err(ErrorObject::invalid_request(why)));
    }
    let said = said(roster, snapshot, command, arguments);
    Some(said.map(|text| message(command.description, &text)))
}

/// An MCP `GetPromptResult` with one text.
fn message(description: &str, text: &str) -> Value {
    json!({
        "description": description,
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    })
}

fn said(
    roster: &Roster,
    snapshot: &Snapshot,
    command: &PromptCommand,
    arguments: &Map<String, Value>,
) -> Result<String, ErrorObject> {
    if !command.about_one {
        return Ok(table(roster, snapshot));
    }
    let server = about(snapshot, command, arguments)?;
    match command.name {
        "enable" => switch(roster, &server, true),
        "disable" => switch(roster, &server, false),
        _ => status(roster, snapshot, &server),
    }
}

/// The server that a command is about.
fn about(
    snapshot: &Snapshot,
    command: &PromptCommand,
    arguments: &Map<String, Value>,
) -> Result<String, ErrorObject> {
    let Some(wanted) = arguments.get(SERVER).and_then(Value::as_str) else {
        let why = format!("`{}` needs the argument `{SERVER}`", command.name);
        return Err(ErrorObject::invalid_params(why));
    };
    named(snapshot, wanted)
}

/// A server by its name, however its letters are written.
fn named(snapshot: &Snapshot, wanted: &str) -> Result<String, ErrorObject> {
    let mut names = snapshot.servers().keys();
    let wanted = wanted.trim();
    let exact = snapshot
        .servers()
        .get_key_value(wanted)
        .map(|(name, _)| name);
    let found = exact.or_else(|| names.find(|name| name.eq_ignore_ascii_case(wanted)));
    found.cloned().ok_or_else(|| {
        let unknown = dormouse_config::name::Unknown::new(
            wanted,
            snapshot.servers().keys().map(String::as_str),
        );
        ErrorObject::invalid_params(unknown.to_string())
    })
}

fn switch(roster: &Roster, server: &str, on: bool) -> Result<String, ErrorObject> {
    let failed = |error: anyhow::Error| ErrorObject::internal_error(format!("{error:#}"));
    let changed = roster.set_enabled(server, on).map_err(failed)?;
    let state = if on { "enabled" } else { "disabled" };
    let now = if changed { "now" } else { "already" };
    let snapshot = roster.snapshot();
    let found = snapshot.servers().get(server).filter(|_| on);
    let off = found.and_then(|found| found.switched_off());
    Ok(match off {
        Some(off) => format!(
            "Say this, and nothing else: the MCP server `{server}` is {}.",
            off.replace("\nhint: ", "; ")
        ),
        None => {
            format!("The MCP server `{server}` is {now} {state}. Say so, and nothing else.")
        }
    })
}

fn table(roster: &Roster, snapshot: &Snapshot) -> String {
    let status = status_of(roster, snapshot);
    let mut text = String::from(
        "Show me this table of the MCP servers behind Dormouse as it is:\n\n\
         | server | state | tools | what runs |\n|---|---|---|---|\n",
    );
    for server in &status.servers {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            server.name,
            server.state.in_words(),
            server.tools_in_words(),
            server.runs()
        );
    }
    for server in &status.servers {
        if let Some(waiting) = &server.waiting {
            let _ = writeln!(text, "\n(`{}`: {waiting})", server.name);
        }
    }
    if let Some(project) = &status.untrusted {
        let _ = writeln!(text, "\n({})", project.hint());
    }
    if status.servers.is_empty() {
        text.push_str("\n(There are none: `dormouse add` and `dormouse import` add some.)\n");
    }
    text
}

fn status(roster: &Roster, snapshot: &Snapshot, server: &str) -> Result<String, ErrorObject> {
    let status = status_of(roster, snapshot);
    let found = status.servers.iter().find(|found| found.name == server);
    let text = found.map(serde_json::to_string_pretty).transpose();
    let text = text.map_err(|error| ErrorObject::internal_error(error.to_string()))?;
    Ok(format!(
        "Tell me in a few lines how the MCP server `{server}` behind Dormouse is, from this:\n\n\
         ```json\n{}\n```",
        text.unwrap_or_default()
    ))
}
