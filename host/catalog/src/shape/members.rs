//! The members of an object, and changing some of them.

use super::object::Verdict;
use crate::json::{self, Member};

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

/// The members of an object, in order; none where a text is something else.
pub(super) fn members(text: &str) -> Option<Vec<Member<'_>>> {
    json::members(text).ok()
}
