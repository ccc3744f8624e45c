//! Signs by which the direction of a text may be turned.

use icu_properties::CodePointMapData;
use icu_properties::props::BidiClass;

use super::super::rendered;

/// Value of attributes and styles by which a text is shown from right to left.
const FROM_RIGHT_TO_LEFT: &[u8] = b"rtl";

/// Whether a part of a text may be shown in another direction than from left to right: by a
/// character, as it is written or by a reference, by a tag, or by a value of an attribute, which
/// there is in some kinds of Markdown without a tag. Tags of whatever kind count, since styles turn
/// all of them, and since they may hide what stands in a mark or look like its quotes.
pub(super) fn may_be_turned(text: &str) -> bool {
    rendered::has_tags(text)
        || has_value(text)
        || rendered::with_references(text).any(|(.., c)| turns(c))
}

/// Whether a character is one of right to left, or changes the direction of others.
fn turns(c: char) -> bool {
    use BidiClass as Class;
    !c.is_ascii()
        && matches!(
            CodePointMapData::<Class>::new().get(c),
            Class::RightToLeft
                | Class::ArabicLetter
                | Class::ArabicNumber
                | Class::LeftToRightEmbedding
                | Class::LeftToRightOverride
                | Class::LeftToRightIsolate
                | Class::RightToLeftEmbedding
                | Class::RightToLeftOverride
                | Class::RightToLeftIsolate
                | Class::FirstStrongIsolate
                | Class::PopDirectionalFormat
                | Class::PopDirectionalIsolate
        )
}

/// Whether a text has an attribute or a property with the value [`FROM_RIGHT_TO_LEFT`].
fn has_value(text: &str) -> bool {
    // Whether the value may begin here.
    let mut begins = false;
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let value = rest.get(..FROM_RIGHT_TO_LEFT.len());
        if begins && value.is_some_and(|value| value.eq_ignore_ascii_case(FROM_RIGHT_TO_LEFT)) {
            return true;
        }
        begins = match first {
            b'=' | b':' => true,
            b'"' | b'\'' => begins,
            space => begins && space.is_ascii_whitespace(),
        };
        rest = behind;
    }
    false
}
