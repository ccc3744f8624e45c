//! Plugins that are used without an agent.

use dormouse_tests::Home;

/// The command line calls tools as an agent does, without one.
#[test]
fn is_used_without_an_agent() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let result = home
        .json(&["call", "echo", "add", r#"{"a":2,"b":3}"#, "--json"])
        .unwrap();
    assert_eq!(result["structuredContent"]["result"], 5);
    let list = home.json(&["list", "--json"]).unwrap();
    assert_eq!(list[0]["name"], "echo");
    let failed = home
        .run(&["call", "echo", "fail", r#"{"message":"no luck"}"#])
        .unwrap();
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let unknown = home.run(&["call", "ecko", "add", "{}"]).unwrap();
    let told = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        !unknown.status.success() && told.contains("`ecko`") && told.contains("`echo`"),
        "{told}"
    );
}

#[test]
fn offers_prompts_and_resources_without_an_agent() {
    let home = Home::new().unwrap();
    home.guests(&["library"]).unwrap();
    let printed = |arguments: &[&str]| {
        let output = home.run(arguments).unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output.stdout
    };
    let talk = ["prompt", "library__talk", "topic=sleep"];
    assert_eq!(
        String::from_utf8(printed(&talk)).unwrap(),
        "user: What do you know of sleep?\nassistant: Much.\n"
    );
    let talk = home.json(&[&talk[..], &["--json"]].concat()).unwrap();
    assert_eq!(talk["messages"][1]["role"], "assistant");
    let book = printed(&["read", "library://books/Dormouse"]);
    assert!(book.starts_with(b"It sleeps.\n"), "{book:?}");
    // Bytes are bytes where nobody looks at them.
    assert_eq!(printed(&["read", "library://zeros/5"]), [0; 5]);
    for (arguments, said) in [
        (&["prompt", "talk"][..], "did you mean `library__talk`?"),
        (&["prompt", "library__talk"], "`topic` is missing"),
        (&["prompt", "library__talk", "topic"], "KEY=VALUE"),
        (
            &["read", "library://tody"],
            "did you mean `library://today`?",
        ),
        (
            &["read", "library://books/none"],
            "there is no such resource",
        ),
    ] {
        let output = home.run(arguments).unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(said), "{told}");
    }
}
