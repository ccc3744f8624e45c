//! Listing of a bridged server, made of the record of its upstream.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing, NonconformingItem, Provenance, What};
use dormouse_config::{Bridge, ChangePolicy, Filter};
use dormouse_text::visible::visible_line;
use dormouse_wit::signature::compact;
use dormouse_wit::{Declaration, DeclaredTool};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use similar::ChangeTag;

use super::indented_json::indented;
use super::line_diff::{self, Shown};
use crate::store::{Gated, KnownUpstream, PendingItem, Treatment, frozen_tool};

/// Name of the only tool of a server of which nothing is known yet.
pub(super) const DISCOVER: &str = "discover";

/// Returns the listing that a bridged server shows.
pub(super) fn listing(
    server: &str,
    bridge: &Bridge,
    known: Option<&KnownUpstream>,
) -> Arc<Listing> {
    match known {
        Some(known) => filtered(&approved(known, &bridge.changes), &bridge.filter),
        None if bridge.stubs.is_empty() => made(vec![discover(server)]),
        None => made(bridge.stubs.iter().map(|name| stub(server, name)).collect()),
    }
}

/// Returns an upstream's listing as its user has approved it, without the items that have changed
/// since and that the policy withholds.
fn approved(known: &KnownUpstream, changes: &ChangePolicy) -> Arc<Listing> {
    let is_withheld =
        |item: &&PendingItem| item.was.is_some() && item.treatment(changes) == Treatment::Withheld;
    let withheld: HashSet<(Gated, &str)> = known
        .pending
        .iter()
        .filter(is_withheld)
        .map(|item| (item.kind, item.name.as_str()))
        .collect();
    if withheld.is_empty() {
        return Arc::clone(&known.listing);
    }
    let mut shown = Listing::clone(&known.listing);
    let is_shown = |kind, name: &str| !withheld.contains(&(kind, name));
    shown.tools.retain(|tool| is_shown(Gated::Tool, &tool.name));
    shown
        .prompts
        .retain(|prompt| is_shown(Gated::Prompt, &prompt.key));
    shown
        .templates
        .retain(|template| is_shown(Gated::Template, &template.key));
    Arc::new(shown)
}

/// Returns the listing of a plugin in front of an upstream: its own declaration, with tools as
/// cautious as those of its upstream, and without those that the policy withholds because their
/// user has not approved them.
pub(super) fn adapted(
    declared: &Arc<Listing>,
    changes: &ChangePolicy,
    known: Option<&KnownUpstream>,
) -> Arc<Listing> {
    let Some(known) = known else {
        return Arc::clone(declared);
    };
    let pending = known.pending.of_component(declared);
    let outdated: HashMap<&str, &ListedTool> = outdated(declared, known).collect();
    if pending.is_empty() && outdated.is_empty() {
        return Arc::clone(declared);
    }
    let mut waiting: HashMap<&str, Vec<&PendingItem>> = HashMap::new();
    for item in pending.iter() {
        waiting.entry(&item.name).or_default().push(item);
    }
    let mut shown = Listing::clone(declared);
    shown.tools.retain_mut(|tool| {
        if let Some(approved) = outdated.get(tool.name.as_str()) {
            tool.replace(frozen_tool(&tool.tool, &approved.tool));
        }
        let items = waiting.get(tool.name.as_str());
        items.into_iter().flatten().all(|item| {
            let treatment = item.treatment(changes);
            // A function of the component's own is what the component declares of it.
            if treatment != Treatment::Withheld && !tool.is_typed() {
                tool.replace(frozen_tool(&tool.tool, &item.is));
            }
            treatment != Treatment::Withheld
        })
    });
    Arc::new(shown)
}

/// Returns the tools that a plugin in front of an upstream declares in another form than their user
/// has approved: each as approved, by its name. Functions of the plugin's own are left out, because
/// the plugin alone defines them.
pub(super) fn outdated<'k>(
    declared: &Listing,
    known: &'k KnownUpstream,
) -> impl Iterator<Item = (&'k str, &'k ListedTool)> {
    let tools = declared.tools.iter().filter(|tool| !tool.is_typed());
    let declared: HashMap<&str, &ListedTool> =
        tools.map(|tool| (tool.name.as_str(), tool)).collect();
    let approved = known.listing.tools.iter().filter(move |approved| {
        let declared = declared.get(approved.name.as_str());
        declared.is_some_and(|tool| !Gated::Tool.same(&approved.name, &tool.tool, &approved.tool))
    });
    approved.map(|tool| (tool.name.as_str(), tool))
}

