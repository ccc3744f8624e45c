//! Items of a server that have changed, are new or are gone, for its user.

use std::fmt;

use dormouse_text::visible::{first_names, visible_line};

use crate::roster::Server;
use crate::store::{Gated, Pending};

/// Most items that are listed as gone.
const MAX_LISTED: usize = 200;

/// Items that a user has approved and that their server no longer offers.
#[derive(Debug)]
pub struct Gone {
    server: String,
    items: Vec<(Gated, String)>,
}

impl Gone {
    /// Returns the items of a server that are gone. None where there are none.
    #[must_use]
    pub fn of(server: &Server) -> Option<Self> {
        let gone = server.gone();
        let items: Vec<_> = gone.map(|(kind, name)| (kind, name.to_owned())).collect();
        (!items.is_empty()).then(|| Self {
            server: server.config().name.clone(),
            items,
        })
    }

    /// Returns the names: tools by theirs alone, others with their kind.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let items = self.items.iter();
        items
            .map(|(kind, name)| match kind {
                Gated::Tool => name.clone(),
                Gated::Instructions => "its instructions".to_owned(),
                kind => format!("{kind} {name}"),
            })
            .collect()
    }

    /// Returns the items, a line for each of them.
    #[must_use]
    pub fn list(&self) -> String {
        let mut text = String::new();
        for (kind, name) in self.items.iter().take(MAX_LISTED) {
            match kind {
                Gated::Instructions => text.push_str("its instructions, gone\n"),
                kind => text.push_str(&format!("{kind} `{}`, gone\n", visible_line(name))),
            }
        }
        if let Some(more @ 1..) = self.items.len().checked_sub(MAX_LISTED) {
            text.push_str(&format!("and {more} more, gone\n"));
        }
        text
    }
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&gone_told(&self.server, &self.names()))
    }
}

/// Returns the text for a server's user on its items that are gone.
#[must_use]
pub fn gone_told(server: &str, names: &[String]) -> String {
    format!(
        "{} of what it offered when you last approved it {} gone: {}\n\
         hint: `dormouse diff {server}` lists all of that, and `dormouse approve {server}` takes \
         note of it",
        names.len(),
        if names.len() == 1 { "is" } else { "are" },
        first_names(names)
    )
}

/// Returns the numbers of items that have changed, are new and are gone, in words.
#[must_use]
pub fn counts(pending: &Pending, gone: Option<&Gone>) -> String {
    let changed = pending.iter().filter(|item| item.was.is_some()).count();
    let counts = [
        (changed, "changed"),
        (pending.len() - changed, "new"),
        (gone.map_or(0, |gone| gone.items.len()), "gone"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    counts.join(", ")
}
