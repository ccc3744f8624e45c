//! Objects whose members may only be something: what they are, judged as text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::schema;

/// How deep an item may be: as many clients read nothing that is deeper than 128, and
/// around an item there is a list, a result and a message.
const DEEPEST: usize = 100;

/// How much is repeated of a value that is wrong, in characters.
const REPEATED: usize = 60;

/// What a member may be.
pub(super) enum Is {
    Text,
    /// True or false.
    Flag,
    /// A whole number.
    Whole,
    /// A number from 0 to 1.
    Share,
    /// A date and a time, as ISO 8601 writes them.
    Moment,
    /// A URI, as far as to its scheme: some clients refuse what has none.
    Uri,
    /// One of these texts.
    One(&'static [&'static str]),
    /// An array of texts.
    Texts,
    /// An object, whatever is in it.
    Object,
    Record(&'static Record),
    /// An array; what in it is something else is left out.
    Each(&'static Is),
    /// An array of these and nothing else.
    All(&'static Is),
    /// A block of content.
    Block,
    /// What is in a resource.
    Contents,
    /// The schema of a tool's arguments.
    Input,
    /// The schema of its structured content.
    Output,
}

/// An object. Those of its members that are known may only be something; any others may
/// be anything.
pub(super) struct Record {
    pub(super) members: &'static [(&'static str, Is)],
    /// Those without which it is none.
    pub(super) needs: &'static [&'static str],
}

/// What becomes of a value.
pub(super) enum Verdict {
    Fine,
    /// This stands for it.
    Instead(String),
    /// It cannot be there; what is wrong with it.
    Wrong(String),
}

/// Judges one item.
#[derive(Default)]
pub(super) struct Judge {
    /// What was mended.
    pub(super) mended: Vec<String>,
    /// Whether the item has to be another for the versions with sessions.
    pub(super) of_old: bool,
}

impl Judge {
    /// An object with a member that is missing in it.
    pub(super) fn completed(&mut self, text: &str, missing: (&str, String)) -> Option<String> {
        let (name, value) = missing;
        let members = members(text)?;
        let found = members.iter().position(|member| member.name == name);
        let Some(found) = found else {
            self.mended.push(format!("it has no `{name}`"));
            let comma = if members.is_empty() { "" } else { "," };
            let inner = text.strip_suffix('}')?;
            return Some(format!("{inner}{comma}\"{name}\":{value}}}"));
        };
        let null = members.get(found)?.value == "null";
        let mut edit = Edit::default();
        edit.replace(found, value);
        match edit.verdict(&members) {
            Verdict::Instead(text) if null => {
                self.mended.push(format!("`{name}` is `null`"));
                Some(text)
            }
            _ => None,
        }
    }

    pub(super) fn record(&mut self, record: &Record, text: &str, place: &str) -> Verdict {
        let Some(members) = members(text) else {
            return wrong(place, text);
        };
        let mut edit = Edit::default();
        for (index, member) in members.iter().enumerate() {
            let mut known = record.members.iter();
            let Some((name, is)) = known.find(|(name, _)| *name == member.name) else {
                continue;
            };
            let place = match place {
                "" => (*name).to_owned(),
                place => format!("{place}.{name}"),
            };
            match self.judge(is, member.value, &place) {
                Verdict::Fine => {}
                Verdict::Instead(value) => edit.replace(index, value),
                Verdict::Wrong(why) if record.needs.contains(name) => return Verdict::Wrong(why),
                Verdict::Wrong(why) => {
                    self.mended.push(why);
                    edit.remove(index);
                }
            }
        }
        let has = |name: &str| members.iter().any(|member| member.name == name);
        if let Some(missing) = record.needs.iter().find(|name| !has(name)) {
            let whose = if place.is_empty() { "it" } else { place };
            return Verdict::Wrong(format!("`{whose}` has no `{missing}`"));
        }
        edit.verdict(&members)
    }

    fn judge(&mut self, is: &Is, value: &str, place: &str) -> Verdict {
        let fits = match is {
            Is::Text => string(value).is_some(),
            Is::Flag => value == "true" || value == "false",
            Is::Whole => value.parse().is_ok_and(|number: f64| number.fract() == 0.0),
            Is::Share => value
                .parse()
                .is_ok_and(|share| (0.0..=1.0).contains(&share)),
            Is::Moment => string(value).is_some_and(|text| is_moment(&text)),
            Is::Uri => string(value).is_some_and(|text| has_scheme(&text)),
            Is::One(these) => string(value).is_some_and(|text| these.contains(&&*text)),
            Is::Texts => serde_json::from_str::<Vec<Cow<'_, str>>>(value).is_ok(),
            Is::Object => value.starts_with('{'),
            Is::Record(record) => return self.record(record, value, place),
            Is::Each(is) => return self.each(is, value, place, false),
            Is::All(is) => return self.each(is, value, place, true),
            Is::Block => return self.block(value, place),
            Is::Contents => return self.contents(value, place),
            Is::Input => return schema::input(self, value, place),
            Is::Output => return schema::output(self, value, place),
        };
        if fits {
            Verdict::Fine
        } else {
            wrong(place, value)
        }
    }

