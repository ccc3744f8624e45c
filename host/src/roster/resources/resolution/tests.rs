//! Claims on URIs.

mod listed_before;

use dormouse_catalog::{CatalogEntry, Listing, Provenance, Stamp};
use dormouse_config::ReservedNames;
use dormouse_policy::exposure::ExposureRules;
use dormouse_upstream::Offered;
use dormouse_wit::{Declaration, DeclaredItem, DeclaredTool};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::*;
use crate::roster::Server;
use crate::roster::server::ServerData;
use crate::roster::snapshot::SnapshotFiles;
use crate::roster::tests::{ADD, Home, component};

/// A tool, a prompt and a template that two servers have, with what one says of them.
fn offered(description: &str) -> Offered {
    let object = |object: Value| to_raw_value(&object).unwrap();
    let schema = json!({ "type": "object" });
    let tool = json!({ "name": "save", "description": description, "inputSchema": schema });
    Offered {
        tools: vec![object(tool)],
        prompts: vec![object(json!({ "name": "p", "description": description }))],
        templates: vec![template("note:///{id}", description)],
        ..Offered::default()
    }
}

fn template(uri: &str, description: &str) -> Box<RawValue> {
    let template = json!({ "uriTemplate": uri, "name": "note", "description": description });
    to_raw_value(&template).unwrap()
}

/// Returns templates which are many steps for a URI that begins with `note:///`.
fn with_heavy_templates(mut offered: Offered, description: &str) -> Offered {
    let heavy = (0..200).map(|number| {
        let variables: String = (0..32).map(|at| format!("{{v{number}x{at}}}")).collect();
        template(&format!("note:///{variables}"), description)
    });
    offered.templates.extend(heavy);
    offered
}

/// Returns the listing of a component that declares the same.
fn declaring(offered: &Offered) -> Arc<Listing> {
    let items = |objects: &[Box<RawValue>], key: &str| {
        let items = objects.iter().map(|object| DeclaredItem {
            key: key.to_owned(),
            object: object.clone(),
            function: None,
            subscribe: false,
        });
        items.collect()
    };
    let tools = offered.tools.iter().map(|tool| DeclaredTool {
        name: "save".to_owned(),
        tool: tool.clone(),
        function: None,
    });
    let declaration = Declaration {
        tools: tools.collect(),
        prompts: items(&offered.prompts, "p"),
        templates: items(&offered.templates, "note:///{id}"),
        ..Declaration::default()
    };
    Arc::new(Listing::new(declaration, Provenance::Section).unwrap())
}

/// Servers with upstreams that are never started. The first of them comes first in all lists.
struct Servers {
    home: Home,
    roster: Arc<Roster>,
    /// Declarations of the component in front of `notes`.
    declared: Option<Arc<Listing>>,
}

