//! Characters that look like those of a mark.

use icu_properties::props::{BidiClass, BidiMirrored, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Characters that look like brackets, or parts of tall ones, which are neither opening nor mirrored
/// for Unicode.
const LIKE_BRACKETS: [char; 19] = [
    '⎡', '⎢', '⎣', '⎤', '⎥', '⎦', '⎴', '⎵', '匚', '匸', '⼕', '⼖', 'ㄷ', 'ᄃ', 'ﾧ', 'ㄈ', 'ᆮ', '𝄔',
    'ᑕ',
];

/// Whether a character may look like the bracket that a mark begins with. Beyond ASCII that is any
/// one that opens something or is turned around with the direction of its line.
pub(super) fn is_bracket(c: char) -> bool {
    if c.is_ascii() {
        return c == '[';
    }
    CodePointMapData::<GeneralCategory>::new().get(c) == GeneralCategory::OpenPunctuation
        || CodePointSetData::new::<BidiMirrored>().contains(c)
        || LIKE_BRACKETS.contains(&c)
}

/// Whether a character may look like the bracket that a mark ends with.
pub(super) fn is_closing(c: char) -> bool {
    if c.is_ascii() {
        return c == ']';
    }
    CodePointMapData::<GeneralCategory>::new().get(c) == GeneralCategory::ClosePunctuation
        || CodePointSetData::new::<BidiMirrored>().contains(c)
        || LIKE_BRACKETS.contains(&c)
}

/// Whether a character makes its line one from right to left, where it is the first such.
pub(super) fn is_of_right_to_left(c: char) -> bool {
    let class = CodePointMapData::<BidiClass>::new().get(c);
    matches!(class, BidiClass::RightToLeft | BidiClass::ArabicLetter)
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
