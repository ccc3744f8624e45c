//! Caution of tools that clients of several kinds are offered differently.

use super::*;

/// Tool `a` with a description of its own for each of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    number: u64,
    reads: bool,
}

impl Form {
    const fn new(number: u64, reads: bool) -> Self {
        Self { number, reads }
    }

    fn tool(self) -> Box<RawValue> {
        let Self { number, reads } = self;
        let tool = json!({
            "name": "a", "description": format!("v{number}"), "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": reads, "destructiveHint": !reads },
            "outputSchema": { "type": "object", "required": [if reads { "read" } else { "done" }] },
        });
        to_raw_value(&tool).unwrap()
    }
}

/// Kinds of clients: the last is that of Dormouse itself.
const KINDS: usize = 4;
const OWN: usize = KINDS - 1;

fn asked(kind: usize, version: Option<&str>, form: Option<Form>) -> (Asker, Offered) {
    let able = [
        json!({}),
        json!({ "elicitation": { "form": {} } }),
        json!({ "sampling": {} }),
        json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} }),
    ];
    let asker = match kind {
        OWN => Asker::Dormouse,
        _ => Asker::Agent,
    };
    let info = match version {
        Some(version) => json!({ "version": version }),
        None => json!({}),
    };
    let offered = Offered {
        able: serde_json::from_value(able[kind].clone()).unwrap(),
        server_info: info.as_object().unwrap().clone(),
        protocol: "2025-11-25".to_owned(),
        tools: form.map(Form::tool).into_iter().collect(),
        ..Offered::default()
    };
    (asker, offered)
}

struct Server {
    _folder: tempfile::TempDir,
    store: Store,
    of: Fingerprint,
}

impl Server {
    fn new() -> Self {
        let (_folder, store, of) = fixture();
        Self { _folder, store, of }
    }

    fn offers(&self, kind: usize, version: Option<&str>, form: Option<Form>) {
        let changes = ChangePolicy::default();
        let (asker, offered) = asked(kind, version, form);
        let learnt = self
            .store
            .learn_as(&self.of, asker, offered, &changes, None);
        learnt.unwrap();
    }

    fn approve(&self) {
        approve(&self.store, &self.of);
    }

    /// Returns the shown tool: its description, whether it only reads, and its output.
    fn shown(&self) -> Option<(String, bool, Option<String>)> {
        let known = self.store.known(&self.of)?;
        let tool = known.listing.tools.first()?;
        let tool: Value = serde_json::from_str(tool.tool.get()).unwrap();
        let output = tool["outputSchema"]["required"][0].as_str();
        Some((
            tool["description"].as_str()?.to_owned(),
            tool["annotations"]["readOnlyHint"].as_bool()?,
            output.map(str::to_owned),
        ))
    }

    #[track_caller]
    fn shows(&self, form: Form) {
        let output = if form.reads { "read" } else { "done" };
        let wanted = (
            format!("v{}", form.number),
            form.reads,
            Some(output.to_owned()),
        );
        assert_eq!(self.shown(), Some(wanted));
    }

    #[track_caller]
    fn is_careful(&self) {
        let (_, reads, output) = self.shown().unwrap();
        assert!(!reads && output.as_deref() != Some("read"), "{output:?}");
    }
}

const OLD: Form = Form::new(1, false);
const NEW: Form = Form::new(2, true);

/// A definition that Dormouse alone was offered is replaced by a form that its user has approved
/// since, though the server does not name another release.
#[test]
fn what_dormouse_alone_was_offered_gives_way_to_what_is_approved() {
    for (old, new) in [(OLD, NEW), (NEW, Form::new(3, false))] {
        let server = Server::new();
        server.offers(OWN, None, Some(old));
        server.shows(old);
        server.offers(0, None, Some(new));
        server.is_careful();
        server.approve();
        server.shows(new);
        server.offers(0, None, Some(new));
        server.shows(new);
        // Another upgrade is no other matter.
        let third = Form::new(4, true);
        server.offers(1, None, Some(third));
        server.approve();
        server.offers(0, None, Some(third));
        server.shows(third);
        // What it is offered still counts once it has asked again.
        server.offers(OWN, None, Some(old));
        assert!(old.reads || !server.shown().unwrap().1);
    }
}

