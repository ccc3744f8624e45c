use super::*;

/// Reads cases: old text, new text and the diff by the JavaScript package `diff` 8.
fn cases(json: &str) -> Vec<[String; 3]> {
    let cases: serde_json::Value = serde_json::from_str(json).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let case = |case: &serde_json::Value| [text(&case[0]), text(&case[1]), text(&case[2])];
    cases.as_array().unwrap().iter().map(case).collect()
}

#[test]
fn diffs_are_those_of_the_javascript_package() {
    for [old, new, expected] in cases(include_str!("cases.json")) {
        assert_eq!(
            unified("f", &old, &new),
            expected,
            "from {old:?} to {new:?}"
        );
    }
}

#[test]
fn no_difference_has_a_header_only() {
    let header = unified("/a b", "x\n", "x\n");
    let rule = "=".repeat(67);
    assert_eq!(
        header,
        format!("Index: /a b\n{rule}\n--- /a b\toriginal\n+++ /a b\tmodified\n")
    );
    assert_eq!(unified("f", "", "").lines().count(), 4);
}

#[test]
fn a_large_difference_is_told_at_once() {
    let old: String = (0..20_000).map(|line| format!("old {line}\n")).collect();
    let new: String = (0..20_000).map(|line| format!("new {line}\n")).collect();
    let diff = unified(
        "f",
        &format!("first\n{old}last\n"),
        &format!("first\n{new}last\n"),
    );
    assert!(diff.contains("\n@@ -1,20002 +1,20002 @@\n first\n-old 0\n"));
    assert!(diff.ends_with("\n+new 19999\n last\n"));
}
