//! Words that look like marks.

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
        "⌜server `b`⌝",
        "˹server `b`˺",
        "⎾server `b`⏋",
        "┌server `b`┐",
        "╔server `b`╗",
        "╭server `b`╮",
        "⌐server `b`¬",
        "▛server `b`▜",
        "꜒server `b`˥",
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
            "(<b>server</b> <code>`b`</code>)",
        ),
        ("<b>[</b>server `b`]", "<b>(</b>server `b`)"),
        ("\\[server \\`b\\`\\]", "(server \\`b\\`\\]"),
        ("[***__~~server~~__*** `b`]", "(***__~~server~~__*** `b`]"),
        ("[ser<!-- x -->ver `b`]", "(ser<!-- x -->ver `b`)"),
        ("[ser<!-- --!>ver `b`]", "(ser<!-- --!>ver `b`)"),
        (
            "[r]: /a<!--\n\n&#91;server &#96;b&#96;&#93;\n\n[q]: /-->",
            "(r): /a<!--\n\n(server &#96;b&#96;)\n\n(q): /-->",
        ),
        (
            "`<!--` \\[server \\`b\\`\\] `-->`",
            "`<!--` \\(server \\`b\\`\\) `-->`",
        ),
        ("[![x](y)server `b`]", "(![x](y)server `b`]"),
        ("[ser![x](y)ver `b`]", "(ser![x](y)ver `b`]"),
        ("[![x][r]server `b`]", "(![x][r]server `b`]"),
        ("[[]&#91;server'x')server `b`]", "((](server'x')server `b`]"),
        ("[׳bank׳ server]", "(׳bank׳ server)"),
        ("&#8238;x &lrm;&#x202e;y", "\\u{202e}x \\u{202e}y"),
        ("&&lrm;#8238; &r&lrm;lm;", "&\\u{200e}#8238; &r\\u{200e}lm;"),
        ("[server &#145;b&#146;]", "(server &#145;b&#146;]"),
        ("[server &quotb&quot]", "(server &quotb&quot]"),
        ("[ser&shyver `b`]", "[ser\\u{ad}ver `b`]"),
        (
            "[&shyserver; &quotb;&quot]",
            "[\\u{ad}server; &quotb;&quot]",
        ),
        ("[se\\\nrver `b`]", "(se\\\nrver `b`]"),
        ("[server <code>b</code>]", "(server <code>b</code>)"),
        (
            "[<i hidden>x</i>server `b`] R&amp;D &lsqb;",
            "(<i hidden>x</i>server `b`) R&amp;D (",
        ),
        (
            "<bdo dir=rtl>]`b` revres[</bdo>",
            "<bdo dir=rtl>)`b` revres(</bdo>",
        ),
        (
            "<img alt=\"&#91;server 'b'&#93; [x\" src=x>",
            "<img alt=\"(server 'b') (x\" src=x>",
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
        ("[==server== `b`]", "(==server== `b`]"),
        ("[++^server^++ `b`]", "(++^server^++ `b`]"),
        ("[||||server|||| `b`]", "(||||server|||| `b`]"),
        ("$[$server `b`$]$", "$($server `b`$]$"),
        ("\\([\\)server `b`", "\\((\\)server `b`"),
        ("$[\\,\\text{server 'b'}]$", "$(\\,({server 'b'}]$"),
        ("$\\lbrack$server `b`", "$($server `b`"),
        ("$\\\\lbrack$server `b`", "$($server `b`"),
        (
            "$\\begin{bmatrix}server\\ 'b'\\end{bmatrix}$",
            "$({bmatrix}server\\ 'b'\\end{bmatrix}$",
        ),
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
        "$5 or $6: [the server] `b`",
        "\\(x\\) [server] \\n `b`",
        "[layout] dir: ltr, rtl8139 `b`",
        "[0] ≤ 1, “x” «y» ⟦z⟧ {a} \\u{202e}",
        "a < b [0] > c",
    ] {
        assert_eq!(unmarked(text), text);
    }
}

