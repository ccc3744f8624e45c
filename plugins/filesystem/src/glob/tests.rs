use super::*;

/// Pattern, path and the result of minimatch 10 with `{ dot: true }`.
const CASES: &[(&str, &str, bool)] = &[
    ("a/**", "a", false),
    ("a/**", "a/b", true),
    ("a/**", "a/b/c/d", true),
    ("a/**/b", "a/b", true),
    ("a/**/b", "a/x/y/b", true),
    ("**", "a/b/c", true),
    ("**/**/a", "a", true),
    ("a/**/", "a/b", false),
    ("**/a/**", "a", false),
    ("**/a/**", "a/b", true),
    ("**/a/**", "x/a/b", true),
    ("**/a", "x/a", true),
    ("a/", "a", false),
    ("a**", "ab", true),
    ("a**", "a/b", false),
    ("*", "a/b", false),
    ("*.ts", "a/b.ts", false),
    ("**/*.ts", "a/b.ts", true),
    ("**/*.ts", "b.ts", true),
    ("*.{ts,tsx}", "b.tsx", true),
    ("**/*.{ts,tsx}", "a/b.tsx", true),
    ("a]", "a]", true),
    ("a[", "a[", true),
    ("[]", "[]", true),
    ("[!b]", "a", true),
    ("[!b]", "b", false),
    ("[^b]", "a", true),
    ("[]]", "]", true),
    ("[a-]", "-", true),
    ("[c-a]", "b", false),
    ("[!c-a]", "b", false),
    ("[[:alpha:]]", "é", true),
    ("[[:digit:]x]", "5", true),
    ("[[:digit:]x]", "x", true),
    ("[[:punct:]]", "_", true),
    ("[[:upper:]]", "A", true),
    ("{a}", "a", false),
    ("{a}", "{a}", true),
    ("a{1..3}", "a1", true),
    ("a{1..3}", "a4", false),
    ("{01..3}", "02", true),
    ("{", "{", true),
    ("{,a", "{,a", true),
    ("{,a}", "a", true),
    ("{a,x}{b,c}", "xb", true),
    ("*.@(js|ts)", "a.js", true),
    ("*.@(js|ts)", "a.py", false),
    ("+(a|j|s)", "ajs", true),
    ("+(a|j|s)", "aab", false),
    ("!(a)", "b", true),
    ("!a", "b", true),
    ("!a", "a", false),
    ("!!a", "a", true),
    ("!a", "x/b", true),
    ("x!(b)c", "xbc", false),
    ("x!(b)c", "xc", true),
    ("x!(b)c", "xdc", true),
    ("*", ".a", true),
    (".git/**", ".git/x", true),
    ("**/.git/**", "a/.git/x", true),
    ("a\\\\b", "a\\b", true),
    ("a\\*", "a*", true),
    ("a\\*", "ab", false),
    ("?", "x", true),
    ("?", "xx", false),
    ("?", "日", true),
    ("*", "😀", true),
    ("a{}", "a{}", true),
    ("${a}", "${a}", true),
    ("\\{a,b}", "{a,b}", true),
    ("{a..c}", "c", true),
    ("{a..c..2}", "b", false),
    ("{-1..1}", "-1", true),
    ("a(b", "a(b", true),
    ("+(a", "+(a", true),
    ("@(a|b/c)", "a", false),
    ("{a,b/c}", "b/c", true),
    ("@(a|@(b|c))", "c", true),
    ("#a", "#a", false),
    ("\\#a", "#a", true),
    ("[a", "[a", true),
    ("[!]", "[!]", true),
    ("[\\]a]", "]", true),
    ("a/*/b", "a/x/b", true),
    ("a/*/b", "a/x/y/b", false),
    ("./a", "a", false),
    ("b/../a", "a", true),
    ("a//b", "a/b", true),
    ("/a", "a", false),
    ("*(x)", "xx", true),
    ("?(x)y", "y", true),
    ("?(x)y", "xxy", false),
    ("A", "a", false),
    ("*.*", "a.b", true),
    ("*.*", "ab", false),
    ("[a-c-z]", "z", true),
    ("[a-c-z]", "-", true),
    ("[a-c-z]", "d", false),
    ("a", "", false),
    ("", "a", false),
    ("a b", "a b", true),
    ("@()a", "a", true),
    ("a/{b,x}/*", "a/b/c", true),
    ("node_modules/**", "node_modules/x/y", true),
    ("**/node_modules", "src/node_modules/x", false),
    ("**/node_modules", "src/node_modules", true),
];

#[test]
fn patterns_match_as_in_minimatch() {
    for (pattern, path, expected) in CASES {
        assert_eq!(
            Glob::new(pattern).unwrap().matches(path),
            *expected,
            "`{pattern}` on `{path}`"
        );
    }
}

#[test]
fn no_pattern_takes_for_ever() {
    let name = "a".repeat(255);
    let nested = "*(*(*(*(a|aa)|a)|a)|a)b";
    assert!(!Glob::new(nested).unwrap().matches(&name));
    assert!(!Glob::new(&"*a".repeat(300)).unwrap().matches(&name));
    assert!(
        !Glob::new(&"**/b/a/".repeat(200))
            .unwrap()
            .matches(&"a/b/".repeat(200))
    );
}

#[test]
fn what_is_too_complex_is_said() {
    let error = Glob::new(&"*".repeat(5000)).unwrap_err().to_string();
    assert!(
        error.contains("4096 bytes") && error.contains("hint: "),
        "{error}"
    );
    let error = Glob::new(&format!("{}a{}", "+(".repeat(50), ")".repeat(50)))
        .unwrap_err()
        .to_string();
    assert!(error.contains("nested too deeply"), "{error}");
}
