//! Caps on `serverInfo`, `capabilities` and `instructions` of a server. All of them are kept, and
//! read again at each start.

use dormouse_catalog::ItemLimits;
use dormouse_jsonrpc::Object;
use dormouse_text::log_text::escaped;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::server_secrets::ServerSecrets;

/// Deepest nesting of a member. MCP's own are shallower, and a member that is kept or passed on in
/// other objects can still be read there.
const MAX_DEPTH: usize = 16;

/// Most members that are left out and logged one by one: servers choose how many there are.
const MAX_LOGGED: usize = 3;

/// Most bytes that are logged of the name of such a member.
const MAX_LOGGED_NAME_BYTES: usize = 64;

/// Reads an object without the members that are too deep, and without those that make it larger
/// than an item of a list may be. `called` is what MCP calls it. A member whose text is too long is
/// not read: values take many times the memory of their text.
pub(super) fn read_bounded_object(
    called: &str,
    text: Option<&RawValue>,
    secrets: &ServerSecrets,
) -> Map<String, Value> {
    let mut bounded = BoundedObject::new(called, Some(secrets));
    let text = text.map_or("{}", RawValue::get);
    match Object::read(text) {
        Ok(object) => {
            for member in object.iter() {
                let read = || serde_json::from_str(&member.value).ok();
                bounded.add(&member.name, member.value.len(), read);
            }
        }
        Err(error) => {
            let why = secrets.redact(&error.to_string());
            tracing::warn!("a server's `{called}` is left out: it cannot be read: {why}");
        }
    }
    bounded.finish()
}

/// Does the same with an object that has been read, whose secrets are not known here.
pub(crate) fn bounded_object(called: &str, object: Map<String, Value>) -> Map<String, Value> {
    let mut bounded = BoundedObject::new(called, None);
    for (name, value) in object {
        bounded.add(&name, 0, || Some(value));
    }
    bounded.finish()
}

/// An object that grows no larger than an item of a list may be.
struct BoundedObject<'c> {
    called: &'c str,
    /// Secrets that are not logged; no name of a member is where they are not known.
    secrets: Option<&'c ServerSecrets>,
    limits: ItemLimits,
    members: Map<String, Value>,
    size: Size,
    left_out: usize,
}

impl<'c> BoundedObject<'c> {
    fn new(called: &'c str, secrets: Option<&'c ServerSecrets>) -> Self {
        Self {
            called,
            secrets,
            limits: ItemLimits::default(),
            members: Map::new(),
            size: Size::default(),
            left_out: 0,
        }
    }

    /// Adds a member, unless it does not fit. `text_bytes` is the length of the text that it is
    /// read from.
    fn add(&mut self, name: &str, text_bytes: usize, read: impl FnOnce() -> Option<Value>) {
        let (bytes, members) = (self.limits.bytes, self.limits.members);
        let too_large =
            || format!("with it, that has more than {bytes} bytes or {members} members");
        if self.size.bytes + name.len() + text_bytes > bytes {
            return self.leave_out(name, &too_large());
        }
        match read() {
            None => self.leave_out(name, "it cannot be read"),
            Some(value) if !is_within(&value, MAX_DEPTH) => {
                let why = format!("it is nested more than {MAX_DEPTH} levels deep");
                self.leave_out(name, &why);
            }
            Some(value) => {
                let with = self.size.with(name, &value);
                if with.bytes > bytes || with.members > members {
                    return self.leave_out(name, &too_large());
                }
                self.size = with;
                self.members.insert(name.to_owned(), value);
            }
        }
    }

    fn leave_out(&mut self, name: &str, why: &str) {
        self.left_out += 1;
        if self.left_out <= MAX_LOGGED {
            let called = self.called;
            let name = match self.secrets {
                Some(secrets) => {
                    let name = secrets
                        .texts()
                        .redact_beginning(name, MAX_LOGGED_NAME_BYTES);
                    format!("`{}`", escaped(&name))
                }
                None => "a member".to_owned(),
            };
            tracing::warn!(
                "{name} of a server's `{called}` is left out: {why}\nhint: whoever wrote the server has to mend it"
            );
        }
    }

    fn finish(self) -> Map<String, Value> {
        if let Some(more @ 1..) = self.left_out.checked_sub(MAX_LOGGED) {
            let called = self.called;
            tracing::warn!("{more} more members of a server's `{called}` are left out");
        }
        self.members
    }
}

