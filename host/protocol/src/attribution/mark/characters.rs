//! Characters that look like those of a mark.

use icu_properties::props::{BidiMirrored, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Whether a character may look like the bracket that a mark begins with. Beyond ASCII that is any
/// one that opens something or is turned around with the direction of its line.
pub(super) fn is_bracket(c: char) -> bool {
    if c.is_ascii() {
        return c == '[';
    }
    CodePointMapData::<GeneralCategory>::new().get(c) == GeneralCategory::OpenPunctuation
        || CodePointSetData::new::<BidiMirrored>().contains(c)
        || is_like_a_bracket(c)
}

/// Whether a character may look like the bracket that a mark ends with.
pub(super) fn is_closing(c: char) -> bool {
    if c.is_ascii() {
        return c == ']';
    }
    CodePointMapData::<GeneralCategory>::new().get(c) == GeneralCategory::ClosePunctuation
        || CodePointSetData::new::<BidiMirrored>().contains(c)
        || is_like_a_bracket(c)
}

/// Returns what is shown in place of a bracket, which may be of either direction.
pub(super) fn parenthesis(bracket: char) -> char {
    use GeneralCategory::{ClosePunctuation, FinalPunctuation};
    match CodePointMapData::<GeneralCategory>::new().get(bracket) {
        ClosePunctuation | FinalPunctuation => ')',
        _ => '(',
    }
}

/// Whether a character looks like a bracket, or a part of a tall one, that is neither opening nor
/// closing nor mirrored for Unicode.
fn is_like_a_bracket(c: char) -> bool {
    matches!(
        c,
        // Parts of brackets.
        '⎡'..='⎦' | '⎴'..='⎶' | '\u{1d114}' | '\u{1d115}'
        // Corners.
            | '⌜'..='⌟' | '˹'..='˼' | '⎾' | '⎿' | '⏋' | '⏌' | '¬' | '⌐' | '⌙'
        // Corners of boxes and of blocks.
            | '┌'..='┛' | '╒'..='╝' | '╭'..='╰' | '▙' | '▛' | '▜' | '▟' | '\u{1fb7c}'..='\u{1fb7f}'
        // Letters of tones.
            | '˥'..='˩' | '꜒'..='꜖'
        // Letters.
            | '匚' | '匸' | '⼕' | '⼖' | 'ㄷ' | 'ᄃ' | 'ﾧ' | 'ㄈ' | 'ᆮ' | 'ᑕ'
    )
}

/// Whether a character may stand beside the letters of a mark without making it another.
pub(super) fn is_beside(c: char) -> bool {
    !c.is_ascii() || matches!(c, '*' | '_' | '~' | ':' | '.' | ',' | ';' | '-' | '|')
}

/// Whether a character is a mark on the one before it, such as an accent.
pub(super) fn is_accent(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, SpacingMark};
    matches!(
        CodePointMapData::<GeneralCategory>::new().get(c),
        EnclosingMark | NonspacingMark | SpacingMark
    )
}

/// Whether a character looks like one of those that stand around the name in a mark.
pub(super) fn is_quote(c: char) -> bool {
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