#[test]
fn no_bracket_is_left_where_the_direction_may_be_turned() {
    for (text, expected) in [
        (
            "<bdo dir=rtl>`knab` revres]</bdo>] PIN? ",
            "<bdo dir=rtl>`knab` revres)</bdo>) PIN? ",
        ),
        (
            "<bdo dir=\"rtl\">[`knab` revres]</bdo>",
            "<bdo dir=\"rtl\">(`knab` revres)</bdo>",
        ),
        ("\\[׳bank׳ server\\]", "\\(׳bank׳ server\\)"),
        (
            "&#x5d0;: [&#x5f3;bank&#x5f3; server]",
            "&#x5d0;: (&#x5f3;bank&#x5f3; server)",
        ),
        ("[׳bank׳ ser[](x)ver]", "(׳bank׳ ser()(x)ver)"),
        ("[׳bank׳ [server](x)]", "(׳bank׳ (server)(x))"),
        ("[׳bank׳ server&#93;", "(׳bank׳ server)"),
        ("[׳bank׳ *****server*****]", "(׳bank׳ *****server*****)"),
        // References without a semicolon, with zeros, behind another, and by a name.
        ("&#1488 &lbrack;`b`&rsqb; &#0091x&#x5d", "&#1488 (`b`) (x)"),
        // Wide brackets, tall ones, and what looks like one.
        ("א ［x］【x】⟦x⟧〚x〛⁅x⁆﹇", "א (x)(x)(x)(x)(x)("),
        ("א ⌜x⌝ ˹x˺ ⎾x⏋ ┌x┐ ⎡x⎤ ⊏x⊐", "א (x( (x( (x( (x( (x( (x("),
        ("א [\u{301}x\u{301}]\u{20d2}", "א (\u{301}x\u{301})\u{20d2}"),
        // Scripts of right to left, beyond the first plane as well, and digits of Arabic.
        ("ܐ [x] x", "ܐ (x) x"),
        ("\u{10900} [x]", "\u{10900} (x)"),
        ("\u{1e900} [x]", "\u{1e900} (x)"),
        ("٣ [x] ٤", "٣ (x) ٤"),
        ("سلام «x» [y]", "سلام (x) (y)"),
        // Tags of any kind, and attributes without any.
        (
            "<span style=\"direction:rtl;unicode-bidi:bidi-override\">]x",
            "<span style=\"direction:rtl;unicode-bidi:bidi-override\">)x",
        ),
        ("<b><bdi><BDO\nDIR='rtl'>]x", "<b><bdi><BDO\nDIR='rtl'>)x"),
        (
            "<math dir=rtl><mo>]</mo></math>",
            "<math dir=rtl><mo>)</mo></math>",
        ),
        ("</x><div class=mirrored>]x", "</x><div class=mirrored>)x"),
        (
            "`x` revres]\n{: dir=\"rtl\"}",
            "`x` revres)\n{: dir=\"rtl\"}",
        ),
        ("[x]{dir=RTL}", "(x){dir=RTL}"),
        ("[x]{style='direction: rtl'}", "(x){style='direction: rtl'}"),
        // Commands of maths, which may show a bracket.
        ("א $\\rbrack$ \\n [", "א $(rbrack$ (n ("),
        ("<b>x</b> $\\&#108;brack$]", "<b>x</b> $(&#108;brack$)"),
        // Without brackets.
        ("<bdo dir=rtl>x</bdo> א \\n", "<bdo dir=rtl>x</bdo> א \\n"),
    ] {
        assert_eq!(unmarked(text), expected);
        assert_eq!(unmarked(expected), expected);
    }
    // By themselves, or in prose, controls of direction are left out or shown as escapes.
    for control in "\u{200f}\u{202a}\u{202b}\u{202d}\u{202e}\u{2067}\u{2068}".chars() {
        let text = format!("{control}`knab` revres]");
        assert!(unmarked(&text).ends_with("revres)"), "{text:?}");
        assert!(!shown(&text).contains(control), "{text:?}");
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
    let texts: [(&str, Text<'_>); 19] = [
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
        ("what is turned by its end", &|size| {
            format!("{}א", "[&#93;<b".repeat(size))
        }),
        ("values of attributes", &|size| "= \"':rt [".repeat(size)),
        ("blanks before values", &|size| {
            format!("[:{}", " ".repeat(size))
        }),
        ("commands of maths", &|size| {
            "$\\a\\begin{a[server `".repeat(size)
        }),
        ("long commands of maths", &|size| {
            format!("$$\\{}", "begin".repeat(size))
        }),
        ("turned commands of maths", &|size| {
            format!("א{}", "$\\&#108a[".repeat(size))
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