/// Returns the `instructions` of a server, if they are not longer than an item of a list may be.
pub(crate) fn bounded_instructions(instructions: Option<String>) -> Option<String> {
    let limit = ItemLimits::default().bytes;
    let length = instructions.as_ref().map_or(0, String::len);
    if length > limit {
        tracing::warn!(
            "a server's `instructions` are left out: they have {length} bytes where {limit} are allowed\nhint: whoever wrote the server has to mend it"
        );
        return None;
    }
    instructions
}

/// Approximate size of a value's text.
#[derive(Default, Clone, Copy)]
struct Size {
    bytes: usize,
    members: usize,
}

impl Size {
    fn with(mut self, name: &str, value: &Value) -> Self {
        self.bytes += name.len();
        self.members += 1;
        self.add(value);
        self
    }

    fn add(&mut self, value: &Value) {
        // What stands around it, or a number.
        self.bytes += 4;
        match value {
            Value::String(text) => self.bytes += text.len(),
            Value::Number(number) => self.bytes += number.to_string().len(),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => {
                for (name, value) in members {
                    *self = self.with(name, value);
                }
            }
            _ => {}
        }
    }
}

/// Whether a value is nested at most `depth` levels deep.
fn is_within(value: &Value, depth: usize) -> bool {
    let inner = depth.checked_sub(1);
    match value {
        Value::Array(items) => {
            inner.is_some_and(|depth| items.iter().all(|item| is_within(item, depth)))
        }
        Value::Object(members) => {
            inner.is_some_and(|depth| members.values().all(|value| is_within(value, depth)))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use dormouse_launch::{Http, Launch};
    use serde_json::json;

    use super::*;

    #[test]
    fn of_many_members_that_are_left_out_three_are_logged() {
        let (logged, _guard) = dormouse_tests::logged::logged();
        let deep = (0..20).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let many = (0..10_000).map(|number| (format!("m{number}"), deep.clone()));
        assert!(bounded_object("serverInfo", many.collect()).is_empty());
        let lines = logged.lines();
        let named = lines.iter().filter(|line| line.contains("levels deep"));
        assert_eq!(named.count(), 3, "{lines:?}");
        let rest = lines.last().unwrap();
        assert!(rest.contains("9997 more members"), "{rest}");
    }

    #[test]
    fn the_name_of_a_member_that_is_left_out_is_logged_without_secrets() {
        let (logged, _guard) = dormouse_tests::logged::logged();
        let launch = Launch::Http(Http {
            url: "https://e.com/mcp?key=configured-secret".into(),
            ..Http::default()
        });
        let secrets = ServerSecrets::new("web", &launch);
        let deep = (0..20).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let long = "n".repeat(1000);
        let said = json!({ "configured-secret": deep, "name": "up", long: deep }).to_string();
        let said: Box<RawValue> = serde_json::from_str(&said).unwrap();
        let read = read_bounded_object("serverInfo", Some(&said), &secrets);
        assert_eq!(read.keys().collect::<Vec<_>>(), ["name"]);
        let lines = logged.lines().join("\n");
        assert!(lines.contains("levels deep"), "{lines}");
        assert!(
            !lines.contains("configured-secret") && lines.len() < 800,
            "{lines}"
        );
    }

    fn kept(said: Value) -> Vec<String> {
        let Value::Object(said) = said else {
            panic!("{said}")
        };
        bounded_object("serverInfo", said).keys().cloned().collect()
    }

    /// Also where a reader of values takes a text for what is in it, whatever the depth of
    /// the message.
    #[test]
    fn what_a_server_says_of_itself_is_kept_as_deep_as_it_can_be_read_anywhere() {
        let nested = |depth: usize| (0..depth).fold(json!("x"), |inner, _| json!([inner]));
        let said = json!({
            "name": "up", "title": nested(MAX_DEPTH), "x": nested(MAX_DEPTH + 1),
            "y": { "z": nested(300) },
        });
        assert_eq!(kept(said), ["name", "title"]);
    }

    #[test]
    fn what_a_server_says_of_itself_is_no_larger_than_an_item() {
        let long = "x".repeat((1 << 20) - 100);
        let longer = "x".repeat(1 << 20);
        let said =
            json!({ "name": longer, "title": long, "version": "1", "icons": ["x".repeat(90)] });
        assert_eq!(kept(said), ["title", "version"]);
        let many: Map<String, Value> = (0..70_000)
            .map(|one| (format!("{one}"), json!({})))
            .collect();
        assert_eq!(
            kept(json!({ "experimental": many, "tools": {} })),
            ["tools"]
        );
        assert_eq!(bounded_instructions(Some(longer.clone() + "x")), None);
        assert_eq!(bounded_instructions(Some(longer.clone())), Some(longer));
        assert_eq!(bounded_instructions(None), None);
    }
}