/// An agent that can be asked everything is of the kind that Dormouse asks as.
#[test]
fn what_an_agent_was_offered_that_is_of_the_kind_of_dormouse_goes_on_counting() {
    let server = Server::new();
    let (_, offered) = asked(OWN, None, Some(OLD));
    let changes = ChangePolicy::default();
    server
        .store
        .learn(&server.of, offered, &changes, None)
        .unwrap();
    server.offers(OWN, None, Some(OLD));
    server.offers(0, None, Some(NEW));
    server.approve();
    server.is_careful();
    server.offers(OWN, None, Some(NEW));
    server.shows(NEW);
}

/// Two kinds are offered the same, and then one of them something else: the other kind still has
/// it.
#[test]
fn a_tool_stays_careful_for_clients_that_had_the_same_as_others() {
    for first in [0, 1] {
        let server = Server::new();
        server.offers(first, None, Some(OLD));
        server.offers(1 - first, None, Some(OLD));
        server.offers(0, None, Some(NEW));
        server.approve();
        server.is_careful();
        // A server could say that it is another version to each kind of clients.
        server.offers(0, Some("2"), Some(Form::new(3, true)));
        server.approve();
        server.is_careful();
        server.offers(1, None, Some(NEW));
        server.offers(0, None, Some(NEW));
        server.approve();
        server.shows(NEW);
    }
}

/// A tool that other clients have no longer is withdrawn from none of those that are connected.
#[test]
fn a_tool_that_others_have_lost_and_found_again_is_as_careful_as_it_was() {
    let server = Server::new();
    server.offers(0, None, Some(NEW));
    server.offers(1, None, Some(OLD));
    server.offers(0, None, None);
    assert_eq!(server.shown(), None);
    server.offers(2, None, Some(NEW));
    server.approve();
    server.is_careful();
    server.offers(1, None, None);
    server.offers(2, None, Some(NEW));
    server.approve();
    server.shows(NEW);
}

/// A kind of clients that never comes again does not make a later release more cautious than it is.
#[test]
fn what_was_offered_before_another_release_gives_way_to_what_is_approved() {
    let server = Server::new();
    server.offers(OWN, Some("1"), Some(OLD));
    for kind in [0, 1, 2] {
        server.offers(kind, Some("1"), Some(OLD));
    }
    server.offers(0, Some("2"), Some(NEW));
    server.is_careful();
    server.approve();
    server.shows(NEW);
}

/// Kinds of clients that are no longer kept one by one count with the caution that each of them
/// needed.
#[test]
fn what_is_forgotten_of_kinds_of_clients_goes_on_counting() {
    let server = Server::new();
    server.offers(0, None, Some(OLD));
    for kind in 0..40 {
        let (asker, mut offered) = asked(1, None, Some(NEW));
        let pages = json!({ "extensions": { "io.modelcontextprotocol/ui": {
            "mimeTypes": [format!("a/{kind}")],
        } } });
        offered.able = serde_json::from_value(pages).unwrap();
        let changes = ChangePolicy::default();
        let learnt = server
            .store
            .learn_as(&server.of, asker, offered, &changes, None);
        learnt.unwrap();
        server.approve();
        server.is_careful();
    }
}

/// Items that are gone are told until their user has approved what there is, or was shown it.
#[test]
fn what_is_gone_is_told_until_it_was_shown() {
    let server = Server::new();
    let gone = || server.store.known(&server.of).unwrap().gone.clone();
    server.offers(OWN, None, Some(OLD));
    // An agent that can be asked less may not be offered it.
    server.offers(0, None, None);
    assert_eq!(gone(), []);
    server.offers(OWN, None, None);
    assert_eq!(gone(), [(Gated::Tool, "a".to_owned())]);
    server.offers(0, None, None);
    assert_eq!(gone().len(), 1);
    server.store.take_note_of_gone(&server.of).unwrap();
    assert_eq!(gone(), []);
    server.offers(OWN, None, Some(OLD));
    server.offers(OWN, None, None);
    assert_eq!(gone().len(), 1);
    server.approve();
    assert_eq!(gone(), []);
    // What is there again is not gone, and what nobody has approved is not missed.
    server.offers(OWN, None, Some(OLD));
    assert_eq!(gone(), []);
    let server = Server::new();
    let gone = || server.store.known(&server.of).unwrap().gone.clone();
    server.offers(OWN, None, None);
    server.offers(OWN, None, Some(NEW));
    server.offers(OWN, None, None);
    assert_eq!(gone(), []);
}

