//! Objects that cannot be shown: nothing becomes known by them.

use std::collections::BTreeSet;

use dormouse_config::OnChange;

use super::*;
use crate::roster::difference;

/// Makes a tool `a` with a schema that can be shown, or one that cannot.
fn tool(description: &str, schema: &Value) -> Value {
    json!({ "name": "a", "description": description, "inputSchema": schema })
}

/// Makes an upstream's offer of these tools, for clients that can be asked, or cannot.
fn to(asked: bool, version: &str, tools: &[Value]) -> Offered {
    let able = match asked {
        true => json!({ "elicitation": { "form": {} } }),
        false => json!({}),
    };
    let info = json!({ "name": "x", "version": version });
    Offered {
        able: serde_json::from_value(able).unwrap(),
        server_info: serde_json::from_value(info).unwrap(),
        tools: tools
            .iter()
            .map(|tool| to_raw_value(tool).unwrap())
            .collect(),
        ..Offered::default()
    }
}

/// Returns all differences of the pending items.
fn differences(store: &Store, of: &Fingerprint) -> String {
    let known = store.known(of).unwrap();
    known.pending.iter().map(difference).collect()
}

#[test]
fn what_waits_is_not_compared_with_what_nobody_was_shown() {
    let (_folder, store, of) = fixture();
    let learn = |offered: Offered| {
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap();
    };
    let (evil, schema) = ("EVIL", json!({ "type": "object" }));
    learn(to(false, "1", &[]));
    for _ in 0..2 {
        learn(to(false, "1", &[tool(evil, &schema)]));
        learn(to(true, "1", &[tool(evil, &json!(7))]));
        let told = differences(&store, &of);
        assert!(told.starts_with("tool `a`, new\n"), "{told}");
        assert!(told.contains("  + EVIL\n"), "{told}");
        let known = store.known(&of).unwrap();
        let item = known.pending.iter().next().unwrap();
        let hidden = item.treatment(&ChangePolicy::default());
        assert_eq!(hidden, Treatment::Withheld);
        assert_eq!(names(&store, &of), [""; 0]);
    }
    // Whoever has read that has approved it, for those that are offered it.
    assert_eq!(approve(&store, &of), ["a"]);
    assert_eq!(names(&store, &of), [""; 0]);
    learn(to(false, "1", &[tool(evil, &schema)]));
    assert_eq!(pending(&store, &of), [""; 0]);
    assert_eq!(descriptions(&store, &of), [evil]);
}

/// A tool that cannot be shown because its output schema is too large does not become one that can
/// when that is left out.
#[test]
fn what_cannot_be_shown_is_not_mended_by_caution() {
    let (_folder, store, of) = fixture();
    let learn = |offered: Offered| {
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap();
    };
    let schema = json!({ "type": "object" });
    learn(to(false, "1", &[]));
    learn(to(false, "1", &[tool("EVIL", &schema)]));
    let mut large = tool("EVIL", &schema);
    large["outputSchema"] = json!({ "type": "object", "description": "x".repeat(1 << 20) });
    learn(to(true, "1", &[large]));
    assert_eq!(pending(&store, &of), ["tool `a`"]);
    assert_eq!(names(&store, &of), [""; 0]);
}

/// Hints of forms that are too much to be kept go on counting.
#[test]
fn what_is_forgotten_of_other_clients_is_as_careful_as_it_was() {
    let tools = |words: &str, reads: bool| -> Vec<Value> {
        let hinted = |name: String, text: String, reads: bool| {
            json!({
                "name": name, "description": text, "inputSchema": {},
                "annotations": { "readOnlyHint": reads, "destructiveHint": !reads },
            })
        };
        let large = (0..10).map(|number| hinted(format!("f{number}"), words.repeat(900_000), true));
        large
            .chain([hinted("z".to_owned(), words.to_owned(), reads)])
            .collect()
    };
    let changes = ChangePolicy::default();
    let rules = Rules {
        changes: &changes,
        declared: None,
        asker: Asker::Agent,
    };
    let mut record = Record::new();
    record.update(to(false, "1", &tools("0", true)), rules, None);
    let hint = |record: &Record| {
        let known = record.clone().into_known().unwrap();
        let tool: Value = serde_json::from_str(known.listing.tools[10].tool.get()).unwrap();
        assert_eq!(tool["name"], "z");
        tool["annotations"]["readOnlyHint"].as_bool().unwrap()
    };
    assert!(hint(&record));
    record.update(to(false, "1", &tools("A", false)), rules, None);
    assert!(!hint(&record));
    for words in ["B", "C"] {
        record.update(to(true, "1", &tools(words, true)), rules, None);
        assert!(!hint(&record), "{words}");
    }
    let written = serde_json::to_string(&record).unwrap();
    assert!(!hint(&Record::parse(&written).unwrap()));
    // What is gone has none.
    let mut fewer = tools("D", true);
    fewer.pop();
    record.update(to(true, "2", &fewer), rules, None);
    record.update(to(false, "2", &fewer), rules, None);
    assert_eq!(record.cautions("z").count(), 0);
}

