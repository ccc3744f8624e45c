//! Objects that are edited as text.

use dormouse_jsonrpc::{Object, ObjectError, is_json, member};

/// Most members of an object that are read.
const LIMIT: usize = 1000;

/// Objects: after an edit all other members are what they were, byte for byte. The first
/// line is the name of a member, the second its value, the rest the object.
pub fn objects(data: &[u8]) {
    let text = super::text(data);
    let (name, rest) = super::first_line(&text);
    let (value, text) = super::first_line(rest);
    let value = value.trim_matches([' ', '\t', '\r']);
    let value = if is_json(value) { value } else { "null" };
    let object = match Object::parse(text, LIMIT) {
        Ok(object) => object,
        Err(ObjectError::NoObject(_)) => {
            assert!(serde_json::from_str::<serde_json::Map<_, _>>(text).is_err());
            return;
        }
        Err(ObjectError::TooManyMembers { limit }) => {
            assert!(text.matches(':').count() > limit);
            return;
        }
    };
    let before = members(&object);
    assert_eq!(object.clone().into_text(), text);
    same_value(&object, text);
    set(object.clone(), &before, name, value);
    removed(object.clone(), &before, name);
    only_the_last(object.clone(), &before);
    nested(object, name, value);
}

/// The names and values of an object.
fn members(object: &Object<'_>) -> Vec<(String, String)> {
    let members = object.iter();
    members
        .map(|member| (member.name.to_string(), member.value.to_string()))
        .collect()
}

/// Returns the names and values of an object after an edit, which has to be readable.
fn written(object: Object<'_>) -> Vec<(String, String)> {
    let expected = members(&object);
    let text = object.into_text();
    let again = Object::parse(&text, LIMIT + 1).expect("an edited object can be read");
    assert_eq!(members(&again), expected);
    expected
}

/// Puts the value of each member in its own place.
fn same_value(object: &Object<'_>, text: &str) {
    let places = object.places().take(20);
    for (place, member) in places {
        let mut object = object.clone();
        object.replace_at(place, member.value.to_string());
        assert!(object.is_changed());
        assert_eq!(object.into_text(), text);
    }
}

fn set(object: Object<'_>, before: &[(String, String)], name: &str, value: &str) {
    let mut first = object.clone();
    first.set_first(name, value.to_owned());
    let added = (name.to_owned(), value.to_owned());
    let expected: Vec<_> = [added.clone()].into_iter().chain(before.to_vec()).collect();
    assert_eq!(written(first), expected);

    let mut object = object;
    object.set(name, value.to_owned());
    assert_eq!(object.get(name), Some(value));
    let mut expected = before.to_vec();
    match expected.iter_mut().rev().find(|member| member.0 == name) {
        Some(last) => value.clone_into(&mut last.1),
        None => expected.push(added),
    }
    let text = object.clone().into_text().into_owned();
    assert_eq!(member(&text, name), Some(value));
    assert_eq!(written(object), expected);
}

fn removed(mut object: Object<'_>, before: &[(String, String)], name: &str) {
    let was_there = object.remove(name);
    let expected: Vec<_> = before.iter().filter(|member| member.0 != name).collect();
    assert_eq!(was_there, expected.len() < before.len());
    assert_eq!(object.get(name), None);
    assert_eq!(written(object).iter().collect::<Vec<_>>(), expected);
}

fn only_the_last(mut object: Object<'_>, before: &[(String, String)]) {
    object.keep_last();
    let is_last = |place: usize, name: &str| {
        let mut later = before.iter().skip(place + 1);
        later.all(|member| member.0 != name)
    };
    let expected = before.iter().enumerate();
    let expected = expected.filter(|(place, member)| is_last(*place, &member.0));
    let expected: Vec<_> = expected.map(|(_, member)| member).collect();
    assert_eq!(written(object).iter().collect::<Vec<_>>(), expected);
}

fn nested(mut object: Object<'_>, name: &str, value: &str) {
    if object.extend(name, [(name, value.to_owned())]).is_err() {
        return;
    }
    let inner = object.get(name).and_then(|inner| member(inner, name));
    assert_eq!(inner, Some(value));
    written(object);
}
