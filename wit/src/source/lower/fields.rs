//! Lowering of the fields of records.

use serde_json::Value;
use wit_parser::Docs;

use super::cases::case_list;
use super::{Lower, Unfit};
use crate::error::Finding;
use crate::notes::Notes;
use crate::source::accept::accept;
use crate::source::tags::{self, Doc, note};
use crate::types::{Field, Type, snake_case};

impl Lower<'_> {
    /// Returns a field of a record from its type and its doc comment.
    pub(super) fn field(
        &mut self,
        wit: &str,
        item: &str,
        docs: &Docs,
        ty: Type,
        mut notes: Notes,
    ) -> Result<(Field, Notes), Unfit> {
        const KNOWN: &[&str] = &[
            "name", "title", "default", "minimum", "maximum", "pattern", "format",
        ];
        let doc = Doc::parse(docs);
        self.written
            .spend(wit.len() + docs.contents.as_ref().map_or(0, String::len))?;
        let mut field = Field {
            wit: wit.to_owned(),
            json: snake_case(wit),
            ty,
            default: None,
        };
        let mut default = None;
        for tag in doc.known(item, KNOWN, &[], &mut self.findings) {
            match tag.name.as_str() {
                "name" => {
                    field.json = tags::text(tag, item, &mut self.findings).unwrap_or(field.json);
                }
                "title" => notes.title = tags::text(tag, item, &mut self.findings),
                "default" => default = tags::json(tag, item, &mut self.findings),
                _ => self.constrain(tag, item, &field.ty, &mut notes),
            }
        }
        // Judged last, when all the constraints are known.
        match (default, &field.ty) {
            (None, _) => {}
            (Some(Value::Null), Type::Option(_)) => notes.nullable = true,
            (Some(value), ty) => match accept(ty, &notes, &value) {
                Ok(()) => field.default = Some(value),
                Err(error) => note(
                    &mut self.findings,
                    Finding::error(item, format!("`@default`: {error}")),
                ),
            },
        }
        if let Some(text) = doc.text {
            notes.description = Some(text + &case_list(&field.ty, &notes));
        }
        Ok((field, notes))
    }
}
