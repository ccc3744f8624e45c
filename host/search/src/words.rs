//! Words of a text: in lower case, identifiers split at their parts, and pairs of characters where
//! a script has no spaces.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// Longest word that is kept, in bytes; longer ones are cut.
const MAX_WORD_BYTES: usize = 48;

/// Most parts of an identifier without separators that make a word together (`GitHub`, `mp3`).
const MAX_JOINED_PARTS: usize = 3;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word in lower case.
    pub(crate) text: String,
    /// Place of its first byte in the text.
    pub(crate) at: usize,
    /// Whether it repeats the words before it, written together.
    pub(crate) is_joined: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterKind {
    Lower,
    Upper,
    Digit,
    /// Of a script that has no spaces between words.
    Unspaced,
    Separator,
}

fn kind(character: char) -> CharacterKind {
    if character.is_ascii() {
        return match character {
            'a'..='z' => CharacterKind::Lower,
            'A'..='Z' => CharacterKind::Upper,
            '0'..='9' => CharacterKind::Digit,
            _ => CharacterKind::Separator,
        };
    }
    match character {
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => CharacterKind::Unspaced,
        _ if character.is_uppercase() => CharacterKind::Upper,
        _ if character.is_alphabetic() => CharacterKind::Lower,
        _ if character.is_numeric() => CharacterKind::Digit,
        _ => CharacterKind::Separator,
    }
}

/// Returns the words of a text, at most so many.
pub(crate) fn words(text: &str, most: usize) -> Vec<Word> {
    let mut words = Vec::new();
    let mut run: Vec<(usize, char, CharacterKind)> = Vec::new();
    for (at, character) in text.char_indices() {
        match kind(character) {
            CharacterKind::Separator => end_run(&mut run, &mut words),
            _ if run.len() >= 4 * MAX_WORD_BYTES => end_run(&mut run, &mut words),
            found => run.push((at, character, found)),
        }
        if words.len() >= most {
            break;
        }
    }
    end_run(&mut run, &mut words);
    words.truncate(most);
    words
}

/// Adds the words of characters between separators.
fn end_run(run: &mut Vec<(usize, char, CharacterKind)>, words: &mut Vec<Word>) {
    let begin = words.len();
    let mut part = String::new();
    let mut part_at = 0;
    let mut all = String::new();
    let mut before: Option<(char, CharacterKind)> = None;
    let mut characters = run.iter().peekable();
    while let Some(&(at, character, kind)) = characters.next() {
        let next = characters.peek().map(|(_, _, next)| *next);
        let is_new = match (before.map(|(_, kind)| kind), kind) {
            (None, _) => false,
            (Some(CharacterKind::Unspaced), _) | (_, CharacterKind::Unspaced) => true,
            (Some(CharacterKind::Lower), CharacterKind::Upper) => true,
            // `HTTPServer`, but not `URLs`.
            (Some(CharacterKind::Upper), CharacterKind::Upper) => {
                next == Some(CharacterKind::Lower) && !is_plural(run, at)
            }
            (Some(CharacterKind::Digit), CharacterKind::Digit) => false,
            (Some(CharacterKind::Digit), _) | (_, CharacterKind::Digit) => true,
            _ => false,
        };
        if is_new {
            push(&mut part, part_at, words);
        }
        if part.is_empty() {
            part_at = at;
        }
        if kind == CharacterKind::Unspaced {
            let pair = before.filter(|(_, kind)| *kind == CharacterKind::Unspaced);
            if let Some((first, _)) = pair {
                push(&mut format!("{first}{character}"), at, words);
            } else if next != Some(CharacterKind::Unspaced) {
                push(&mut character.to_string(), at, words);
            }
        } else {
            part.extend(character.to_lowercase());
            all.extend(character.to_lowercase());
        }
        before = Some((character, kind));
    }
    push(&mut part, part_at, words);
    let parts = words.len() - begin;
    if (2..=MAX_JOINED_PARTS).contains(&parts)
        && run
            .iter()
            .all(|(_, _, kind)| *kind != CharacterKind::Unspaced)
    {
        let at = run.first().map_or(0, |(at, _, _)| *at);
        push(&mut all, at, words);
        if let Some(last) = words.last_mut() {
            last.is_joined = true;
        }
    }
    run.clear();
}

/// Checks whether the upper-case letter at a place is the last one before a plural `s`.
fn is_plural(run: &[(usize, char, CharacterKind)], at: usize) -> bool {
    let mut behind = run.iter().skip_while(|(place, _, _)| *place <= at);
    behind
        .next()
        .is_some_and(|(_, character, _)| *character == 's')
        && behind
            .next()
            .is_none_or(|(_, _, kind)| *kind != CharacterKind::Lower)
}

fn push(word: &mut String, at: usize, words: &mut Vec<Word>) {
    if word.is_empty() {
        return;
    }
    let mut text = std::mem::take(word);
    if text.len() > MAX_WORD_BYTES {
        text.truncate(text.floor_char_boundary(MAX_WORD_BYTES));
    }
    words.push(Word {
        text,
        at,
        is_joined: false,
    });
}

/// Takes the endings off words of English.
pub(crate) struct Stems(Stemmer);

impl Stems {
    pub(crate) fn new() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }

    /// Returns the stem of a word in lower case: the word itself where it is not of English letters.
    pub(crate) fn stem(&self, word: &str) -> String {
        if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.0.stem(word).into_owned()
        } else {
            word.to_owned()
        }
    }
}

/// Most words whose stems are kept.
const MAX_KEPT: usize = 50_000;

/// Stems of words that come again and again.
pub(crate) struct KeptStems {
    stems: Stems,
    kept: HashMap<String, String>,
}

impl KeptStems {
    pub(crate) fn new() -> Self {
        Self {
            stems: Stems::new(),
            kept: HashMap::new(),
        }
    }

    /// Returns the stem of a word, as [`Stems::stem`] does.
    pub(crate) fn stem(&mut self, word: &str) -> String {
        if let Some(stem) = self.kept.get(word) {
            return stem.clone();
        }
        let stem = self.stems.stem(word);
        if self.kept.len() < MAX_KEPT {
            self.kept.insert(word.to_owned(), stem.clone());
        }
        stem
    }
}
