//! Objects whose members have types, checked as text.

use std::borrow::Cow;

use dormouse_jsonrpc::{Object, items};
use dormouse_text::letter_case::is_same_but_for_case;

use super::schema;
use super::text::{has_scheme, is_moment, string};

/// Longest quotation of an invalid value, in characters.
const REPEATED: usize = 60;

/// Most mended faults of one item that are reported.
const TOLD: usize = 20;

/// Type of a member.
pub(super) enum FieldType {
    Text,
    /// True or false.
    Flag,
    /// A whole number.
    Whole,
    /// A number from 0 to 1.
    Share,
    /// A date and a time in the form of ISO 8601.
    Moment,
    /// A URI, checked as far as its scheme: some clients refuse one without.
    Uri,
    /// One of these texts.
    One(&'static [&'static str]),
    /// An array of texts.
    Texts,
    /// An object with any content.
    Object,
    Record(&'static ObjectType),
    /// An array; items of another type are left out.
    Each(&'static FieldType),
    /// An array of items of this type only.
    All(&'static FieldType),
    /// A block of content.
    Block,
    /// The contents of a resource.
    Contents,
    /// The schema of a tool's arguments.
    Input,
    /// The schema of a tool's structured content.
    Output,
}

/// An object whose known members have types; its other members may be anything.
pub(super) struct ObjectType {
    pub(super) members: &'static [(&'static str, FieldType)],
    /// Members that are required.
    pub(super) needs: &'static [&'static str],
}

/// Outcome of checking a value.
pub(super) enum ValidationOutcome {
    Fine,
    /// A replacement for the value.
    Instead(String),
    /// The value is invalid, with the fault.
    Wrong(String),
}

/// Checks one item.
#[derive(Default)]
pub(super) struct ItemValidator {
    /// Mended faults.
    pub(super) mended: Vec<String>,
    /// Whether the item has to differ for the versions with sessions.
    pub(super) of_old: bool,
    /// Whether it is an item of a list: a user approves of its known members alone.
    pub(super) is_listed: bool,
}

impl ItemValidator {
    /// Returns an object with a member added that it lacks.
    pub(super) fn completed(&mut self, text: &str, name: &str, value: String) -> Option<String> {
        let mut object = object(text)?;
        match object.get(name) {
            None => self.tell(|| format!("it has no `{name}`")),
            Some("null") => self.tell(|| format!("`{name}` is `null`")),
            Some(_) => return None,
        }
        object.set(name, value);
        Some(object.into_text().into_owned())
    }

    pub(super) fn record(
        &mut self,
        record: &ObjectType,
        text: &str,
        place: &str,
    ) -> ValidationOutcome {
        let Some(mut object) = object(text) else {
            return wrong(place, text);
        };
        let whose = if place.is_empty() { "it" } else { place };
        // In a list no member is there twice. In a result the last one counts, which not all
        // clients know.
        object.keep_last();
        if self.is_listed {
            self.leave_other_cases(record, &mut object, whose);
        }
        for (name, is) in record.members {
            let Some(value) = object.get(name) else {
                if record.needs.contains(name) {
                    return ValidationOutcome::Wrong(format!("`{whose}` has no `{name}`"));
                }
                continue;
            };
            let place = match place {
                "" => (*name).to_owned(),
                place => format!("{place}.{name}"),
            };
            match self.judge(is, value, &place) {
                ValidationOutcome::Fine => {}
                ValidationOutcome::Instead(value) => object.set(name, value),
                ValidationOutcome::Wrong(why) if record.needs.contains(name) => {
                    return ValidationOutcome::Wrong(why);
                }
                ValidationOutcome::Wrong(why) => {
                    self.tell(|| why);
                    object.remove(name);
                }
            }
        }
        verdict(object)
    }

