//! `dormouse approve` and `dormouse diff`

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use dormouse_text::nearest::nearest;
use dormouse_text::visible::visible_line;

use super::consent::consent;
use super::{hosts, output, tools};
use crate::roster::{Gone, Places, Roster, Server, counts, difference};
use crate::store::{Pending, Selection};

/// Allows what servers offer that is no longer what you have approved, or new.
#[derive(Debug, Args)]
#[command(
    after_help = "A server that is trusted today could tell your model something else tomorrow. So \
    agents go on seeing what it says to a model (tools, prompts, resource templates, \
    instructions) as you have approved it, and what is new is not shown. What you are shown is \
    what is allowed: if it changes meanwhile, nothing is.\n\n\
    Examples:\n  \
    dormouse approve github              all that has changed of `github`\n  \
    dormouse approve github get_issue    of one tool\n  \
    dormouse approve --all               of all servers, one by one"
)]
pub(super) struct ApproveArgs {
    /// The server's name.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    server: Option<String>,
    /// Only these tools of it.
    tools: Vec<String>,
    /// All servers of which something waits, one by one.
    #[arg(long)]
    all: bool,
    /// Do not ask: what is shown is allowed. It is logged that nobody was asked.
    #[arg(short, long)]
    yes: bool,
    /// Only show what has changed, as `dormouse diff` does.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

impl ApproveArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places)?;
        let tools: BTreeSet<String> = self.tools.into_iter().collect();
        let tools = (!tools.is_empty()).then_some(&tools);
        let mut code = ExitCode::SUCCESS;
        for waiting in waiting(&roster, self.server.as_deref(), tools)? {
            let lines = waiting.show()?;
            if self.dry_run {
                continue;
            }
            let WaitingServer {
                server, pending, ..
            } = waiting;
            if pending.is_empty() {
                // There is nothing to be allowed, and it has been shown.
                roster.take_note_of_gone(&server)?;
                hosts::reload(roster.config_path())?;
                continue;
            }
            // Of a long text, its reader may have seen the end alone.
            let lines = output::counted(lines as u64, "line");
            let question = format!("Allow all of this of `{server}` as it is now, in {lines}?");
            let Some(by) = consent(&question, self.yes)? else {
                code = ExitCode::FAILURE;
                continue;
            };
            let approved = roster.approve(&server, &pending.digest(), tools, by)?;
            let items = output::counted(approved.len() as u64, "item");
            output::say(&format!("{items} of `{server}` allowed"));
            hosts::reload(roster.config_path())?;
        }
        tell_outdated(&roster, self.server.as_deref());
        Ok(code)
    }
}

/// Shows what of servers is no longer what you have approved, or new.
#[derive(Debug, Args)]
#[command(after_help = "`dormouse approve` shows the same, and asks whether that is allowed.")]
pub(super) struct DiffArgs {
    /// Only this server.
    server: Option<String>,
}

impl DiffArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places)?;
        for waiting in waiting(&roster, self.server.as_deref(), None)? {
            if self.server.is_none() {
                let heading = format!("server {}", waiting.server);
                let heading = output::styled(output::STRONG, heading);
                output::print(&format!("{heading}\n"))?;
            }
            waiting.show()?;
        }
        tell_outdated(&roster, self.server.as_deref());
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the servers whose component declares other tools than their user has approved.
fn tell_outdated(roster: &Roster, server: Option<&str>) {
    for (name, found) in roster.snapshot().servers() {
        if server.is_none_or(|server| server == name)
            && let Some(told) = found.outdated_component()
        {
            output::warn(&told);
        }
    }
}

/// Server with pending items, or with items that are gone.
struct WaitingServer {
    server: String,
    pending: Pending,
    gone: Option<Gone>,
}

impl WaitingServer {
    /// Prints all of them, and returns the number of lines.
    fn show(&self) -> anyhow::Result<usize> {
        let counts = format!("{}\n", counts(&self.pending, self.gone.as_ref()));
        let items = self.pending.iter().map(difference);
        let gone = self.gone.as_ref().map(Gone::list);
        let mut lines = 0;
        for text in std::iter::once(counts).chain(items).chain(gone) {
            let shown = output::judged(&text);
            output::print(&shown)?;
            lines += shown.lines().count();
        }
        Ok(lines)
    }
}

/// Returns the pending items, and those that are gone: of one server, or of all where none is
/// named. Prints a text where there are none.
///
/// # Errors
/// There is no such server, or it has no pending items of these names.
fn waiting(
    roster: &Roster,
    server: Option<&str>,
    tools: Option<&BTreeSet<String>>,
) -> anyhow::Result<Vec<WaitingServer>> {
    let snapshot = roster.snapshot();
    if let Some(server) = server {
        tools::known(&snapshot, server)?;
    }
    let mut waiting = Vec::new();
    for (name, found) in snapshot.servers() {
        if server.is_some_and(|server| server != name) {
            continue;
        }
        let pending = selected(found, tools)?;
        // Whoever approves one tool is shown that one.
        let gone = tools.is_none().then(|| Gone::of(found)).flatten();
        if !pending.is_empty() || gone.is_some() {
            waiting.push(WaitingServer {
                server: name.clone(),
                pending,
                gone,
            });
        }
    }
    if waiting.is_empty() {
        output::say(&match server {
            Some(server) => format!("nothing of `{server}` has changed"),
            None => "nothing of any server has changed".to_owned(),
        });
        for name in snapshot.servers().keys() {
            if server.is_none_or(|server| server == name) {
                tell_other_folders(roster, name);
            }
        }
    }
    Ok(waiting)
}

/// Most folders of a server that are listed.
const MAX_FOLDERS_TOLD: usize = 10;

/// Prints the other folders in which items of a server are pending.
fn tell_other_folders(roster: &Roster, server: &str) {
    let folders = roster.folders_that_wait(server);
    for folder in folders.iter().take(MAX_FOLDERS_TOLD) {
        let folder = match folder.as_os_str().is_empty() {
            true => "your home folder".to_owned(),
            false => format!("`{}`", visible_line(&folder.to_string_lossy())),
        };
        output::say(&format!(
            "what `{server}` offers in {folder} is not what you have approved\n\
             hint: `dormouse approve {server}` in that folder shows it, and allows it everywhere"
        ));
    }
}

/// Returns the pending items of a server: all, or the tools that are named.
///
/// # Errors
/// One of these tools is not pending.
fn selected(server: &Arc<Server>, tools: Option<&BTreeSet<String>>) -> anyhow::Result<Pending> {
    let pending = server.pending();
    for tool in tools.into_iter().flatten() {
        if !pending.tools().any(|waiting| waiting == tool) {
            let hint = nearest(tool, pending.tools());
            let hint = hint.map(|name| format!("\nhint: did you mean `{}`?", visible_line(name)));
            let server = &server.config().name;
            bail!(
                "no tool `{}` of `{server}` waits to be approved{}",
                visible_line(tool),
                hint.unwrap_or_default()
            );
        }
    }
    Ok(pending.selected(Selection {
        component: None,
        tools,
    }))
}
