//! Objects as text: their members, and editing them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::de::Deserializer as _;

use crate::MessageLimits;
use crate::text::{quoted, unquoted};

mod member_value;
mod pairs;

use pairs::Pairs;

pub use member_value::member;

/// Number of members from which on an object has an index of names. Most objects have fewer, and an
/// index costs more than it saves there.
const INDEXED_FROM: usize = 16;

/// An object of JSON text, in the order of its members.
///
/// Text that is not edited stays byte for byte as it was written. Of several members of one name
/// the last one counts, as everywhere. Finding, setting and removing a member takes constant time,
/// whatever the number of members; reading and writing take time in proportion to the text.
#[derive(Debug, Clone)]
pub struct Object<'a> {
    /// Text that the object was read from.
    text: &'a str,
    /// Most members that an object in it may have to be edited.
    limit: usize,
    /// Members put before all others, the last one first.
    first: Vec<Member<'a>>,
    members: Vec<Member<'a>>,
    /// Places of the last member of each name, in `members`; of large objects only.
    index: Option<HashMap<Cow<'a, str>, usize>>,
    is_changed: bool,
}

/// A member of an object.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// Name without its escapes; one that is no Unicode keeps them.
    pub name: Cow<'a, str>,
    /// Text from the comma or brace before the member to its value.
    head: Cow<'a, str>,
    /// Value, as JSON text.
    pub value: Cow<'a, str>,
    /// White space between the value and the comma or brace after it.
    tail: &'a str,
    is_removed: bool,
    /// Place of the member of the same name before this one.
    earlier: Option<usize>,
}

/// Reason why a text cannot be read as an object.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Text that is not JSON, or JSON that is no object.
    #[error("{0}")]
    NoObject(serde_json::Error),
    /// More members than are allowed.
    #[error("it has more than {limit} members")]
    TooManyMembers {
        /// Number of members that are allowed.
        limit: usize,
    },
}

