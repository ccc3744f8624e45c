//! Lowering of the cases of enums and variants, and of flags.

use wit_parser::Docs;

use super::{Lower, Unfit};
use crate::notes::Notes;
use crate::source::tags::{self, Doc};
use crate::types::{Case, Type, snake_case};

impl<'a> Lower<'a> {
    /// Lowers the cases of an enum, or flags. JSON Schema has no place for their comments, so these
    /// become a list in the description.
    pub(super) fn cases(
        &mut self,
        name: &str,
        cases: impl Iterator<Item = (&'a str, &'a Docs)>,
    ) -> Result<(Vec<Case>, Notes), Unfit> {
        let mut lowered = Vec::new();
        let mut descriptions = Vec::new();
        for (wit, docs) in cases {
            let (json, description) = self.case(name, wit, docs)?;
            lowered.push(Case {
                wit: wit.to_owned(),
                json,
            });
            descriptions.push(description);
        }
        self.distinct(
            name,
            lowered.iter_mut().map(|case| (&case.wit, &mut case.json)),
        );
        let parts = descriptions.into_iter().map(|description| Notes {
            description,
            ..Notes::default()
        });
        let mut notes = Notes::over(parts.collect());
        notes.description = Some(listed(&lowered, &notes)).filter(|text| !text.is_empty());
        Ok((lowered, notes))
    }

    /// Returns the JSON name and the description of a case.
    pub(super) fn case(
        &mut self,
        owner: &str,
        wit: &str,
        docs: &Docs,
    ) -> Result<(String, Option<String>), Unfit> {
        self.written
            .spend(wit.len() + docs.contents.as_ref().map_or(0, String::len))?;
        let item = format!("{owner}.{wit}");
        let doc = Doc::parse(docs);
        let tag = doc.known(&item, &["name"], &[], &mut self.findings);
        let name = tag
            .first()
            .and_then(|tag| tags::text(tag, &item, &mut self.findings));
        Ok((name.unwrap_or_else(|| snake_case(wit)), doc.text))
    }
}

/// Returns the comments on an enum's cases, to go below the comment on the enum or on the item of
/// its type.
pub(super) fn case_list(ty: &Type, notes: &Notes) -> String {
    match ty {
        Type::Option(inner) => case_list(inner, notes.part(0)),
        Type::Enum(cases) | Type::Flags(cases) => {
            let list = listed(cases, notes);
            if list.is_empty() {
                list
            } else {
                format!("\n{list}")
            }
        }
        _ => String::new(),
    }
}

fn listed(cases: &[Case], notes: &Notes) -> String {
    let lines = cases.iter().enumerate().filter_map(|(index, case)| {
        let text = notes.part(index).description.as_ref()?;
        Some(format!("- {}: {text}", case.json))
    });
    lines.collect::<Vec<_>>().join("\n")
}
