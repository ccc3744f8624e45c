//! Rest of a mark, as it follows in a text.

use dormouse_text::visible::is_hidden;

use super::super::rendered::ANY_OR_NONE;
use super::characters::{is_accent, is_beside, is_quote};

/// The word in a mark.
const WORD: &[u8] = b"server";

/// Most characters that may stand beside the letters of that word.
const MAX_CHARACTERS_BESIDE: usize = 4;

/// Rest of a mark, as it follows in a text, however its letters are written and spaced. Beyond
/// ASCII there are characters that look like any letter and others that are hardly seen, so that each
/// may be a letter of the word and a few may stand beside it, as may signs of emphasis and marks of
/// sentences.
///
/// It is found from the end of a text to its beginning: each character is looked at once, however
/// many brackets stand before it.
#[derive(Default)]
pub(super) struct MarkRest {
    beside: Beside,
    /// Quotes in what follows.
    quotes: usize,
    links: Option<Box<MarkdownLinks>>,
}

/// For each number of letters that stand before: least characters beside the letters with which what
/// follows is the rest of a mark, if it is.
type Beside = [Option<usize>; WORD.len() + 1];

/// Continuations of a text with links in Markdown. Where a link ends is for those who show it to
/// say: it may be at any bracket.
#[derive(Default)]
struct MarkdownLinks {
    /// Text behind any `)` that follows.
    behind_round: Beside,
    /// Text behind any `]` that follows.
    behind_square: Beside,
    /// Character that follows.
    next: Option<char>,
}

impl MarkdownLinks {
    /// Puts a character before the rest. Returns whether it may not be shown.
    pub(super) fn begin_with(&mut self, c: char, beside: &mut Beside) -> bool {
        match (c, self.next) {
            (']', Some('(')) => add(beside, &self.behind_round),
            (']', Some('[')) => add(beside, &self.behind_square),
            (')', _) => add(&mut self.behind_round, beside),
            // An image is shown in place of what describes it.
            ('!', Some('[')) => add(beside, &self.behind_square),
            _ => {}
        }
        if c == ']' {
            add(&mut self.behind_square, beside);
        }
        self.next = Some(c);
        matches!(c, '[' | ']' | '!')
    }
}

/// Adds what may follow as well.
fn add(all: &mut Beside, more: &Beside) {
    for (all, more) in all.iter_mut().zip(more) {
        *all = fewer(*all, *more);
    }
}

/// Returns the smaller number of two ways, of which either may be none.
fn fewer(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl MarkRest {
    /// The rest of a text in which there are links.
    pub(super) fn among_links() -> Self {
        Self {
            links: Some(Box::default()),
            ..Self::default()
        }
    }

    /// Whether what follows a bracket is a mark's.
    pub(super) fn is_of_a_mark(&self) -> bool {
        self.beside.first().is_some_and(Option::is_some)
    }

    /// Puts a character before the rest.
    pub(super) fn begin_with(&mut self, c: char) {
        let links = self.links.as_mut();
        if links.is_some_and(|links| links.begin_with(c, &mut self.beside)) {
            return;
        }
        if c != ANY_OR_NONE && (c.is_whitespace() || is_hidden(c) || is_accent(c)) {
            return;
        }
        // The word may be written as code, with any number of signs that are not shown. Then there
        // are two more quotes around the name.
        let is_of_code = c == '`' && self.quotes >= 2;
        self.quotes = self.quotes.saturating_add(usize::from(is_quote(c)));
        let mut next = match c {
            ANY_OR_NONE => self.beside,
            _ => [None; WORD.len() + 1],
        };
        for (letters, next) in next.iter_mut().enumerate() {
            let behind = |letters: usize| self.beside.get(letters).copied().flatten();
            let read = match WORD.get(letters) {
                None => (is_quote(c) || c == ANY_OR_NONE).then_some(0),
                Some(letter) if !c.is_ascii() || c.eq_ignore_ascii_case(&char::from(*letter)) => {
                    behind(letters + 1)
                }
                Some(_) => None,
            };
            let passed = behind(letters).filter(|few| is_beside(c) && *few < MAX_CHARACTERS_BESIDE);
            let passed = passed.map(|few| few + 1);
            let of_code = behind(letters).filter(|_| is_of_code);
            *next = fewer(fewer(read, passed), fewer(of_code, *next));
        }
        self.beside = next;
    }
}
