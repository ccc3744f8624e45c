//! The mark of a server's words, and words that look like one.

use std::borrow::Cow;

use dormouse_text::visible::{is_hidden, visible_line, visible_prose};
use icu_properties::props::{BidiClass, BidiMirrored, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};

use super::rendered::{self, has_markup};

/// Start of the mark on a server's words.
const MARK: &str = "[server `";

/// The word in a mark.
const WORD: &[u8] = b"server";

/// Most characters that may stand beside the letters of that word.
const MAX_CHARACTERS_BESIDE: usize = 4;

/// Characters that look like brackets, or parts of tall ones, which are neither opening nor mirrored
/// for Unicode.
const LIKE_BRACKETS: [char; 19] = [
    '⎡', '⎢', '⎣', '⎤', '⎥', '⎦', '⎴', '⎵', '匚', '匸', '⼕', '⼖', 'ㄷ', 'ᄃ', 'ﾧ', 'ㄈ', 'ᆮ', '𝄔',
    'ᑕ',
];

/// Most times that a text is read once more after something was replaced in it, before all of its
/// brackets are.
const MAX_ROUNDS: usize = 4;

/// Most blank lines that are left between two others.
const MAX_BLANK_LINES: usize = 2;

/// Marks a text that a person is shown as the words of a server.
#[must_use]
pub fn message(server: &str, text: &str) -> String {
    format!("{MARK}{}`] {}", visible_line(server), shown(text))
}

/// Returns a server's words as a person is shown them: nothing is hidden in them, nothing looks
/// like a mark, and no part of them is far away from the others.
pub(super) fn shown(text: &str) -> String {
    let text = visible_prose(text);
    let text = closed_up(&text);
    unmarked(&text).into_owned()
}

/// Removes blank lines, where there are more in a row than a reader would pass over.
fn closed_up(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut blank = 0;
    // Lines of nothing but spaces are blank, too.
    let lines = text.split('\n').filter(|line| {
        blank = match line.trim().is_empty() {
            true => blank + 1,
            false => 0,
        };
        blank <= MAX_BLANK_LINES
    });
    let lines: Vec<&str> = lines.collect();
    Cow::Owned(lines.join("\n"))
}

/// Replaces the brackets of what looks like the mark of a server's words, as it is written and as it
/// looks where Markdown and HTML are rendered.
pub(super) fn unmarked(text: &str) -> Cow<'_, str> {
    // Nothing else is shown as a bracket.
    if !text.contains(|c| c == '&' || is_bracket(c) || is_closing(c)) {
        return Cow::Borrowed(text);
    }
    let mut text = rendered::without_hidden_references(text);
    for _ in 0..MAX_ROUNDS {
        match once_unmarked(&text) {
            Cow::Borrowed(_) => return text,
            // What stands there now may be a link, and what it hides no longer there.
            Cow::Owned(unmarked) => text = Cow::Owned(unmarked),
        }
    }
    Cow::Owned(without_any_brackets(&text))
}

/// Replaces all brackets of a text.
fn without_any_brackets(text: &str) -> String {
    let shown = rendered::with_references(text);
    let shown = shown.filter(|(.., c)| is_bracket(*c) || is_closing(*c));
    let brackets: Vec<_> = shown.map(|(at, length, _)| (at, length)).collect();
    replaced(text, &brackets)
}

/// Replaces the brackets of marks that are found in a text as it is.
fn once_unmarked(text: &str) -> Cow<'_, str> {
    let written = text.char_indices().map(|(at, c)| (at, c.len_utf8(), c));
    let as_written = without_brackets(text, written.clone().rev(), MarkRest::default());
    // In a line from right to left, a mark is the other way round.
    if matches!(as_written, Cow::Borrowed(_)) && text.contains(is_of_right_to_left) {
        let turned = without_brackets(text, written, MarkRest::turned());
        if let Cow::Owned(_) = turned {
            return turned;
        }
    }
    if !has_markup(&as_written) {
        return as_written;
    }
    // Tags may hide what stands in a mark, show it in another order, or look like its quotes.
    if rendered::has_tags(&as_written) {
        let shown = rendered::with_references(&as_written).filter(|(.., c)| is_bracket(*c));
        let brackets: Vec<_> = shown.map(|(at, length, _)| (at, length)).collect();
        return match brackets.is_empty() {
            true => as_written,
            false => Cow::Owned(replaced(&as_written, &brackets)),
        };
    }
    let rendered: Vec<_> = rendered::characters(&as_written).collect();
    let rest = match rendered::has_links(&as_written) {
        true => MarkRest::among_links(),
        false => MarkRest::default(),
    };
    match without_brackets(&as_written, rendered.into_iter().rev(), rest) {
        Cow::Borrowed(_) => as_written,
        Cow::Owned(unmarked) => Cow::Owned(unmarked),
    }
}

