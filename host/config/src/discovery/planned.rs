//! Looking at the files of a client as they are planned, before they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_text::visible::visible_path;

use super::formats::agents;
use super::library::Library;
use super::places::{self, ClientPlace};
use super::search::{ClientSearch, DiscoverySetting};
use super::settle::OFF;
use super::{FoundServer, Surroundings, itself};
use crate::{Client, Inputs};

/// Returns the reason why a client does not load the entry of a name in one of its user's files,
/// where Dormouse is to be, although the entry is there: its settings or other servers keep it out.
/// `texts` are the texts that files are to have, by the files behind all links; all others are
/// read. Where the entry `replaces` others, no agent or profile of the client is to be without it.
pub(crate) fn obstacle(
    client: Client,
    around: &Surroundings,
    texts: &BTreeMap<PathBuf, &str>,
    place: &ClientPlace,
    name: &str,
    replaces: bool,
) -> Option<String> {
    // A project's files say nothing of the user's servers.
    let around = Surroundings {
        project: None,
        folder: None,
        ..around.clone()
    };
    let places = places::files(client, &around);
    let mut library = Library::new(0, BTreeSet::new(), None);
    for place in &places {
        let real = place.file.canonicalize();
        let real = real.unwrap_or_else(|_| place.file.clone());
        if let Some(text) = texts.get(&real) {
            library.put(&place.file, place.shape.syntax, text);
        }
    }
    let inputs = Inputs::new();
    let setting = DiscoverySetting {
        around: &around,
        inputs: &inputs,
        entered: None,
        filled: BTreeSet::new(),
        has_itself: true,
    };
    let search = ClientSearch::of(client, &places, &setting, &mut library);
    let (found, documents) = (search.found, search.documents);
    let at = |file: &Path| {
        let mut all = found.iter().filter(|found| found.written_name == name);
        all.rfind(|found| found.server.origin.file == file)
    };
    let own = at(&place.file)?;
    if let Some(why) = switched_off(client, own) {
        return Some(why);
    }
    let roots = documents.iter().filter_map(|(_, loaded)| loaded.root());
    let mut roots = roots.filter(|_| replaces);
    if let Some(why) = roots.find_map(|root| agents::unnamed(client, root, name)) {
        return Some(format!(
            "{client}'s settings would keep Dormouse out: {why}"
        ));
    }
    let winner = &own.shadowed_by.as_ref()?.file;
    // Editions have nothing to do with each other, and it may be in several files.
    let edition = places.iter().find(|other| other.file == *winner)?.edition;
    let is_itself = at(winner).is_some_and(|winner| is_itself(winner, &around));
    (edition == place.edition && !is_itself).then(|| {
        format!(
            "{client} would load other servers in place of Dormouse, from {}",
            visible_path(winner)
        )
    })
}

/// Returns the reason why a client's settings leave nothing of a server, if they do.
fn switched_off(client: Client, found: &FoundServer) -> Option<String> {
    if let Some(why) = &found.server.denied {
        return Some(format!("a policy would keep Dormouse out: {why}"));
    }
    if !found.server.enabled {
        let mut notes = found.notes.iter().filter_map(|note| note.strip_prefix(OFF));
        let why = notes.next().unwrap_or("its entry is switched off");
        return Some(format!(
            "{client}'s settings would keep Dormouse out: {why}"
        ));
    }
    let filter = &found.server.bridge()?.filter;
    let mut lists = filter.include.iter().chain(&filter.also);
    let is_any = |list: &[String]| list.iter().any(|pattern| pattern == "*");
    (lists.any(Vec::is_empty) || is_any(&filter.exclude)).then(|| {
        let keys = match client {
            Client::OpenCode => "`tools` or `permission`",
            Client::Amp => "`amp.tools.disable`",
            Client::Gemini => "`tools.exclude` or `excludeTools`",
            _ => "its lists of tools",
        };
        format!("{client}'s settings would keep all tools of Dormouse out, by {keys}")
    })
}

/// Whether a server is Dormouse.
fn is_itself(found: &FoundServer, around: &Surroundings) -> bool {
    let bridge = found.server.bridge();
    bridge.is_some_and(|bridge| {
        itself::is(&found.written_name, &bridge.launch)
            || itself::is_this_program(&bridge.launch, around.value("PATH"), None)
    })
}
