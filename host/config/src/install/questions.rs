//! The questions that servers ask which are taken over: what is one question has one answer.

use std::collections::BTreeMap;

use dormouse_launch::Secret;

use super::decision::{Action, Decision};
use crate::discovery::Found;
use crate::problem::quoted;
use crate::{Config, FillSource};

/// Who asks a question already, and what the answer is to be where that is known.
type Asker<'a> = (&'a str, Option<&'a Secret>);

/// Takes out those servers that would ask for a secret under the id of another server's question:
/// one of both would be given what is the other's. Returns what is said of them, as sentences.
///
/// Where the user has answered such a question, only servers ask it whose secret that is.
pub(super) fn take_out_shared(
    decisions: &mut Vec<Decision>,
    found: &[Found],
    config: &Config,
) -> Vec<String> {
    let mut askers: BTreeMap<&str, Asker<'_>> = BTreeMap::new();
    let is_made = |decision: &Decision| decision.action != Action::Keep;
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
    let first = |decision: &Decision| decision.found.first().and_then(|first| found.get(*first));
    let made: Vec<(&str, &Found)> = decisions
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
    decisions
        .retain(|decision| decision.action == Action::Keep || !told.contains_key(&decision.name));
    told.into_values().collect()
}
