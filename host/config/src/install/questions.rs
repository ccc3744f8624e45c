//! Questions of the servers that are taken over: each question has one answer.

use std::collections::BTreeMap;

use dormouse_launch::Secret;

use super::decision::{ImportAction, ImportDecision};
use crate::discovery::FoundServer;
use crate::problem::quoted;
use crate::{Config, FillSource};

/// Server that asks a question already, and the answer where that is known.
type AskingServer<'a> = (&'a str, Option<&'a Secret>);

/// Removes the servers that would wait for a person once they are in `dormouse.toml`: those that
/// have something in them that only their client fills in, in its own places, and those that Dormouse
/// starts as they are in their client's file. Returns sentences on the removed servers.
pub(super) fn take_out_waiting(
    decisions: &mut Vec<ImportDecision>,
    found: &[FoundServer],
) -> Vec<String> {
    let mut told = Vec::new();
    decisions.retain(|decision| {
        let first = decision.found.first().and_then(|first| found.get(*first));
        let Some(first) = first.filter(|_| decision.action != ImportAction::Keep) else {
            return true;
        };
        let waits = first.own.missing.iter().chain(&first.own.unanswered);
        let waits: String = waits.map(|sentence| format!("\n  {sentence}")).collect();
        let works = first.server.bridge();
        let works = works.is_some_and(|bridge| bridge.needs.is_empty());
        if waits.is_empty() || !works && first.own.missing.is_empty() {
            return true;
        }
        let why = match works {
            true => {
                "Dormouse starts it as it is there, and in dormouse.toml it would wait for this"
            }
            false => "in dormouse.toml it would wait for this, wherever it is used",
        };
        told.push(format!(
            "`{}` of {} is not taken over: {why}:{waits}\n\
             hint: do that first, and then import it; until then it is used where it is",
            first.written_name.escape_debug(),
            first.server.origin,
        ));
        false
    });
    told
}

/// Removes the servers that would ask for a secret under the id of another server's question: one
/// of the two would be given the other's secret. Returns sentences on the removed servers.
///
/// Where the user has answered such a question, only servers ask it whose secret that is.
pub(super) fn take_out_shared(
    decisions: &mut Vec<ImportDecision>,
    found: &[FoundServer],
    config: &Config,
) -> Vec<String> {
    let mut askers: BTreeMap<&str, AskingServer<'_>> = BTreeMap::new();
    let is_made = |decision: &ImportDecision| decision.action != ImportAction::Keep;
    let is_replaced = |name: &String| {
        let mut decisions = decisions.iter();
        decisions.any(|decision| decision.name == *name && is_made(decision))
    };
    for (name, server) in &config.servers {
        let filled_in = server.bridge().map(|bridge| &bridge.filled_in);
        for filled_in in filled_in.into_iter().flatten() {
            if let FillSource::Input(id) = &filled_in.source
                && !is_replaced(name)
            {
                askers.entry(id).or_insert((name, None));
            }
        }
    }
    let first =
        |decision: &ImportDecision| decision.found.first().and_then(|first| found.get(*first));
    let made: Vec<(&str, &FoundServer)> = decisions
        .iter()
        .filter(|decision| is_made(decision))
        .filter_map(|decision| Some((decision.name.as_str(), first(decision)?)))
        .collect();
    // What a client's own file asks is nothing that another server has in a file.
    for (name, found) in &made {
        for (id, _) in found.own.asked.iter().filter(|(_, value)| value.is_none()) {
            askers.entry(id).or_insert((name, None));
        }
    }
    let mut told = BTreeMap::new();
    for (name, found) in &made {
        let secrets = found.own.asked.iter();
        let secrets = secrets.filter_map(|(id, value)| Some((id, value.as_ref()?)));
        let secrets = secrets.filter(|(id, _)| !config.discovery.inputs.contains_key(*id));
        let other = secrets.clone().find_map(|(id, value)| {
            let (other, known) = askers.get(id.as_str())?;
            (*known != Some(value)).then_some((id, *other))
        });
        match other {
            Some((id, other)) => {
                let origin = &found.server.origin;
                let text = format!(
                    "`{}` of {origin} is not taken over: it would be asked for {}, and so is \
                     `{other}`, which is to have another answer\n\
                     hint: give it another name in its client's file, or answer the question for \
                     `{other}` first and then import it",
                    found.written_name.escape_debug(),
                    quoted(id)
                );
                told.insert((*name).to_owned(), text);
            }
            None => {
                for (id, value) in secrets {
                    askers.insert(id, (name, Some(value)));
                }
            }
        }
    }
    decisions.retain(|decision| {
        decision.action == ImportAction::Keep || !told.contains_key(&decision.name)
    });
    told.into_values().collect()
}