/// Records of earlier versions on other kinds of clients count as they did.
#[test]
fn caution_is_taken_over_from_records_of_an_older_version() {
    let server = Server::new();
    server.offers(1, None, Some(OLD));
    server.offers(0, None, Some(NEW));
    server.approve();
    let file = server.store.file(&server.of);
    let mut record: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    record
        .as_object_mut()
        .unwrap()
        .remove("has_cautions")
        .unwrap();
    let kinds = record["offered_to"].as_array_mut().unwrap().iter_mut();
    let removed = kinds.filter_map(|kind| kind.as_object_mut().unwrap().remove("cautions"));
    assert_eq!(removed.count(), 1);
    std::fs::write(&file, record.to_string()).unwrap();
    server.is_careful();
}

/// Pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }
}

/// A tool never counts as read-only while agents of some kind were last offered a form that does
/// more, whatever is offered to which clients, and whatever of that is approved. Once all are
/// offered the approved form, that is what they are shown.
#[test]
fn a_tool_is_as_careful_as_agents_need_it_and_no_more() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let changes = ChangePolicy::default();
    let learn = |record: &mut Record, kind: usize, form: Option<Form>| {
        let (asker, offered) = asked(kind, None, form);
        let rules = Rules {
            changes: &changes,
            declared: None,
            asker,
        };
        record.update(offered, rules, None);
    };
    let shown = |record: &Record| -> Option<Value> {
        let known = record.clone().into_known().unwrap();
        let tool = known.listing.tools.first()?;
        serde_json::from_str(tool.tool.get()).unwrap()
    };
    let approve = |record: &mut Record| {
        let pending = record.pending();
        record
            .approve(&pending.digest(), Selection::default())
            .unwrap();
    };
    for round in 0..2000 {
        let mut record = Record::new();
        let mut last: [Option<Form>; KINDS] = [None; KINDS];
        let mut log = String::new();
        let mut number = 0;
        for _ in 0..14 {
            match random.below(5) {
                0 => {
                    approve(&mut record);
                    log += "approve\n";
                }
                _ => {
                    let kind = usize::try_from(random.below(KINDS as u64)).unwrap();
                    let form = match random.below(5) {
                        0 => None,
                        1 => last[usize::try_from(random.below(KINDS as u64)).unwrap()],
                        _ => {
                            number += 1;
                            Some(Form::new(number.min(random.below(4)), random.below(2) == 0))
                        }
                    };
                    learn(&mut record, kind, form);
                    last[kind] = form;
                    log += &format!("{kind} {form:?}\n");
                }
            }
            if random.below(4) == 0 {
                let written = serde_json::to_string(&record).unwrap();
                record = Record::parse(&written).unwrap();
            }
            let Some(tool) = shown(&record) else {
                continue;
            };
            let needs_care = last[..OWN].iter().flatten().any(|form| !form.reads);
            let reads = tool["annotations"]["readOnlyHint"] == true;
            assert!(!(needs_care && reads), "{round} {tool}\n{log}");
            let output = &tool["outputSchema"]["required"][0];
            assert!(!(needs_care && output == "read"), "{round} {tool}\n{log}");
        }
        for kind in 0..OWN {
            learn(&mut record, kind, Some(Form::new(99, true)));
        }
        approve(&mut record);
        let wanted: Value = serde_json::from_str(Form::new(99, true).tool().get()).unwrap();
        assert_eq!(shown(&record), Some(wanted), "{round}\n{log}");
    }
}