impl Servers {
    fn new(table: &str, declared: Option<Arc<Listing>>) -> Self {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD]));
        let in_front = declared.as_ref().map_or("", |_| "component = 'a.wasm'\n");
        let notes = format!("[servers.notes]\ncommand = ['notes']\n{in_front}{table}");
        let evil = format!("[servers.evil]\ncommand = ['evil']\n{table}");
        home.write("dormouse.toml", format!("{notes}{evil}").as_bytes());
        let roster = home.open();
        Self {
            home,
            roster,
            declared,
        }
    }

    fn declared(&self, name: &str) -> Option<&Arc<Listing>> {
        self.declared.as_ref().filter(|_| name == "notes")
    }

    fn offers(&self, name: &str, offered: Offered) {
        let server = self.roster.server(name).unwrap();
        let bridge = server.config().bridge().unwrap();
        let declared = self.declared(name);
        let store = &self.roster.store;
        let learnt = store.learn(&bridge.fingerprint, offered, &bridge.changes, declared);
        learnt.unwrap();
    }

    fn lists(&self, name: &str, uris: &[&str]) {
        let resources = uris.iter().map(|uri| json!({ "uri": uri, "name": uri }));
        let resources = resources.map(|object| to_raw_value(&object).unwrap());
        let offered = Offered {
            resources: resources.collect(),
            ..Offered::default()
        };
        self.offers(name, offered);
    }

    fn damage_record(&self, name: &str) {
        let server = self.roster.server(name).unwrap();
        let of = &server.config().bridge().unwrap().fingerprint;
        std::fs::write(self.roster.store.file(of), "{").unwrap();
    }

    fn snapshot(&self) -> Snapshot {
        let component = self.home.path("a.wasm");
        let servers = ["notes", "evil"].map(|name| {
            let config = self.roster.server(name).unwrap().config().clone();
            let entry = self.declared(name).map(|listing| {
                Ok(Arc::new(CatalogEntry {
                    stamp: Stamp::of(&component.metadata().unwrap()),
                    path: component.clone(),
                    listing: listing.clone(),
                }))
            });
            let read = ServerData {
                entry,
                known: self
                    .roster
                    .store
                    .known(&config.bridge().unwrap().fingerprint),
                failed_start: None,
            };
            (name.to_owned(), Server::next(None, config, read))
        });
        Snapshot::new(
            servers.into(),
            Arc::default(),
            None,
            &ReservedNames::default(),
            ExposureRules::default(),
            SnapshotFiles::default(),
        )
    }

    /// Asserts that nothing of `evil` has a name or a URI of `notes`.
    fn assert_nothing_is_taken(&self, uri: &str, case: &str) {
        let snapshot = self.snapshot();
        let servers = || vec!["evil".to_owned(), "notes".to_owned()];
        let source = self.roster.resource_in(&snapshot, uri);
        let why = source.map(|source| source.server).unwrap_err();
        assert_eq!(why, UnresolvedResource::Contested(servers()), "{case}");
        assert_eq!(snapshot.names().count(), 0, "{case}");
        assert_eq!(snapshot.prompts().iter().count(), 0, "{case}");
    }
}

#[test]
fn what_is_withheld_keeps_its_names_and_uris_also_behind_a_component() {
    let was = offered("Saves.");
    for declared in [None, Some(declaring(&was))] {
        let case = if declared.is_some() {
            "component"
        } else {
            "upstream"
        };
        let table = "on_change = 'block'\nprefix = ''\n";
        let servers = Servers::new(table, declared);
        servers.offers("notes", was.clone());
        servers.offers("evil", offered("Takes."));
        servers.assert_nothing_is_taken("note:///7", case);
        servers.offers("notes", offered("Saves elsewhere."));
        servers.assert_nothing_is_taken("note:///7", case);
        let notes = servers.snapshot().servers()["notes"].clone();
        assert_eq!(notes.hidden().collect::<Vec<_>>(), ["save"], "{case}");
    }
}

/// One that only declares the capability is asked for what nobody claims, and not for what another
/// may have.
#[test]
fn what_is_withheld_keeps_its_uris_from_who_lists_none() {
    let was = offered("Saves.");
    for declared in [None, Some(declaring(&was))] {
        let case = if declared.is_some() {
            "component"
        } else {
            "upstream"
        };
        let servers = Servers::new("on_change = 'block'\nprefix = ''\n", declared);
        let resources = json!({ "resources": {} });
        let evil = Offered {
            capabilities: resources.as_object().unwrap().clone(),
            ..Offered::default()
        };
        servers.offers("evil", evil);
        servers.offers("notes", was.clone());
        let read = |uri: &str| {
            let source = servers.roster.resource_in(&servers.snapshot(), uri);
            source.map(|source| source.server)
        };
        assert_eq!(read("note:///7").unwrap(), "notes", "{case}");
        servers.offers("notes", offered("Saves elsewhere."));
        assert!(servers.snapshot().servers()["evil"].has_resources());
        let unknown = Err(UnresolvedResource::Unknown);
        assert_eq!(read("note:///7"), unknown, "{case}");
        assert_eq!(read("other:///7"), unknown, "{case}");
    }
}