/// Returns a listing of the tools that the user wants to be shown.
fn filtered(listing: &Arc<Listing>, filter: &Filter) -> Arc<Listing> {
    let filter = filter.of_tools();
    // What is odd about a tool that nobody wants is nobody's concern either.
    let wanted = |odd: &NonconformingItem| odd.what != What::Tool || filter.shows(&odd.name);
    let shows = |tool: &ListedTool| filter.shows(&tool.name);
    if listing.tools.iter().all(shows) && listing.odd.iter().all(wanted) {
        return Arc::clone(listing);
    }
    let mut shown = Listing::clone(listing);
    shown.tools.retain(shows);
    shown.odd.retain(wanted);
    Arc::new(shown)
}

/// Makes a listing of tools that are defined here.
fn made(tools: Vec<(String, Value)>) -> Arc<Listing> {
    let tools = tools.into_iter().filter_map(|(name, tool)| {
        let tool = to_raw_value(&tool).ok()?;
        Some(DeclaredTool {
            name,
            tool,
            function: None,
        })
    });
    let declaration = Declaration {
        tools: tools.collect(),
        ..Declaration::default()
    };
    let listing = Listing::new(declaration, Provenance::Section);
    Arc::new(listing.unwrap_or_else(|_| Listing::empty()))
}

fn discover(server: &str) -> (String, Value) {
    let tool = json!({
        "name": DISCOVER,
        "title": format!("Discover {server}"),
        "description": format!(
            "The MCP server `{server}` has not been connected yet, so its tools are not known. \
             Call this once: it connects, answers with the signatures of all of its tools, and \
             from then on they can be called."
        ),
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        "annotations": { "readOnlyHint": true, "openWorldHint": true },
    });
    (DISCOVER.to_owned(), tool)
}

fn stub(server: &str, name: &str) -> (String, Value) {
    let tool = json!({
        "name": name,
        "description": format!(
            "A tool of the MCP server `{server}`, which has not been connected yet: what it does \
             and what arguments it takes is known after the first call of any of its tools."
        ),
        "inputSchema": { "type": "object" },
    });
    (name.to_owned(), tool)
}

/// Most bytes of signatures that a model is sent at once: clients refuse results that are very
/// long, and all tools are in their lists by then.
const MAX_SIGNATURES_BYTES: usize = 16 << 10;

/// Most bytes of the names of tools whose signatures are left out.
const MAX_NAMES_BYTES: usize = 4 << 10;

/// Returns the text for a model on the tools that a server turned out to have.
pub(super) fn signatures(
    server: &str,
    listing: &Listing,
    shown: impl Fn(&str) -> String,
) -> String {
    let mut text = format!("Server `{server}` has {} tools:\n", listing.tools.len());
    let mut left_out = Vec::new();
    for tool in &listing.tools {
        let name = shown(&tool.name);
        let signature = match left_out.is_empty() {
            true => signature(&name, tool.tool.get()),
            false => String::new(),
        };
        if left_out.is_empty() && text.len() + signature.len() <= MAX_SIGNATURES_BYTES {
            text.push_str(&signature);
        } else {
            left_out.push(name);
        }
    }
    if !left_out.is_empty() {
        let mut names = left_out.join(", ");
        if names.len() > MAX_NAMES_BYTES {
            names.truncate(names.floor_char_boundary(MAX_NAMES_BYTES));
            names.push('…');
        }
        let _ = write!(
            text,
            "\n\nAnd {} more, which are in the list of tools now: {names}",
            left_out.len()
        );
    }
    text
}

/// Returns the signature of a tool with the first line of its description. `tool` is an MCP `Tool`
/// object.
fn signature(name: &str, tool: &str) -> String {
    let object: Value = serde_json::from_str(tool).unwrap_or_default();
    let schema = |name: &str| object.get(name).filter(|schema| schema.is_object());
    let none = json!({});
    let input = schema("inputSchema").unwrap_or(&none);
    let mut text = format!("\n- {}", compact(name, input, schema("outputSchema")));
    let description = object.get("description").and_then(Value::as_str);
    if let Some(first) = description.and_then(|text| text.trim().lines().next()) {
        text.push_str("\n  ");
        text.extend(first.chars().take(200));
    }
    text
}

