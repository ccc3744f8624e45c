//! Names and ids that are Dormouse's alone.

use std::borrow::Cow;

use dormouse_text::visible::{visible_line, without_hidden};

/// Start of the names and ids that only Dormouse may use.
const RESERVED: &str = "dormouse";

/// Text before names of servers that look like Dormouse's.
const SERVER: &str = "server";

/// Returns the id of a server's page as clients are told it, for whom all servers are one: the name of
/// its server stands before each, so that no two servers have a page of one id. Nothing has to be put
/// back: a client tells no server an id.
#[must_use]
pub fn page_id(server: &str, id: &str) -> String {
    // No name has a `/`. One of a server that is called so would be that of another's page.
    match server {
        SERVER => format!("{SERVER}/{SERVER}/{id}"),
        _ => format!("{}/{id}", unreserved(server)),
    }
}

pub(super) fn is_reserved(name: &str) -> bool {
    let name = without_hidden(name);
    let name = name.trim_start();
    let start = name.get(..RESERVED.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(RESERVED))
}

/// Returns a server's name to stand at the beginning: behind `server/`, where it looks like one of
/// Dormouse's.
pub(super) fn unreserved(server: &str) -> Cow<'_, str> {
    let shown = visible_line(server);
    match is_reserved(&shown) {
        true => Cow::Owned(format!("{SERVER}/{shown}")),
        false => shown,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use crate::Capability;
    use crate::attribution::tests::{question, sent};
    use crate::attribution::{PAGES_REQUIRED, error_data};

    /// A client is told of the pages of all servers by one.
    #[test]
    fn no_two_servers_have_a_page_of_one_id() {
        let mut ids = BTreeSet::new();
        let mut told = 0;
        for server in ["bank", "evil", "server", "dormouse-x", "Dormouse-x"] {
            for id in [
                "",
                "1",
                "bank/1",
                "dormouse-x/1",
                "server/1",
                "server/dormouse-x/1",
            ] {
                let page = json!({ "mode": "url", "message": "m", "url": "https://x", "elicitationId": id });
                let asked = question(Capability::ElicitationUrl, page.clone());
                let shown = page_id(server, id);
                assert_eq!(
                    sent(&asked.attributed(server).unwrap())["elicitationId"],
                    shown
                );
                let data = json!({ "elicitations": [page] }).to_string();
                let data: Value =
                    serde_json::from_str(&error_data(server, PAGES_REQUIRED, data)).unwrap();
                assert_eq!(data["elicitations"][0]["elicitationId"], shown);
                ids.insert(shown);
                told += 1;
            }
        }
        assert_eq!(ids.len(), told, "{ids:?}");
    }
}
