//! Prompts.

use super::*;

#[test]
fn every_tag_of_a_prompt() {
    let declaration = sound(&with_types(
        "
        enum tone { kind, /** Nothing is spared. */ blunt }
        enum size { /** One line. */ small, /** A page. */ large }
        record review {
            /// The code.
            /// @title Code
            /// @name theCode
            code: string,
            /// How to say it.
            tone: tone,
            size: option<size>,
            /// @default 3
            how-many: u8,
            strict: option<bool>,
        }
        /// Reviews
        /// code.
        /// @name review.it
        /// @title Review
        /// @prompt
        review-code: func(review: review) -> string;
        tool: func();",
    ));
    assert_eq!(names(&declaration), ["tool"]);
    assert_eq!(keys(&declaration.prompts), ["review.it"]);
    assert_eq!(
        object(&declaration.prompts),
        json!({
            "name": "review.it", "title": "Review", "description": "Reviews code.",
            "arguments": [
                {"name": "theCode", "title": "Code", "description": "The code.", "required": true},
                {"name": "tone", "required": true,
                 "description": "How to say it.\n- blunt: Nothing is spared.\nOne of `kind`, `blunt`."},
                {"name": "size", "description": "- small: One line.\n- large: A page.", "required": false},
                {"name": "how_many", "required": false},
                {"name": "strict", "required": false},
            ],
        })
    );
    let function = declaration.prompts[0].function.as_ref().unwrap();
    assert!(function.spread);
    assert_eq!(function.export.to_string(), "a:b/i#review-code");
    assert_eq!(function.arguments()[3].default, Some(json!(3)));
}

#[test]
fn a_prompts_parameters_are_its_arguments() {
    let declaration = sound(&with_types(
        "
        /// @param what what to do
        /// @param how-often how many times
        /// @prompt
        do-it: func(what: string, how-often: option<f32>) -> list<prompt-message>;",
    ));
    assert_eq!(
        object(&declaration.prompts),
        json!({"name": "do_it", "arguments": [
            {"name": "what", "description": "what to do", "required": true},
            {"name": "how_often", "description": "how many times", "required": false},
        ]})
    );
    assert_eq!(result(&declaration.prompts), Type::Messages);
    let declaration = sound(&with_types("/// @prompt\n hello: func() -> string;"));
    assert_eq!(object(&declaration.prompts), json!({"name": "hello"}));
}

#[test]
fn prompts_and_tools_share_rules_for_names_but_not_the_names() {
    let declaration = sound(
        "package a:b;
        interface first { /** @prompt */ same: func() -> string; mine: func(); }
        interface second { /** @prompt */ same: func() -> string; same-tool: func(); }
        interface third { same: func(); /** @prompt */ mine: func() -> string; }
        world w { export first; export second; export third; }",
    );
    assert_eq!(names(&declaration), ["mine", "same_tool", "same"]);
    assert_eq!(
        keys(&declaration.prompts),
        ["first_same", "second_same", "mine"]
    );
    let (declaration, findings) = declare(&interface(
        "/** @prompt\n@name a */ f: func() -> string; /** @prompt\n@name a */ g: func() -> string;",
    ));
    assert_eq!(keys(&declaration.prompts), ["a"]);
    assert!(messages(&findings)[0].contains("its name `a` is that of `a:b/i#f` already"));
}