/// Most levels of a value that is shown with a line for each of its parts: each level indents all
/// lines within it.
const MAX_INDENTED_LEVELS: usize = 16;

/// Checks whether a value has more than `levels` levels.
fn is_deeper(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(levels)) => items.iter().any(|item| is_deeper(item, levels)),
        (Value::Object(members), Some(levels)) => {
            members.values().any(|member| is_deeper(member, levels))
        }
        _ => false,
    }
}

/// Returns a member's value as a reader compares it: a string as its text, and all else as it is
/// written, with a line for each of its parts.
fn member_text(value: &RawValue) -> String {
    match serde_json::from_str(value.get()) {
        Ok(Value::String(text)) => format!("{text}\n"),
        Ok(parsed) if !is_deeper(&parsed, MAX_INDENTED_LEVELS) => indented(value.get()) + "\n",
        Ok(_) | Err(_) => format!("{}\n", value.get()),
    }
}

/// Returns the difference between an item that an upstream offers and the same item as it was
/// approved, for the user who has to approve it: the members that differ, as they were and as they
/// are, with all changed lines and the unchanged ones next to them. Control characters and
/// look-alikes are made visible.
#[must_use]
pub fn difference(item: &PendingItem) -> String {
    let members = |object: Option<&str>| -> BTreeMap<String, Box<RawValue>> {
        let Some(object) = object else {
            return BTreeMap::new();
        };
        match serde_json::from_str(object) {
            Ok(members) => members,
            // Instructions are a text.
            Err(_) => {
                let text = RawValue::from_string(object.to_owned()).ok();
                text.map(|text| ("text".to_owned(), text))
                    .into_iter()
                    .collect()
            }
        }
    };
    // What a server says is not all told: what nobody was told is not known.
    let [was, is] = item.told();
    let new = if was.is_none() { ", new" } else { "" };
    let is = is.as_deref().unwrap_or(item.is.get());
    let (was, is) = (members(was.as_deref()), members(Some(is)));
    let mut text = format!("{item}{new}\n");
    let names = was
        .keys()
        .chain(is.keys().filter(|name| !was.contains_key(*name)));
    let mut compare = |name: &str, before: &str, after: &str| {
        text.push_str(&format!("  {}\n", visible_line(name)));
        for shown in line_diff::with_context(&line_diff::lines(before, after)) {
            let (sign, line) = match shown {
                Shown::Line(ChangeTag::Delete, line) => ('-', visible_line(line)),
                Shown::Line(ChangeTag::Insert, line) => ('+', visible_line(line)),
                Shown::Line(ChangeTag::Equal, line) => (' ', visible_line(line)),
                // No line of a server's begins like this one.
                Shown::Unchanged(count) => ('…', format!("{count} lines as before").into()),
            };
            text.push_str(&format!("  {sign} {line}\n"));
        }
    };
    let mut differs = false;
    for name in names {
        let values = [was.get(name), is.get(name)];
        let is_text = values.map(|value| value.map(|value| value.get().starts_with('"')));
        let [before, after] = values.map(|value| match (value, is_text) {
            (None, _) => String::new(),
            // A text may read as what it becomes: `"5"` as 5, and that of an object as that object.
            (Some(value), [Some(was), Some(is)]) if was != is => format!("{}\n", value.get()),
            (Some(value), _) => member_text(value),
        });
        let is_there = was.contains_key(name) == is.contains_key(name);
        if before != after || !is_there {
            differs = true;
            compare(name, &before, &after);
        }
    }
    if !differs {
        // It is only written in another way.
        let was = item.was.as_deref().map_or("", RawValue::get);
        compare("as it is written", was, item.is.get());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dormouse_config::{Fingerprint, OnChange};
    use dormouse_launch::{Launch, Stdio};
    use dormouse_upstream::Offered;

    use super::*;
    use crate::store::{Selection, Store};

    /// Makes an item that can be shown: members unknown to MCP are shown as they are.
    fn item(was: &Value, is: &Value) -> PendingItem {
        let shown = |object: &Value| {
            let mut object = object.clone();
            object["name"] = json!("x");
            object
        };
        let (was, is) = (&shown(was), &shown(is));
        PendingItem {
            kind: Gated::Tool,
            name: "x".to_owned(),
            was: Some(to_raw_value(was).unwrap()),
            known_elsewhere: false,
            is: to_raw_value(is).unwrap(),
            since: None,
            of_others: BTreeSet::new(),
            replaces: true,
        }
    }

    #[test]
    fn of_very_many_tools_the_first_signatures_and_the_names_are_told() {
        let tools = |count: usize| {
            let tools = (0..count).map(|number| {
                let schema =
                    json!({ "type": "object", "properties": { "text": { "type": "string" } } });
                let tool = json!({ "name": "x", "description": "Does.", "inputSchema": schema });
                (format!("tool{number}"), tool)
            });
            signatures("s", &made(tools.collect()), str::to_owned)
        };
        let few = tools(3);
        assert!(few.contains("- tool2(") && !few.contains("more"), "{few}");
        let many = tools(2000);
        assert!(many.len() < MAX_SIGNATURES_BYTES + MAX_NAMES_BYTES + 100);
        assert!(
            many.contains("- tool0(") && many.contains(" more, which are"),
            "{many:.300}"
        );
        assert!(many.ends_with('…'), "{many:.300}");
    }

    #[test]
    fn what_waits_is_shown_in_linear_time() {
        let members = |size: usize| {
            let with = |value: &str| {
                let members = (0..size).map(|number| (format!("m{number}"), json!(value)));
                Value::Object(members.collect())
            };
            vec![item(&with("a"), &with("b"))]
        };
        let items = |size: usize| {
            let with = |value: &str| json!({ "name": "x", "description": value });
            vec![item(&with("a\nb\nc"), &with("a\nd\nc")); size]
        };
        let lines = |size: usize| {
            let with = |seed: usize| {
                let lines = (0..size * 10).map(|line| json!((line * seed) % 7919));
                json!({ "inputSchema": { "enum": lines.collect::<Value>() } })
            };
            vec![item(&with(17), &with(31))]
        };
        type Items<'i> = &'i dyn Fn(usize) -> Vec<PendingItem>;
        let inputs: [(&str, Items<'_>); 3] =
            [("members", &members), ("items", &items), ("lines", &lines)];
        for (what, input) in inputs {
            dormouse_tests::growth::is_linear(what, 300, input, |items: &Vec<PendingItem>| {
                for item in items {
                    std::hint::black_box(difference(item));
                }
            });
        }
    }

    /// A user who approves a number has seen it as it is written.
    #[test]
    fn numbers_are_shown_as_they_are_written() {
        let tool = |most: &str, description: &str| {
            let text = format!(
                r#"{{"name":"x","description":"{description}","inputSchema":{{"type":"object","x-most":{most}}}}}"#
            );
            RawValue::from_string(text).unwrap()
        };
        let shown = |is: Box<RawValue>| {
            let mut item = item(&json!({}), &json!({}));
            (item.was, item.is) = (Some(tool("9007199254740992.0", "a")), is);
            difference(&item)
        };
        for description in ["a", "b"] {
            let text = shown(tool("9007199254740993.0", description));
            assert!(
                text.contains("-   \"x-most\": 9007199254740992.0\n")
                    && text.contains("+   \"x-most\": 9007199254740993.0\n"),
                "{text}"
            );
            assert_eq!(text.contains("description"), description == "b", "{text}");
        }
    }

    /// A text is not what it reads as: an agent is not shown one where MCP has an object.
    #[test]
    fn a_text_that_becomes_what_it_reads_as_is_shown() {
        let object = json!({ "readOnlyHint": true });
        let text = serde_json::to_string_pretty(&object).unwrap();
        let more = json!({ "readOnlyHint": true, "title": "Read" });
        for (was, is) in [
            (json!(text), object.clone()),
            (object, json!(text)),
            (json!(text), more),
            (json!("5"), json!(5)),
            (json!("true"), json!(true)),
            (json!("[]"), json!([])),
        ] {
            let tool = |description: &str, more: &Value| json!({ "description": description, "x-more": more });
            let shown = difference(&item(&tool("Reads.", &was), &tool("Writes.", &is)));
            for line in [
                "  description".to_owned(),
                "  x-more".to_owned(),
                format!("  - {was}"),
                format!("  + {is}"),
            ] {
                let mut lines = shown.lines();
                assert!(lines.any(|shown| shown == line), "no `{line}` in {shown}");
            }
        }
    }

    /// A text that is also in an object nobody was shown, or in a member nobody is shown, is not
    /// left out.
    #[test]
    fn what_nobody_was_told_is_not_known() {
        let tool = |schema: &Value, hints: &Value| json!({ "description": "EVIL", "inputSchema": schema, "annotations": hints });
        let (schema, title) = (json!({}), json!({ "title": "WORSE" }));
        let after_unshown = difference(&item(&tool(&json!(7), &title), &tool(&schema, &title)));
        for line in ["tool `x`, new", "  + EVIL", "  +   \"title\": \"WORSE\""] {
            let mut lines = after_unshown.lines();
            assert!(
                lines.any(|shown| shown == line),
                "no `{line}` in {after_unshown}"
            );
        }
        // Annotations that are no object are not told.
        let mut was = tool(&schema, &json!(["WORSE"]));
        was["description"] = json!("Good.");
        let shown = difference(&item(&was, &tool(&schema, &title)));
        assert!(
            !shown.contains("new") && !shown.contains("- [\n"),
            "{shown}"
        );
        assert!(
            shown.contains("- Good.\n") && shown.contains("+ EVIL\n"),
            "{shown}"
        );
        assert!(shown.contains("  +   \"title\": \"WORSE\"\n"), "{shown}");
    }

    /// A component that declares an older form of a tool is as cautious as the current form,
    /// whoever has approved that, and repeats nothing that it does not declare.
    #[test]
    fn a_component_is_as_careful_as_what_is_approved_of_its_upstream() {
        let tool = |description: &str, reads: bool| {
            json!({
                "name": "x", "description": description, "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": reads },
            })
        };
        let declared = made(vec![("x".to_owned(), tool("Reads.", true))]);
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("servers"));
        let of = Fingerprint::of(&Launch::Stdio(Stdio::default()));
        for mode in [OnChange::Freeze, OnChange::Accept] {
            let changes = ChangePolicy::from(mode);
            for (description, reads) in [("Reads.", true), ("Deletes.", false)] {
                let offered = Offered {
                    tools: vec![to_raw_value(&tool(description, reads)).unwrap()],
                    ..Offered::default()
                };
                store
                    .learn(&of, offered, &changes, Some(&declared))
                    .unwrap();
                let pending = store.known(&of).unwrap().pending.digest();
                for is_approved in [false, true] {
                    if is_approved {
                        store.approve(&of, &pending, Selection::default()).unwrap();
                    }
                    let known = store.known(&of).unwrap();
                    let shown = adapted(&declared, &changes, Some(&known));
                    let shown: Value = serde_json::from_str(shown.tools[0].tool.get()).unwrap();
                    assert_eq!(shown["description"], "Reads.", "{mode:?}");
                    let hint = &shown["annotations"]["readOnlyHint"];
                    assert_eq!(*hint, reads, "{mode:?} {is_approved}");
                    let count = outdated(&declared, &known).count();
                    assert!(
                        count == usize::from(!reads),
                        "{mode:?} {is_approved}: {count}"
                    );
                }
            }
        }
    }

    /// Each level would indent every line within it.
    #[test]
    fn what_is_deep_is_shown_at_about_its_length() {
        let deep = |levels: usize, number: u64| {
            let items = json!(vec![number; 10_000]);
            let nested = (0..levels).fold(items, |inner, _| json!([inner]));
            json!({ "_meta": { "x": nested } })
        };
        let length = |levels| difference(&item(&deep(levels, 1), &deep(levels, 2))).len();
        assert!(length(90) < length(1), "{}", length(90));
        assert!(length(MAX_INDENTED_LEVELS - 3) > length(1));
        let shown = difference(&item(&deep(90, 1), &deep(90, 2)));
        assert!(shown.contains("1,1,1") && shown.contains("2,2,2"));
    }
}
