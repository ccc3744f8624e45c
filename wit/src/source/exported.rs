//! Exported functions with their types and comments, before they become tools, prompts or
//! resources.

use wit_parser::FunctionKind;

use super::kind::Kind;
use super::lower::{Lower, Unfit};
use super::tags::{Doc, note};
use crate::declaration::{Export, Function, Param};
use crate::error::Finding;
use crate::notes::Notes;
use crate::types::{Type, snake_case};

/// An exported function.
pub(crate) struct Exported {
    /// Name of the export, and its types.
    pub(crate) function: Function,
    /// Its comment.
    pub(crate) doc: Doc,
    /// The notes on its arguments.
    pub(crate) arguments: Notes,
    /// The notes on its result.
    pub(crate) result: Notes,
}

impl Exported {
    /// Returns the function with its types lowered for `kind`.
    ///
    /// # Errors
    /// The function or one of its types has no JSON form, or its types are too large.
    pub(crate) fn new(
        lower: &mut Lower<'_>,
        export: Export,
        function: &wit_parser::Function,
        doc: Doc,
        kind: Kind,
    ) -> Result<Self, Unfit> {
        lower.next_function(export.to_string(), kind);
        if !matches!(function.kind, FunctionKind::Freestanding) {
            return Err(Unfit(match function.kind {
                FunctionKind::AsyncFreestanding => "`async func` cannot be called yet".into(),
                _ => "it belongs to a `resource`, and handles have no JSON".into(),
            }));
        }
        let mut params = Vec::new();
        let mut parts = Vec::new();
        for param in &function.params {
            let (ty, notes) = lower.parameter(&param.ty)?;
            params.push(Param {
                wit: param.name.clone(),
                json: snake_case(&param.name),
                ty,
                default: None,
            });
            parts.push(notes);
        }
        let result = function
            .result
            .as_ref()
            .map(|ty| lower.result(ty, kind))
            .transpose()?;
        // The fields of an only record are the arguments, so that each has a doc
        // comment of its own.
        let (spread, arguments) = match params.as_slice() {
            [
                Param {
                    ty: Type::Record(_),
                    ..
                },
            ] => (true, parts.pop().unwrap_or_default()),
            _ => (false, Notes::over(parts)),
        };
        let (ty, notes) = result.unzip();
        Ok(Self {
            function: Function {
                export,
                spread,
                params,
                result: ty,
            },
            doc,
            arguments,
            result: notes.unwrap_or_default(),
        })
    }

    /// Returns the name of the function in findings.
    pub(crate) fn item(&self) -> String {
        self.function.export.to_string()
    }

    /// Returns the type that it returns on success.
    pub(crate) fn answer(&self) -> Option<&Type> {
        match self.function.result.as_ref()? {
            Type::Result { ok, .. } => ok.as_deref(),
            ty => Some(ty),
        }
    }

    /// Adds the texts of the function's `@param` tags to the notes on its parameters.
    pub(crate) fn describe(&mut self, params: Vec<(String, String)>, findings: &mut Vec<Finding>) {
        for (name, text) in params {
            let Function { spread, params, .. } = &self.function;
            let found = params
                .iter()
                .position(|param| param.wit == name || param.json == name)
                .filter(|_| !spread);
            let wrong = match found.and_then(|index| self.arguments.parts.get_mut(index)) {
                Some(notes) => {
                    notes.description = Some(text);
                    continue;
                }
                None if *spread => Finding::error(
                    self.item(),
                    format!("`@param {name}` is not used, the arguments are a record's fields"),
                )
                .hint("write a doc comment on the field"),
                None => {
                    let params: Vec<_> = params
                        .iter()
                        .map(|param| format!("`{}`", param.wit))
                        .collect();
                    Finding::error(
                        self.item(),
                        format!("`@param {name}`: there is no such parameter"),
                    )
                    .hint(match params.as_slice() {
                        [] => "it has no parameters".to_owned(),
                        _ => format!("its parameters are {}", params.join(", ")),
                    })
                }
            };
            note(findings, wrong);
        }
    }

    /// Checks that all arguments can be given as strings, the only type that MCP has for a prompt's
    /// arguments and a template's variables (`what`).
    pub(crate) fn takes_texts(&self, what: &str, findings: &mut Vec<Finding>) -> bool {
        let mut fine = true;
        for (index, argument) in self.function.arguments().iter().enumerate() {
            let mut notes = self.arguments.part(index);
            let mut ty = &argument.ty;
            if let Type::Option(inner) = ty {
                ty = inner;
                notes = notes.part(0);
            }
            if !ty.is_scalar() {
                fine = false;
                let message = format!(
                    "`{}` is of type `{}`, but {what} is a string",
                    argument.json,
                    ty.kind()
                );
                let hint = "take a `string`, `char`, `bool`, number or `enum`";
                note(findings, Finding::error(self.item(), message).hint(hint));
            } else if !notes.constraints.is_empty() {
                let message = format!(
                    "MCP has no place for the constraints on `{}`, as {what} is a string",
                    argument.json
                );
                let hint = "see in the function whether they hold";
                note(findings, Finding::warning(self.item(), message).hint(hint));
            }
        }
        fine
    }
}
