//! Fuzz target: texts that people are shown.

use std::borrow::Cow;

use crate::visible::{visible, visible_line};

/// Texts on a terminal: nothing in them is obeyed or hidden, and nothing is escaped twice.
pub fn visible_texts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let shown = visible(&text);
    let line = visible_line(&text);
    for (shown, breaks) in [(&shown, "\n\t"), (&line, "")] {
        let obeyed = |c: char| {
            let turns = matches!(c,
                '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
            (c.is_control() || turns) && !breaks.contains(c)
        };
        assert!(!shown.contains(obeyed), "{shown:?}");
        assert_eq!(matches!(shown, Cow::Borrowed(_)), **shown == *text);
    }
    assert!(matches!(visible(&shown), Cow::Borrowed(_)));
    assert_eq!(visible_line(&line), line);
    assert_eq!(visible_line(&shown), line);
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { visible_texts }
}