impl Default for Object<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Object<'a> {
    /// Makes an object without members.
    #[must_use]
    pub fn new() -> Self {
        Self {
            text: "{}",
            limit: MessageLimits::default().members,
            first: Vec::new(),
            members: Vec::new(),
            index: None,
            is_changed: false,
        }
    }

    /// Reads an object from its text, with as many members as objects of messages may have.
    ///
    /// # Errors
    /// The text is not JSON, is something else than an object, or has more members.
    pub fn read(text: &'a str) -> Result<Self, ObjectError> {
        Self::parse(text, MessageLimits::default().members)
    }

    /// Reads an object from its text. Of objects in it, those can be edited that have no more members
    /// either.
    ///
    /// # Errors
    /// The text is not JSON, is something else than an object, or has more than `limit`
    /// members.
    pub fn parse(text: &'a str, limit: usize) -> Result<Self, ObjectError> {
        let mut too_many = false;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let pairs = deserializer.deserialize_map(Pairs {
            limit,
            too_many: &mut too_many,
        });
        let pairs = pairs.and_then(|pairs| deserializer.end().map(|()| pairs));
        let pairs = match pairs {
            Ok(pairs) => pairs,
            Err(_) if too_many => return Err(ObjectError::TooManyMembers { limit }),
            Err(error) => return Err(ObjectError::NoObject(error)),
        };
        let mut object = Self {
            text,
            limit,
            ..Self::new()
        };
        if pairs.len() >= INDEXED_FROM {
            object.index = Some(HashMap::with_capacity(pairs.len()));
        }
        object.members.reserve_exact(pairs.len());
        let at = |part: &str| (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let part = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
        // Behind the brace.
        let mut start = text.find('{').map_or(0, |at| at + 1);
        let mut pairs = pairs.into_iter().peekable();
        while let Some((name, value)) = pairs.next() {
            let end = at(value.get()) + value.get().len();
            let stop = match pairs.peek() {
                // Between two members there are white space and one comma.
                Some((next, _)) => {
                    let between = part(end, at(next.get()));
                    end + between.find(',').unwrap_or_default()
                }
                None => text.rfind('}').unwrap_or(end),
            };
            object.push(Member {
                name: unquoted(name.get()),
                head: Cow::Borrowed(part(start, at(value.get()))),
                value: Cow::Borrowed(value.get()),
                tail: part(end, stop),
                is_removed: false,
                earlier: None,
            });
            start = stop + 1;
        }
        Ok(object)
    }

    /// Returns the members in order, removed ones left out.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Member<'a>> {
        let all = self.first.iter().rev().chain(&self.members);
        all.filter(|member| !member.is_removed)
    }

    /// Returns the members that were read, in order, with the place by which each can be edited.
    pub fn places(&self) -> impl DoubleEndedIterator<Item = (usize, &Member<'a>)> {
        self.members.iter().enumerate()
    }

    /// Whether the object has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns the text of a member's value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let member = self.members.get(self.place(name)?)?;
        Some(&member.value)
    }

    /// Returns a member that is a string.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// Sets a member to a value, which is JSON text: the last one of its name, or else a new one
    /// behind all others.
    pub fn set(&mut self, name: &str, value: impl Into<Cow<'a, str>>) {
        match self.place(name) {
            Some(place) => self.replace_at(place, value),
            None => {
                self.is_changed = true;
                self.push(made(name, value.into()));
            }
        }
    }

    /// Puts a new member before all others.
    pub fn set_first(&mut self, name: &str, value: impl Into<Cow<'a, str>>) {
        self.is_changed = true;
        self.first.push(made(name, value.into()));
    }

    /// Gives the member at a place another value.
    pub fn replace_at(&mut self, place: usize, value: impl Into<Cow<'a, str>>) {
        if let Some(member) = self.members.get_mut(place) {
            member.value = value.into();
            self.is_changed = true;
        }
    }

    /// Removes the member at a place.
    pub fn remove_at(&mut self, place: usize) {
        if let Some(member) = self.members.get_mut(place) {
            member.is_removed = true;
            self.is_changed = true;
        }
    }

    /// Removes all members of each name but the last.
    pub fn keep_last(&mut self) {
        let mut seen = HashSet::new();
        let members = self.members.iter().enumerate().rev();
        let places: Vec<usize> = members
            .filter(|(_, member)| !member.is_removed && !seen.insert(&*member.name))
            .map(|(place, _)| place)
            .collect();
        places.into_iter().for_each(|place| self.remove_at(place));
    }

    /// Removes all members of a name, and returns whether there were any.
    pub fn remove(&mut self, name: &str) -> bool {
        let mut was_there = false;
        if self.index.is_some() {
            let mut next = self.index.as_mut().and_then(|index| index.remove(name));
            while let Some(place) = next {
                was_there = true;
                self.remove_at(place);
                next = self.members.get(place).and_then(|member| member.earlier);
            }
            return was_there;
        }
        for member in &mut self.members {
            if !member.is_removed && member.name == name {
                member.is_removed = true;
                was_there = true;
            }
        }
        self.is_changed |= was_there;
        was_there
    }

    /// Sets members of an inner object, which replace those of the same names. A value of `name`
    /// that is no object is replaced by one.
    ///
    /// # Errors
    /// The inner object has more members than are allowed.
    pub fn extend<'n>(
        &mut self,
        name: &str,
        by: impl IntoIterator<Item = (&'n str, String)>,
    ) -> Result<(), ObjectError> {
        let text = self.get(name).unwrap_or("{}");
        let mut inner = match Object::parse(text, self.limit) {
            Ok(inner) => inner,
            Err(error @ ObjectError::TooManyMembers { .. }) => return Err(error),
            Err(ObjectError::NoObject(_)) => Object::new(),
        };
        by.into_iter()
            .for_each(|(name, value)| inner.set(name, value));
        let text = inner.into_text().into_owned();
        self.set(name, text);
        Ok(())
    }

    /// Whether the object has been edited since it was read.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the text of the object.
    #[must_use]
    pub fn into_text(self) -> Cow<'a, str> {
        if !self.is_changed {
            return Cow::Borrowed(self.text);
        }
        let length = |member: &Member<'_>| {
            let parts = [member.head.len(), member.value.len(), member.tail.len(), 1];
            parts.into_iter().sum::<usize>()
        };
        let mut text = String::with_capacity(self.iter().map(length).sum::<usize>() + 2);
        let (before, after) = match (self.text.find('{'), self.text.rfind('}')) {
            (Some(start), Some(end)) => (self.text.get(..start), self.text.get(end + 1..)),
            _ => (None, None),
        };
        text.push_str(before.unwrap_or_default());
        text.push('{');
        for (place, member) in self.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            text.push_str(&member.head);
            text.push_str(&member.value);
            text.push_str(member.tail);
        }
        text.push('}');
        text.push_str(after.unwrap_or_default());
        Cow::Owned(text)
    }

    /// Returns the place of the last member of a name.
    fn place(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => {
                let mut place = index.get(name).copied();
                while let Some(member) = place.and_then(|place| self.members.get(place)) {
                    if !member.is_removed {
                        return place;
                    }
                    place = member.earlier;
                }
                None
            }
            None => {
                let mut members = self.members.iter();
                members.rposition(|member| !member.is_removed && member.name == name)
            }
        }
    }

    fn push(&mut self, mut member: Member<'a>) {
        let place = self.members.len();
        if place == INDEXED_FROM && self.index.is_none() {
            let mut index = HashMap::new();
            for (place, member) in self.members.iter_mut().enumerate() {
                if !member.is_removed {
                    member.earlier = index.insert(member.name.clone(), place);
                }
            }
            self.index = Some(index);
        }
        if let Some(index) = &mut self.index {
            member.earlier = index.insert(member.name.clone(), place);
        }
        self.members.push(member);
    }
}

fn made<'a>(name: &str, value: Cow<'a, str>) -> Member<'a> {
    Member {
        name: Cow::Owned(name.to_owned()),
        head: Cow::Owned(format!("{}:", quoted(name))),
        value,
        tail: "",
        is_removed: false,
        earlier: None,
    }
}

#[cfg(test)]
mod tests;
