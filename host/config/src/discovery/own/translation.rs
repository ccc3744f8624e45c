//! Texts of a client, in the words of `dormouse.toml`.

use super::pieces::{Piece, escaped, piece};
use super::{Own, TextSources};
use crate::inputs::{self, INPUT};
use crate::problem::quoted;

/// Most questions that are reported of one server.
const MAX_UNANSWERED: usize = 32;

impl Own {
    /// Translates a text that is no header.
    pub(super) fn text(&mut self, text: &str, source: &TextSources<'_>, at: &str) -> String {
        if source.expansion.headers_only {
            return escaped(text);
        }
        self.translate(text, source, at)
    }

    pub(super) fn translate(&mut self, text: &str, source: &TextSources<'_>, at: &str) -> String {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let mut forms = source.expansion.forms.iter();
            match forms.find_map(|form| piece(rest, *form, source)) {
                Some((Piece::Plain(text), after)) => {
                    plain.push_str(&text);
                    rest = after;
                }
                Some((piece, after)) => {
                    pieces.push(Piece::Plain(std::mem::take(&mut plain)));
                    pieces.push(piece);
                    rest = after;
                }
                None => {
                    plain.push(c);
                    rest = rest.get(c.len_utf8()..).unwrap_or_default();
                }
            }
        }
        pieces.push(Piece::Plain(plain));
        self.written(pieces, at)
    }

    /// Writes pieces as `dormouse.toml` has them.
    pub(super) fn written(&mut self, pieces: Vec<Piece>, at: &str) -> String {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Plain(plain) => text.push_str(&escaped(&plain)),
                Piece::Variable { name, default } => {
                    self.look_behind(&text, at);
                    let default = default.map(|default| format!(":-{default}"));
                    text.push_str(&format!("${{{name}{}}}", default.unwrap_or_default()));
                }
                Piece::Answer { id, is_answered } => {
                    self.look_behind(&text, at);
                    text.push_str(&format!("${{{INPUT}{id}}}"));
                    if !is_answered {
                        self.tell_unanswered(&inputs::unanswered(at, &id));
                    }
                    self.ask(id, None);
                }
                Piece::Kept {
                    id,
                    is_answered,
                    value,
                    file,
                } => {
                    self.look_behind(&text, at);
                    text.push_str(&format!("${{{INPUT}{id}}}"));
                    if !is_answered {
                        self.tell_unanswered(&match file {
                            None => inputs::unanswered(at, &id),
                            Some(file) => format!(
                                "`{at}` asks for {}, which the file {} has\nhint: {}",
                                quoted(&id),
                                quoted(&file),
                                inputs::hint(&id)
                            ),
                        });
                    }
                    self.ask(id, Some(value));
                }
                Piece::Foreign(written, why) => {
                    self.missing.push(format!(
                        "in `{at}`, write a value or `${{VARIABLE}}` in place of {}, {why}",
                        quoted(&written)
                    ));
                    text.push_str(&written);
                }
            }
        }
        text
    }

    /// Checks that the text before a variable does not make a plain text of it.
    fn look_behind(&mut self, text: &str, at: &str) {
        if text.ends_with('$') {
            self.missing.push(no_way_to_write(at));
        }
    }

    /// Notes the message on a question that has no answer, once, and not too many of them.
    fn tell_unanswered(&mut self, told: &str) {
        let told = told.replace("\nhint", "");
        if self.unanswered.len() < MAX_UNANSWERED && !self.unanswered.contains(&told) {
            self.unanswered.push(told);
        }
    }
}

fn no_way_to_write(at: &str) -> String {
    format!("write `{at}` in another way: a `$` right before a variable has no way to be written")
}