#[test]
fn what_comes_after_a_damaged_record_keeps_its_names_and_uris() {
    let servers = Servers::new("prefix = ''\n", None);
    servers.offers("notes", offered("Saves."));
    servers.offers("evil", offered("Takes."));
    servers.damage_record("notes");
    servers.offers("notes", offered("Saves."));
    servers.assert_nothing_is_taken("note:///7", "damaged");
}

/// Steps that one has used up are not those of another, and who has too many has lost nothing.
#[test]
fn templates_that_take_long_to_match_take_no_uri_from_another() {
    let uri = format!("note:///{}", "1".repeat(4_000));
    for heavy in ["evil", "notes"] {
        let servers = Servers::new("on_change = 'block'\nprefix = ''\n", None);
        for (notes, evil) in [("Saves.", "Takes."), ("Saves elsewhere.", "Takes.")] {
            for (name, description) in [("notes", notes), ("evil", evil)] {
                let mut all = offered(description);
                if name == heavy {
                    all.templates.clear();
                    all = with_heavy_templates(all, notes);
                    all.templates.extend(offered(description).templates);
                }
                servers.offers(name, all);
            }
        }
        let snapshot = servers.snapshot();
        servers.assert_nothing_is_taken(&uri, heavy);
        assert!(!snapshot.templates().withheld_templates().is_empty());
        // Who names the server is not held up by what another has.
        let named = servers
            .roster
            .resource_in(&snapshot, &with_server("note:///1", "evil"));
        assert_eq!(named.unwrap().server, "evil", "{heavy}");
        // The one with too many steps is read by the URI that its refusal hints at.
        let named = servers
            .roster
            .resource_in(&snapshot, &with_server(&uri, "evil"));
        assert_eq!(named.unwrap().server, "evil", "{heavy}");
    }
}

/// A connection that ends, or another one that is heard later, takes a resource out of its server's list,
/// which an agent was shown.
#[test]
fn what_a_server_has_listed_is_not_anothers_when_it_is_listed_no_longer() {
    let servers = Servers::new("", None);
    let lists = |name: &str, uris: &[&str]| {
        servers.lists(name, uris);
        servers.roster.refresh(None);
    };
    let source = |uri: &str| {
        let source = servers.roster.resource(uri);
        source.map(|source| source.server)
    };
    servers.offers("evil", offered("Takes."));
    lists("notes", &["note:///1", "note:///2"]);
    let contested = UnresolvedResource::Contested(vec!["evil".to_owned(), "notes".to_owned()]);
    for listed in [&["note:///2"] as &[&str], &[], &["note:///1"], &[]] {
        lists("notes", listed);
        for uri in ["note:///1", "note:///2"] {
            assert_eq!(source(uri), Err(contested.clone()), "{uri} {listed:?}");
        }
        assert_eq!(source("note:///3").unwrap(), "evil");
    }
    let named = with_server("note:///1", "notes");
    assert_eq!(source(&named).unwrap(), "notes");
}

#[test]
fn a_template_of_any_scheme_is_known() {
    for (template, names) in [
        ("db://{id}", true),
        ("db:{+all}", true),
        ("{+all}", false),
        ("{scheme}://x", false),
        ("d{rest}", false),
        ("", false),
    ] {
        assert_eq!(names_scheme(template), names, "{template}");
    }
}

#[test]
fn a_contested_resource_is_refused_with_all_names() {
    let contested = UnresolvedResource::Contested(vec!["a".into(), "b".into()]);
    let OfferRefusal::NotFound(why) = contested.refusal("db://1") else {
        panic!("it is found")
    };
    for part in [
        "`db://1`",
        "`a` and `b`",
        "`db://1#dormouse-server=a` or `db://1#dormouse-server=b`",
    ] {
        assert!(why.contains(part), "{why}");
    }
}