/// Pseudo-random numbers, the same in each run.
struct Random(u64, Vec<Value>);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }

    fn is_one_of(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    fn word(&mut self) -> Value {
        json!(format!("w{}q", self.below(60)))
    }

    /// Returns a tool, often one that was offered before, in a form that can be shown or cannot.
    fn tool(&mut self, name: &str) -> Value {
        let before = self.1.iter().rev().find(|tool| tool["name"] == name);
        if let Some(mut before) = before.cloned()
            && !self.is_one_of(3)
        {
            before["inputSchema"] = match self.is_one_of(2) {
                true => json!(7),
                false => json!({ "type": "object" }),
            };
            return before;
        }
        let tool = self.new_tool(name);
        self.1.push(tool.clone());
        tool
    }

    fn new_tool(&mut self, name: &str) -> Value {
        let mut tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        for member in ["description", "title", "x-more"] {
            if !self.is_one_of(3) {
                tool[member] = self.word();
            }
        }
        match self.below(6) {
            0 | 1 => tool["inputSchema"] = json!(7),
            2 => tool["inputSchema"]["description"] = self.word(),
            _ => {}
        }
        match self.below(6) {
            0 => tool["annotations"] = json!({ "title": self.word(), "readOnlyHint": true }),
            1 => tool["annotations"] = self.word(),
            2 => tool["_meta"] = json!([self.word()]),
            3 => tool["_meta"] = json!({ "more": self.word() }),
            _ => {}
        }
        match self.below(4) {
            0 => tool["outputSchema"] = json!({ "type": "object", "title": self.word() }),
            1 => tool["outputSchema"] = self.word(),
            _ => {}
        }
        tool
    }

    fn offered(&mut self) -> Offered {
        let names = ["a", "b"].into_iter().filter(|_| !self.is_one_of(5));
        let names: Vec<_> = names.collect();
        let tools: Vec<_> = names.into_iter().map(|name| self.tool(name)).collect();
        let version = if self.is_one_of(6) { "2" } else { "1" };
        let mut offered = to(self.is_one_of(2), version, &tools);
        if self.is_one_of(4) {
            offered.protocol = "2025-03-26".to_owned();
        }
        if !self.is_one_of(3) {
            let prompt = json!({ "name": "p", "description": self.word(), "title": self.word() });
            offered.prompts = vec![to_raw_value(&prompt).unwrap()];
        }
        if !self.is_one_of(3) {
            let name = if self.is_one_of(3) {
                json!(7)
            } else {
                self.word()
            };
            let template = json!({ "uriTemplate": "t:{x}", "name": name, "title": self.word() });
            offered.templates = vec![to_raw_value(&template).unwrap()];
        }
        if !self.is_one_of(3) {
            offered.instructions = self.word().as_str().map(str::to_owned);
        }
        offered
    }
}

/// Returns the words in a text.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|one: char| !one.is_ascii_alphanumeric());
    let words = words.filter(|word| word.starts_with('w') && word.ends_with('q'));
    words.map(str::to_owned).collect()
}

/// Returns all words that a model is told.
fn told(record: &Record) -> BTreeSet<String> {
    let known = record.clone().into_known().unwrap();
    let listing = &known.listing;
    let mut all = words(known.instructions.as_deref().unwrap_or_default());
    for tool in &listing.tools {
        all.extend(words(tool.tool.get()));
    }
    for item in listing.items() {
        all.extend(words(item.object.get()));
    }
    all
}

/// A model is told only texts of the server's first connection, or of a difference that was
/// approved, whatever a server offers, and to which client.
#[test]
fn nothing_is_told_that_was_in_no_difference() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15, Vec::new());
    for _ in 0..1000 {
        let mode = [OnChange::Freeze, OnChange::Ask, OnChange::Block][random.below(3) as usize];
        let changes = ChangePolicy::from(mode);
        let rules = Rules {
            changes: &changes,
            declared: None,
            asker: Asker::Agent,
        };
        let mut record = Record::new();
        random.1.clear();
        record.update(random.offered(), rules, None);
        let mut read = told(&record);
        let mut log = format!("{record:?}\n");
        for _ in 0..12 {
            if random.is_one_of(3) {
                let only: BTreeSet<String> = ["a".to_owned()].into();
                let selection = Selection {
                    component: None,
                    tools: random.is_one_of(3).then_some(&only),
                };
                let shown = record.pending().selected(selection);
                for item in shown.iter() {
                    let difference = difference(item);
                    log += &difference;
                    read.extend(words(&difference));
                }
                record.approve(&shown.digest(), selection).unwrap();
            } else {
                record.update(random.offered(), rules, None);
                log += &format!("{record:?}\n");
            }
            let told = told(&record);
            assert!(told.is_subset(&read), "{told:?} {read:?}\n{log}");
        }
    }
}