    /// Removes members whose names are those of known ones but for letter case: some clients take them
    /// for these.
    fn leave_other_cases(&mut self, record: &ObjectType, object: &mut Object<'_>, whose: &str) {
        let known = || record.members.iter().map(|(known, _)| *known);
        let others = object.places().filter_map(|(place, member)| {
            let name = &*member.name;
            let is_meant = |known: &&str| is_same_but_for_case(known, name);
            let meant = known().find(is_meant)?;
            let is_other = known().all(|known| known != name);
            is_other.then(|| (place, name.to_owned(), meant))
        });
        for (place, name, meant) in others.collect::<Vec<_>>() {
            self.tell(|| {
                format!("`{whose}` has `{name}`, which differs from `{meant}` in letter case alone")
            });
            object.remove_at(place);
        }
    }

    /// Records a mended fault. Of very many only the first are reported.
    pub(super) fn tell(&mut self, what: impl FnOnce() -> String) {
        match self.mended.len() {
            0..TOLD => self.mended.push(what()),
            TOLD => self.mended.push("and more".to_owned()),
            _ => {}
        }
    }

    fn judge(&mut self, is: &FieldType, value: &str, place: &str) -> ValidationOutcome {
        let fits = match is {
            FieldType::Text => string(value).is_some(),
            FieldType::Flag => value == "true" || value == "false",
            FieldType::Whole => value.parse().is_ok_and(|number: f64| number.fract() == 0.0),
            FieldType::Share => value
                .parse()
                .is_ok_and(|share| (0.0..=1.0).contains(&share)),
            FieldType::Moment => string(value).is_some_and(|text| is_moment(&text)),
            FieldType::Uri => string(value).is_some_and(|text| has_scheme(&text)),
            FieldType::One(these) => string(value).is_some_and(|text| these.contains(&&*text)),
            FieldType::Texts => serde_json::from_str::<Vec<Cow<'_, str>>>(value).is_ok(),
            FieldType::Object => value.starts_with('{'),
            FieldType::Record(record) => return self.record(record, value, place),
            FieldType::Each(is) => return self.each(is, value, place, false),
            FieldType::All(is) => return self.each(is, value, place, true),
            FieldType::Block => return self.block(value, place),
            FieldType::Contents => return self.contents(value, place),
            FieldType::Input => return schema::input(self, value, place),
            FieldType::Output => return schema::output(self, value, place),
        };
        if fits {
            ValidationOutcome::Fine
        } else {
            wrong(place, value)
        }
    }

    fn each(&mut self, is: &FieldType, value: &str, place: &str, all: bool) -> ValidationOutcome {
        let Ok(found) = items(value, usize::MAX) else {
            return wrong(place, value);
        };
        let mut changed = false;
        let mut kept = Vec::with_capacity(found.items.len());
        for (index, item) in found.items.into_iter().enumerate() {
            match self.judge(is, item, &format!("{place}[{index}]")) {
                ValidationOutcome::Fine => kept.push(Cow::Borrowed(item)),
                ValidationOutcome::Instead(text) => {
                    changed = true;
                    kept.push(Cow::Owned(text));
                }
                ValidationOutcome::Wrong(why) if all => return ValidationOutcome::Wrong(why),
                ValidationOutcome::Wrong(why) => {
                    changed = true;
                    self.tell(|| why);
                }
            }
        }
        match changed {
            false => ValidationOutcome::Fine,
            true => ValidationOutcome::Instead(format!("[{}]", kept.join(","))),
        }
    }
}

/// Parses an object; none where the text is another value.
pub(super) fn object(text: &str) -> Option<Object<'_>> {
    Object::read(text).ok()
}

/// Returns the outcome for an object, changed or not.
pub(super) fn verdict(object: Object<'_>) -> ValidationOutcome {
    match object.is_changed() {
        false => ValidationOutcome::Fine,
        true => ValidationOutcome::Instead(object.into_text().into_owned()),
    }
}

/// Returns the outcome for an invalid value.
pub(super) fn wrong(place: &str, value: &str) -> ValidationOutcome {
    let place = if place.is_empty() { "it" } else { place };
    // Outside of its strings, JSON may be on several lines.
    let visible = |char: char| if char.is_control() { ' ' } else { char };
    let mut said: String = value.chars().take(REPEATED).map(visible).collect();
    if said.len() < value.len() {
        said.push('…');
    }
    ValidationOutcome::Wrong(format!("`{place}` is `{said}`"))
}