    fn each(&mut self, is: &Is, value: &str, place: &str, all: bool) -> Verdict {
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(value) else {
            return wrong(place, value);
        };
        let mut changed = false;
        let mut kept = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            match self.judge(is, item.get(), &format!("{place}[{index}]")) {
                Verdict::Fine => kept.push(Cow::Borrowed(item.get())),
                Verdict::Instead(text) => {
                    changed = true;
                    kept.push(Cow::Owned(text));
                }
                Verdict::Wrong(why) if all => return Verdict::Wrong(why),
                Verdict::Wrong(why) => {
                    changed = true;
                    self.mended.push(why);
                }
            }
        }
        match changed {
            false => Verdict::Fine,
            true => Verdict::Instead(format!("[{}]", kept.join(","))),
        }
    }
}

/// That a value is none that may be there.
pub(super) fn wrong(place: &str, value: &str) -> Verdict {
    let place = if place.is_empty() { "it" } else { place };
    // Outside of its strings, JSON may be on several lines.
    let visible = |char: char| if char.is_control() { ' ' } else { char };
    let mut said: String = value.chars().take(REPEATED).map(visible).collect();
    if said.len() < value.len() {
        said.push('…');
    }
    Verdict::Wrong(format!("`{place}` is `{said}`"))
}

/// What is changed of an object. Everything else stays as it is written.
#[derive(Default)]
pub(super) struct Edit(Vec<(usize, Option<String>)>);

impl Edit {
    pub(super) fn replace(&mut self, member: usize, value: String) {
        self.0.push((member, Some(value)));
    }

    pub(super) fn remove(&mut self, member: usize) {
        self.0.push((member, None));
    }

    pub(super) fn verdict(self, members: &[Member<'_>]) -> Verdict {
        if self.0.is_empty() {
            return Verdict::Fine;
        }
        let mut text = String::from("{");
        for (index, member) in members.iter().enumerate() {
            let mut changes = self.0.iter();
            let change = changes.find(|(changed, _)| *changed == index);
            let value = match change {
                Some((_, None)) => continue,
                Some((_, Some(value))) => value,
                None => member.value,
            };
            let comma = if text.len() > 1 { "," } else { "" };
            text.push_str(&format!("{comma}{}:{value}", member.written));
        }
        text.push('}');
        Verdict::Instead(text)
    }
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    /// The name as it is written.
    written: &'a str,
    /// The text of its value.
    pub(super) value: &'a str,
}

/// The members of an object, in order.
pub(super) fn members(text: &str) -> Option<Vec<Member<'_>>> {
    struct All<'a>(Vec<Member<'a>>);

    impl<'de> Deserialize<'de> for All<'de> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Object;
            impl<'de> Visitor<'de> for Object {
                type Value = All<'de>;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut all = Vec::new();
                    while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                        let written = name.get();
                        let name = string(written).unwrap_or(Cow::Borrowed(written));
                        let value = value.get();
                        all.push(Member {
                            name,
                            written,
                            value,
                        });
                    }
                    Ok(All(all))
                }
            }
            deserializer.deserialize_map(Object)
        }
    }

    serde_json::from_str(text).ok().map(|All(members)| members)
}

/// The text that a JSON string is.
pub(super) fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(value).ok().map(Cow::Owned)
}

/// Whether everything in a text is what any client can have: no half of a character, no
/// number beyond all, and not too deep.
///
/// # Errors
/// What is not.
pub(super) fn sound(text: &str) -> Result<(), String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Sound(DEEPEST)
        .deserialize(&mut deserializer)
        .map_err(|error| error.to_string())
}

struct Sound(usize);

impl Sound {
    fn deeper<E: serde::de::Error>(&self) -> Result<usize, E> {
        let deeper = || E::custom(format_args!("it is deeper than {DEEPEST}"));
        self.0.checked_sub(1).ok_or_else(deeper)
    }
}

impl<'de> DeserializeSeed<'de> for Sound {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let deeper = self.deeper()?;
        while seq.next_element_seed(Self(deeper))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let deeper = self.deeper()?;
        while map.next_key_seed(Self(deeper))?.is_some() {
            map.next_value_seed(Self(deeper))?;
        }
        Ok(())
    }
}

fn has_scheme(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else {
        return false;
    };
    let mut chars = scheme.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && chars.all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
        && !rest.is_empty()
}

/// Whether a text is a date and a time with an offset (RFC 3339), as clients want it.
fn is_moment(text: &str) -> bool {
    let number = |part: &str, from: u32, to: u32| {
        part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|n: u32| (from..=to).contains(&n))
    };
    let numbers = |text: &str, by: char, ranges: &[(usize, u32, u32)]| {
        let parts: Vec<&str> = text.split(by).collect();
        parts.len() == ranges.len()
            && parts
                .iter()
                .zip(ranges)
                .all(|(part, (length, from, to))| part.len() == *length && number(part, *from, *to))
    };
    let Some((date, time)) = text.split_once('T') else {
        return false;
    };
    let (time, offset) = match time.strip_suffix('Z') {
        Some(time) => (time, "00:00"),
        None => match time.rsplit_once(['+', '-']) {
            Some(parts) => parts,
            None => return false,
        },
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    numbers(date, '-', &[(4, 0, 9999), (2, 1, 12), (2, 1, 31)])
        && numbers(time, ':', &[(2, 0, 23), (2, 0, 59), (2, 0, 59)])
        && numbers(offset, ':', &[(2, 0, 23), (2, 0, 59)])
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}
