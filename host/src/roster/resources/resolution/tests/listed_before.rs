//! Resources that other servers have listed or named before.

use super::*;

/// Step of a server with the resource [`URI`].
#[derive(Debug)]
enum Step {
    Lists(&'static str),
    Drops(&'static str),
    /// It is listed by the second one instead, in one refresh.
    Moves(&'static str, &'static str),
    /// It is in an answer.
    Names(&'static str),
}

const URI: &str = "note:///1";

/// A resource that is listed can be read as it is shown, whoever has listed or named it before; by its URI
/// alone it is not read where an agent may mean the other's.
#[test]
fn what_is_listed_is_read_as_it_is_shown_whoever_had_it_before() {
    use Step::{Drops, Lists, Moves, Names};
    let (notes, evil) = (with_server(URI, "notes"), with_server(URI, "evil"));
    let (notes, evil) = (notes.as_str(), evil.as_str());
    // Steps, the list at their end, and whose it is by the URI alone.
    type Case<'c> = (&'c [Step], &'c [&'c str], Option<&'c str>);
    let cases: &[Case<'_>] = &[
        (&[Lists("notes")], &[URI], Some("notes")),
        (&[Lists("evil"), Lists("notes")], &[evil, notes], None),
        // One that lists it no longer.
        (
            &[Lists("notes"), Lists("evil"), Drops("evil")],
            &[notes],
            None,
        ),
        (
            &[Lists("evil"), Drops("evil"), Lists("notes")],
            &[notes],
            None,
        ),
        // One whose connection has ended.
        (
            &[Lists("notes"), Drops("notes"), Lists("evil")],
            &[evil],
            None,
        ),
        (
            &[Lists("evil"), Lists("notes"), Drops("notes")],
            &[evil],
            None,
        ),
        (&[Lists("notes"), Moves("notes", "evil")], &[evil], None),
        (
            &[Lists("evil"), Moves("evil", "notes"), Drops("notes")],
            &[],
            None,
        ),
        (&[Lists("notes"), Drops("notes")], &[], Some("notes")),
        (
            &[Lists("notes"), Drops("notes"), Lists("notes")],
            &[URI],
            Some("notes"),
        ),
        // One that has named it.
        (&[Names("evil"), Lists("notes")], &[notes], None),
        (&[Lists("notes"), Names("evil")], &[URI], Some("notes")),
        (
            &[Lists("notes"), Names("evil"), Drops("notes"), Lists("evil")],
            &[evil],
            None,
        ),
        (&[Names("notes"), Lists("notes")], &[URI], Some("notes")),
    ];
    for (steps, listed, owner) in cases {
        let servers = Servers::new("", None);
        let config = std::fs::read_to_string(servers.home.path("dormouse.toml")).unwrap();
        let config = format!("{config}[profiles.work]\nservers = ['notes']\n");
        let reloads = |config: &str| {
            servers.home.write("dormouse.toml", config.as_bytes());
            servers.roster.reload().unwrap();
        };
        reloads(&config);
        for step in *steps {
            match step {
                Lists(name) => servers.lists(name, &[URI]),
                Drops(name) => servers.lists(name, &[]),
                Moves(from, to) => {
                    servers.lists(from, &[]);
                    servers.lists(to, &[URI]);
                }
                Names(name) => {
                    let link = json!({ "type": "resource_link", "uri": URI, "name": "it" });
                    let answer = json!({ "content": [link] }).to_string();
                    let server = servers.roster.server(name).unwrap();
                    servers.roster.note(&server, &answer);
                }
            }
            servers.roster.refresh(None);
        }
        // All that is shown is read as it is shown.
        let shown = |profile: Option<&str>| -> Vec<String> {
            let view = servers.roster.view(profile);
            let shown = view.resources().iter().map(|offer| {
                let source = servers.roster.resource_in(&view, &offer.key).unwrap();
                assert_eq!(source.server, offer.server(), "{steps:?}");
                assert_eq!(source.uri, URI, "{steps:?}");
                offer.key.clone()
            });
            shown.collect()
        };
        assert_eq!(shown(None), *listed, "{steps:?}");
        let source = servers.roster.resource(URI).map(|source| source.server);
        let contested = UnresolvedResource::Contested(vec!["evil".to_owned(), "notes".to_owned()]);
        let expected = owner.map(str::to_owned).ok_or(contested);
        assert_eq!(source, expected, "{steps:?}");
        // Where the other is not, it has claimed nothing.
        let is_listed = listed.iter().any(|uri| [URI, notes].contains(uri));
        let alone: &[&str] = if is_listed { &[URI] } else { &[] };
        assert_eq!(shown(Some("work")), alone, "{steps:?}");
        reloads(config.split("[servers.evil]").next().unwrap());
        assert_eq!(shown(None), alone, "{steps:?}");
    }
}
