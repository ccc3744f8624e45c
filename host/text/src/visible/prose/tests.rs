//! Prose with what nobody would see.

use super::*;
use crate::visible::{visible, visible_line};

#[test]
fn what_people_write_in_their_languages_stays() {
    for text in [
        "⚠\u{fe0f} careful, ❤\u{fe0f} and ☎\u{fe0e}, 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}",
        "👨\u{200d}👩\u{200d}👧, 🏳\u{fe0f}\u{200d}🌈, 👩🏽\u{200d}💻, 🤷🏻\u{200d}♂\u{fe0f}",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🇩🇪",
        "می\u{200c}خواهم",                  // Persian
        "श्री क्\u{200d}ष र\u{94d}\u{200d}य", // Devanagari
        "ශ\u{dca}\u{200d}රී",                // Sinhala
        "ক্\u{200c}ষ",                       // Bengali
        "ܐܒ\u{200c}ܓ ߊߋ\u{200d}ߌ",          // Syriac, N'Ko
        "ᠨᠢᠭ\u{180b}ᠡ\u{200d}ᠨ ᠠ\u{180e}ᠠ", // Mongolian
        "Donau\u{ad}dampf\u{ad}schiff",
        "\u{e0b0} \u{f0001} icons",
        "a\n\tb",
    ] {
        assert_eq!(visible_prose(text), text, "{}", text.escape_unicode());
        assert!(!hides_something(text), "{}", text.escape_unicode());
    }
}

#[test]
fn marks_of_direction_are_left_out_and_line_breaks_are_ones() {
    assert_eq!(visible_prose("a\u{200f}b\u{200e}\u{61c}c"), "abc");
    assert!(hides_something("a\u{200f}"));
    assert_eq!(visible_prose("a\r\nb\r\n"), "a\nb\n");
    assert!(!hides_something("a\r\nb"));
    assert_eq!(visible_prose("a\rb"), "a\\rb");
}

#[test]
fn what_nobody_would_see_is_escaped() {
    for text in [
        "add\u{fe0f}",
        "1\u{fe0f}",
        "1\u{fe0f}x",
        "\u{fe0f}",
        "❤\u{fe0f}\u{fe0f}",
        "a\u{200d}b",
        "❤\u{200d}",
        "❤\u{200d}b",
        "a\u{200c}b",
        "می\u{200c}\u{200c}خواهم",
        "م\u{200c}",
        "\u{200c}م",
        "-\u{200d}-",
        "×\u{200d}×",
        "\u{ad}a",
        "a\u{ad}",
        "a\u{ad}\u{ad}b",
        "a\u{e0061}",
        "🏴\u{e0061}",
        "🏴\u{e007f}",
        "🏴\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e007f}",
        "🏴\u{e0020}\u{e007f}",
        "a\u{180b}",
        "\u{202e}abc",
        "\u{1b}[2J",
        "\u{200b}",
        "\u{feff}",
        "\u{3164}\u{200c}\u{3164}",
        "\u{e0100}",
    ] {
        let shown = visible_prose(text);
        assert!(shown.contains('\\'), "{}", text.escape_unicode());
        assert!(hides_something(text), "{}", text.escape_unicode());
        assert_eq!(visible_prose(&shown), shown);
    }
}

#[test]
fn names_are_never_shown_alike() {
    for name in [
        "add\u{fe0f}",
        "❤\u{fe0f}",
        "می\u{200c}خواهم",
        "co\u{ad}op",
        "a\u{200e}",
    ] {
        assert!(visible_line(name).contains("\\u{"), "{name}");
        assert!(visible(name).contains("\\u{"), "{name}");
    }
}

#[test]
fn prose_is_looked_at_in_linear_time() {
    let parts = [
        "a",
        "\u{202e}",
        "م\u{64b}\u{200c}",
        "\u{64b}",
        "\u{200c}",
        "❤\u{fe0f}\u{200d}",
        "\u{1f3f4}\u{e0061}",
        "\u{e0061}",
        "\r",
        "\u{ad}",
        "ᠠ\u{180b}",
    ];
    for part in parts {
        // A letter whose marks are looked back over, and what looks back.
        let text = |size: usize| format!("م{}\u{200c}", part.repeat(size));
        dormouse_tests::growth::is_linear(part, 2_000, text, |text: &String| {
            std::hint::black_box(visible_prose(text));
            std::hint::black_box(hides_something(text));
            std::hint::black_box((visible(text), visible_line(text)));
        });
    }
}