/// Replaces the brackets of marks in a text with these characters, of which the last one comes
/// first, each with its place and its length in bytes.
fn without_brackets(
    text: &str,
    characters: impl Iterator<Item = (usize, usize, char)>,
    mut rest: MarkRest,
) -> Cow<'_, str> {
    let mut forged = Vec::new();
    for (at, length, c) in characters {
        if rest.is_of_a_mark() && rest.is_bracket(c) {
            forged.push((at, length));
        }
        rest.begin_with(c);
    }
    if forged.is_empty() {
        return Cow::Borrowed(text);
    }
    forged.sort_unstable();
    Cow::Owned(replaced(text, &forged))
}

/// Replaces brackets in a text, each by its place and its length in bytes.
fn replaced(text: &str, brackets: &[(usize, usize)]) -> String {
    let mut unmarked = String::with_capacity(text.len());
    let mut from = 0;
    for (at, length) in brackets {
        unmarked.push_str(text.get(from..*at).unwrap_or_default());
        unmarked.push('(');
        from = at + length;
    }
    unmarked.push_str(text.get(from..).unwrap_or_default());
    unmarked
}

/// Whether a character may look like the bracket that a mark begins with. Beyond ASCII that is any
/// one that opens something or is turned around with the direction of its line.
fn is_bracket(c: char) -> bool {
    if c.is_ascii() {
        return c == '[';
    }
    CodePointMapData::<GeneralCategory>::new().get(c) == GeneralCategory::OpenPunctuation
        || CodePointSetData::new::<BidiMirrored>().contains(c)
        || LIKE_BRACKETS.contains(&c)
}

/// Whether a character may look like the bracket that a mark ends with.
fn is_closing(c: char) -> bool {
    if c.is_ascii() {
        return c == ']';
    }
    CodePointMapData::<GeneralCategory>::new().get(c) == GeneralCategory::ClosePunctuation
        || CodePointSetData::new::<BidiMirrored>().contains(c)
        || LIKE_BRACKETS.contains(&c)
}

/// Whether a character makes its line one from right to left, where it is the first such.
fn is_of_right_to_left(c: char) -> bool {
    let class = CodePointMapData::<BidiClass>::new().get(c);
    matches!(class, BidiClass::RightToLeft | BidiClass::ArabicLetter)
}

/// What follows in a text, as the rest of a mark, however its letters are written and spaced. Beyond
/// ASCII there are characters that look like any letter and others that are hardly seen, so that each
/// may be a letter of the word and a few may stand beside it, as may signs of emphasis and marks of
/// sentences.
///
/// It is found from the end of a text to its beginning: each character is looked at once, however
/// many brackets stand before it.
#[derive(Default)]
struct MarkRest {
    beside: Beside,
    /// Quotes in what follows.
    quotes: usize,
    links: Option<Box<Links>>,
    /// Whether the text is read from its beginning, for lines that are shown from right to left.
    is_turned: bool,
}

/// For each number of letters that stand before: least characters beside the letters with which what
/// follows is the rest of a mark, if it is.
type Beside = [Option<usize>; WORD.len() + 1];

/// Continuations of a text with links in Markdown. Where a link ends is for those who show it to
/// say: it may be at any bracket.
#[derive(Default)]
struct Links {
    /// Text behind any `)` that follows.
    behind_round: Beside,
    /// Text behind any `]` that follows.
    behind_square: Beside,
    /// Character that follows.
    next: Option<char>,
}

impl Links {
    /// Puts a character before the rest. Returns whether it may not be shown.
    fn begin_with(&mut self, c: char, beside: &mut Beside) -> bool {
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
    fn among_links() -> Self {
        Self {
            links: Some(Box::default()),
            ..Self::default()
        }
    }

    /// The rest of a text that is read from its beginning.
    fn turned() -> Self {
        Self {
            is_turned: true,
            ..Self::default()
        }
    }

    /// Whether a character may be the bracket before the rest.
    fn is_bracket(&self, c: char) -> bool {
        match self.is_turned {
            true => is_closing(c),
            false => is_bracket(c),
        }
    }

    /// Returns the letter of the word at a place; none behind its end.
    fn letter(&self, place: usize) -> Option<&'static u8> {
        match self.is_turned {
            true => WORD.get((WORD.len() - 1).checked_sub(place)?),
            false => WORD.get(place),
        }
    }

