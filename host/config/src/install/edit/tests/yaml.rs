//! Entries of a list or a table in YAML.

use super::*;

#[test]
fn yaml_is_added_to() {
    let goose = shape(Syntax::Yaml, &["extensions"], false);
    let block = "  dormouse:\n    command: /bin/dormouse\n    args:\n      - serve\n";
    let crlf = block.replace('\n', "\r\n");
    let deep = "    dormouse:\n      command: /bin/dormouse\n      args:\n        - serve\n";
    adds(
        &goose,
        &[
            ("", &format!("extensions:\n{block}")),
            ("# mine", &format!("# mine\nextensions:\n{block}")),
            ("---\n", &format!("---\nextensions:\n{block}")),
            (
                "a: 1\n# end\n",
                &format!("a: 1\nextensions:\n{block}# end\n"),
            ),
            ("a: 1", &format!("a: 1\nextensions:\n{block}")),
            (
                "\u{feff}a: ä\r\n",
                &format!("\u{feff}a: ä\r\nextensions:\r\n{crlf}"),
            ),
            (
                "extensions:\nz: 1\n",
                &format!("extensions:\n{block}z: 1\n"),
            ),
            (
                "extensions: {} # none\nz: 1\n",
                &format!("extensions: # none\n{block}z: 1\n"),
            ),
            (
                "extensions:\n    t:\n        cmd: |\n            a\n            # b\n\n    # about\nz: 1\n",
                &format!(
                    "extensions:\n    t:\n        cmd: |\n            a\n            # b\n{deep}\n    # about\nz: 1\n"
                ),
            ),
            (
                "extensions:\n  t:\n    args: [a,\n      b] # c\n    env:\nz: 1\n",
                &format!("extensions:\n  t:\n    args: [a,\n      b] # c\n    env:\n{block}z: 1\n"),
            ),
            (
                "extensions:\n  dormouse:\n    cmd: old\n    # mine\n  t: {}\n",
                &format!("extensions:\n{block}    # mine\n  t: {{}}\n"),
            ),
            (
                "x: &a [1]\ny: *a\nextensions:\n  t: {}\n",
                &format!("x: &a [1]\ny: *a\nextensions:\n  t: {{}}\n{block}"),
            ),
        ],
    );
    let list = shape(Syntax::Yaml, &["mcpServers"], true);
    let item = "  - name: dormouse\n    command: /bin/dormouse\n    args:\n      - serve\n";
    let flush = item.replace("\n  ", "\n");
    let flush = flush.trim_start();
    adds(
        &list,
        &[
            ("name: x\n", &format!("name: x\nmcpServers:\n{item}")),
            (
                "mcpServers: []\nz: 1\n",
                &format!("mcpServers:\n{item}z: 1\n"),
            ),
            (
                "mcpServers:\n  - name: t\n    command: 't' # t\nz: 1\n",
                &format!("mcpServers:\n  - name: t\n    command: 't' # t\n{item}z: 1\n"),
            ),
            (
                "mcpServers:\n- name: t\n  env:\n    A: \"b\\\n      c\"\n",
                &format!("mcpServers:\n- name: t\n  env:\n    A: \"b\\\n      c\"\n{flush}"),
            ),
            (
                "mcpServers:\n  - command: old\n    name: dormouse\n  - name: t\n",
                &format!("mcpServers:\n{item}  - name: t\n"),
            ),
        ],
    );
}

#[test]
fn yaml_is_removed_from() {
    let goose = shape(Syntax::Yaml, &["extensions"], false);
    for (before, after) in [
        ("", ""),
        ("extensions:\n", "extensions:\n"),
        (
            "extensions:\n  x:\n    a: 1\nb: 2\n",
            "extensions: {}\nb: 2\n",
        ),
        (
            "extensions:\n  # about x\n  x: # x\n    a: >\n      1\n\n      2\n  y: {}",
            "extensions:\n  # about x\n  y: {}",
        ),
        ("extensions:\n  y:\n  x:\n    - 1\n", "extensions:\n  y:\n"),
    ] {
        assert_eq!(remove(before, &goose, "x").unwrap(), after, "{before}");
    }
    let list = shape(Syntax::Yaml, &["mcpServers"], true);
    for (before, after) in [
        (
            "mcpServers:\n  - name: x\n    a: 1\n  - name: y\n",
            "mcpServers:\n  - name: y\n",
        ),
        ("mcpServers:\n- a: 1\n  name: x", "mcpServers: []\n"),
    ] {
        assert_eq!(remove(before, &list, "x").unwrap(), after, "{before}");
    }
}