    /// Whether what follows a bracket is a mark's.
    fn is_of_a_mark(&self) -> bool {
        self.beside.first().is_some_and(Option::is_some)
    }

    /// Puts a character before the rest.
    fn begin_with(&mut self, c: char) {
        let links = self.links.as_mut();
        if links.is_some_and(|links| links.begin_with(c, &mut self.beside)) {
            return;
        }
        if c.is_whitespace() || is_hidden(c) || is_accent(c) {
            return;
        }
        // The word may be written as code, with any number of signs that are not shown. Then there
        // are two more quotes around the name.
        let is_of_code = c == '`' && self.quotes >= 2;
        self.quotes = self.quotes.saturating_add(usize::from(is_quote(c)));
        let mut next = [None; WORD.len() + 1];
        for (letters, next) in next.iter_mut().enumerate() {
            let behind = |letters: usize| self.beside.get(letters).copied().flatten();
            let read = match self.letter(letters) {
                None => is_quote(c).then_some(0),
                Some(letter) if !c.is_ascii() || c.eq_ignore_ascii_case(&char::from(*letter)) => {
                    behind(letters + 1)
                }
                Some(_) => None,
            };
            let passed = behind(letters).filter(|few| is_beside(c) && *few < MAX_CHARACTERS_BESIDE);
            let passed = passed.map(|few| few + 1);
            let of_code = behind(letters).filter(|_| is_of_code);
            *next = fewer(fewer(read, passed), of_code);
        }
        self.beside = next;
    }
}

/// Whether a character may stand beside the letters of a mark without making it another.
fn is_beside(c: char) -> bool {
    !c.is_ascii() || matches!(c, '*' | '_' | '~' | ':' | '.' | ',' | ';' | '-' | '|')
}

/// Whether a character is a mark on the one before it, such as an accent.
fn is_accent(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, SpacingMark};
    matches!(
        CodePointMapData::<GeneralCategory>::new().get(c),
        EnclosingMark | NonspacingMark | SpacingMark
    )
}

/// Whether a character looks like one of those that stand around the name in a mark.
fn is_quote(c: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, FinalPunctuation, InitialPunctuation, ModifierLetter, ModifierSymbol,
        OpenPunctuation, OtherSymbol,
    };
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    let is_like_one = match category {
        InitialPunctuation | FinalPunctuation | ModifierLetter => true,
        ModifierSymbol => c != '^',
        // Of quotes, those that stand low.
        OpenPunctuation | ClosePunctuation => {
            matches!(
                c,
                '‚' | '„' | '「' | '『' | '〝' | '〞' | '〟' | '｢' | '〈' | '《'
            )
        }
        // Ornaments in the form of quotes.
        OtherSymbol => matches!(c, '\u{275b}'..='\u{2760}' | '\u{1f676}'..='\u{1f678}'),
        _ => false,
    };
    is_like_one
        || matches!(
            c,
            '`' | '\''
                | '"'
                | '′'
                | '″'
                | '‵'
                | '‶'
                | '＇'
                | '＂'
                | '׳'
                | '״'
                | '՚'
                | '՝'
                | 'Ꞌ'
                | 'ꞌ'
                | '\u{2758}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_begins_with_its_server() {
        for (text, expected) in [
            ("Who?", "[server `x`] Who?"),
            ("", "[server `x`] "),
            ("a\nb", "[server `x`] a\nb"),
            ("\u{1b}[2K\u{202e}", "[server `x`] \\u{1b}[2K\\u{202e}"),
            ("⚠\u{fe0f} a\r\nb\u{200f}", "[server `x`] ⚠\u{fe0f} a\nb"),
            (
                "hi\n\n[server `bank`] Your PIN? [SERVER `y`]",
                "[server `x`] hi\n\n(server `bank`] Your PIN? (SERVER `y`]",
            ),
            (
                "［server `bank`] 【 Server \u{2018}a\u{2019}】 [ｓｅｒｖｅｒ `b`] [server] [0]",
                "[server `x`] (server `bank`] ( Server \u{2018}a\u{2019}】 (ｓｅｒｖｅｒ `b`] [server] [0]",
            ),
        ] {
            assert_eq!(message("x", text), expected);
        }
    }

    #[test]
    fn marks_are_recognised_however_they_are_written() {
        for text in [
            "[                              server `b`]",
            "[\n\tserver\n`b`]",
            "[ѕerver `b`]",
            "[ѕеrvеr `b`]",
            "[𝐬𝐞𝐫𝐯𝐞𝐫 `b`]",
            "[se\u{301}rver `b`]",
            "[ser\u{ad}ver `b`]",
            "[server «b»]",
            "[server ‹b›]",
            "[server „b“]",
            "[server \u{1fef}b\u{1fef}]",
            "[server 「b」]",
            "⌈server `b`⌉",
            "\u{fe47}server `b`\u{fe48}",
            "\u{2e55}server `b`\u{2e56}",
            "⎡server `b`⎤",
            "⟦server `b`⟧",
            "\u{298d}server `b`]",
            "[·server `b`]",
            "[**server** `b`]",
            "[server: `b`]",
            "[server .`b`]",
            "[server ՝b]",
            "[server ꞌb]",
            "[server ❛b❜]",
            "[server ❝b❞]",
            "[server 〟b〟]",
            "[server \u{2758}b\u{2758}]",
            "[\u{3164}\u{2800}server `b`]",
            "[server\u{b7} `b`]",
            "[s˙erver˙`b`]",
            "匚server `b`]",
            "ㄷserver `b`]",
            "⎤server `b`⎡",
            "[`````server````` `b`]",
            "ﾧserver `b`]",
        ] {
            let unmarked = unmarked(text);
            assert!(unmarked.starts_with('('), "{text}: {unmarked}");
        }
        for (text, expected) in [
            ("&#91;server `b`]", "(server `b`]"),
            (
                &format!("&#x{}5b;server `b`]", "0".repeat(60)),
                "(server `b`]",
            ),
            (
                "&#x5b;&#115;erver &#96;b&#96;&#93;",
                "(&#115;erver &#96;b&#96;&#93;",
            ),
            (
                "&lbrack;server &grave;b&grave;]",
                "(server &grave;b&grave;]",
            ),
            (
                "[<b>server</b> <code>`b`</code>]",
                "(<b>server</b> <code>`b`</code>]",
            ),
            ("<b>[</b>server `b`]", "<b>(</b>server `b`]"),
            ("\\[server \\`b\\`\\]", "(server \\`b\\`\\]"),
            ("[***__~~server~~__*** `b`]", "(***__~~server~~__*** `b`]"),
            ("[ser<!-- x -->ver `b`]", "(ser<!-- x -->ver `b`]"),
            ("[ser<!-- --!>ver `b`]", "(ser<!-- --!>ver `b`]"),
            (
                "[r]: /a<!--\n\n&#91;server &#96;b&#96;&#93;\n\n[q]: /-->",
                "(r]: /a<!--\n\n(server &#96;b&#96;&#93;\n\n(q]: /-->",
            ),
            (
                "`<!--` \\[server \\`b\\`\\] `-->`",
                "`<!--` \\(server \\`b\\`\\] `-->`",
            ),
            ("[![x](y)server `b`]", "(![x](y)server `b`]"),
            ("[ser![x](y)ver `b`]", "(ser![x](y)ver `b`]"),
            ("[![x][r]server `b`]", "(![x][r]server `b`]"),
            ("[[]&#91;server'x')server `b`]", "((](server'x')server `b`]"),
            ("[׳bank׳ server]", "[׳bank׳ server("),
            ("&#8238;x &lrm;&#x202e;y", "\\u{202e}x \\u{202e}y"),
            ("[server &#145;b&#146;]", "(server &#145;b&#146;]"),
            ("[server &quotb&quot]", "(server &quotb&quot]"),
            ("[ser&shyver `b`]", "[ser\\u{ad}ver `b`]"),
            (
                "[&shyserver; &quotb;&quot]",
                "[\\u{ad}server; &quotb;&quot]",
            ),
            ("[se\\\nrver `b`]", "(se\\\nrver `b`]"),
            ("[server <code>b</code>]", "(server <code>b</code>]"),
            (
                "[<i hidden>x</i>server `b`] R&amp;D &lsqb;",
                "(<i hidden>x</i>server `b`] R&amp;D (",
            ),
            (
                "<bdo dir=rtl>]`b` revres[</bdo>",
                "<bdo dir=rtl>]`b` revres(</bdo>",
            ),
            (
                "<img alt=\"&#91;server 'b'&#93; [x\" src=x>",
                "<img alt=\"(server 'b'&#93; (x\" src=x>",
            ),
            ("[[server](x) `b`]", "((server](x) `b`]"),
            ("[[ser](x(y)\")\")ver `b`]", "((ser](x(y)\")\")ver `b`]"),
            ("[[](x)server `b`]", "((](x)server `b`]"),
            ("[![](x.png)server `b`]", "(!(](x.png)server `b`]"),
            ("[server[](x) `b`]", "(server[](x) `b`]"),
            ("[server [](x)`b`]", "(server [](x)`b`]"),
            ("[server [`b`](x)]", "(server [`b`](x)]"),
            (
                "[ [server][r] `b`]\n\n[r]: x",
                "( (server][r] `b`]\n\n[r]: x",
            ),
            (
                "[[server] `b`]\n\n[server]: x",
                "((server] `b`]\n\n[server]: x",
            ),
            ("> [server\n> `b`]", "> (server\n> `b`]"),
            ("[`server` `b`]", "(`server` `b`]"),
            ("[`ser``ver` `b`]", "(`ser``ver` `b`]"),
        ] {
            assert_eq!(unmarked(text), expected);
        }
        for text in [
            "R&amp;D, a < b, [x](y)",
            "R&amp;D, <b>server</b>",
            "[docs](x) of [the server](y) (new) `b`",
            "> [server]\n> b",
            "&#91;x&#93; *server* `b`",
            "[server]",
            "[server: b]",
            "[servers `b`]",
            "[serve `b`]",
            "[save `b`]",
            "[0]",
            "[server b]",
            "[`server`]",
            "{server `b`}",
            "[\"server\"]",
            "[Hinweis] „a“",
            "[x `server`]",
            "[·server]",
            "[·····server `b`]",
            "[ein Wörtchen `b`]",
        ] {
            assert_eq!(unmarked(text), text);
        }
    }

    #[test]
    fn no_part_of_a_message_is_far_away() {
        let far = format!("a{}b", "\n".repeat(3000));
        assert_eq!(message("x", &far), "[server `x`] a\n\n\nb");
        assert_eq!(shown("a\n \n\t\n\u{3000}\n\r\nb\n\nc"), "a\n \n\t\nb\n\nc");
        assert_eq!(shown("a\n\n\nb"), "a\n\n\nb");
        // It takes time that grows with the text alone.
        let many = "[ ".repeat(200_000);
        assert_eq!(shown(&many), many);
    }

    #[test]
    fn marking_takes_linear_time() {
        type Text<'t> = &'t dyn Fn(usize) -> String;
        let texts: [(&str, Text<'_>); 13] = [
            ("brackets", &|size| "[ ".repeat(size)),
            ("marks", &|size| "[server `x`]\n\n\n\n".repeat(size)),
            ("brackets that may be letters", &|size| {
                "\u{3010}\u{3000} ".repeat(size)
            }),
            ("brackets of other scripts", &|size| {
                "\u{fe47}\u{2e55}s".repeat(size)
            }),
            ("hidden characters", &|size| {
                format!("[{}", "s\u{ad}\u{301}".repeat(size))
            }),
            ("brackets before blanks", &|size| {
                format!("{}{}", "[".repeat(size), " ".repeat(size))
            }),
            ("blank lines", &|size| " \n\u{3000}\n".repeat(size)),
            ("brackets alone", &|size| "\u{27e6}".repeat(size)),
            ("references", &|size| "&#91;server &#96;".repeat(size)),
            ("tags", &|size| "[<b>server</b> `".repeat(size)),
            ("links", &|size| "[server](x)![`b`][y]".repeat(size)),
            ("brackets with accents", &|size| {
                format!("\u{27e6}{}", "\u{301}".repeat(30)).repeat(size / 30)
            }),
            ("brackets and blanks", &|size| {
                "[\u{3000}\u{3000}\u{3000}".repeat(size / 4)
            }),
        ];
        for (what, text) in texts {
            dormouse_tests::growth::is_linear(what, 2_000, text, |text: &String| {
                std::hint::black_box(unmarked(text));
                std::hint::black_box(closed_up(text));
                std::hint::black_box(message(text, text));
            });
        }
    }
}
