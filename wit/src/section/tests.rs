use serde_json::json;

use super::*;

fn declaration(name: Option<&str>, tools: &[&str]) -> Declaration {
    let tools: Vec<_> = tools
        .iter()
        .map(|name| json!({"name": name, "tool": {"name": name, "inputSchema": {"type": "object"}, "x-odd": 1}}))
        .collect();
    serde_json::from_value(json!({"format": 1, "mapping": 1, "name": name, "tools": tools}))
        .unwrap()
}

fn custom(name: &str, content: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    leb128(name.len(), &mut body);
    body.extend(name.as_bytes());
    body.extend(content);
    section(CUSTOM_SECTION, &body)
}

fn section(id: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![id];
    leb128(body.len(), &mut bytes);
    bytes.extend(body);
    bytes
}

fn file(preamble: [u8; 8], sections: &[Vec<u8>]) -> Vec<u8> {
    [preamble.to_vec(), sections.concat()].concat()
}

/// The id of a nested component.
const COMPONENT_SECTION: u8 = 4;

#[test]
fn fragments_are_merged() {
    let first = encode(&declaration(None, &["a"])).unwrap();
    let mut second = declaration(Some("two"), &["b", "c"]);
    second.instance = crate::Instance::PerSession;
    let third = declaration(Some("three"), &[]);
    let all = [first, encode(&second).unwrap(), encode(&third).unwrap()].concat();
    let merged = decode(&all).unwrap();
    let names: Vec<_> = merged.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(merged.name.as_deref(), Some("two"));
    assert_eq!(merged.instance, crate::Instance::PerSession);
    assert!(
        merged.tools[0].tool.get().contains("x-odd"),
        "a tool object travels verbatim"
    );
}

#[test]
fn prompts_and_resources_of_fragments_are_merged() {
    let lists = ["prompts", "resources", "templates"];
    let fragment = |key: &str, completion: bool| -> Declaration {
        let items = json!([{"key": key, "object": {"x-odd": 1}}]);
        let mut json = json!({"format": 1, "mapping": 1, "tools": [], "completion": completion});
        for list in lists {
            json[list] = items.clone();
        }
        serde_json::from_str(&json.to_string()).unwrap()
    };
    let fragments = [fragment("a", false), fragment("b", true)].map(|one| encode(&one).unwrap());
    let merged = decode(&fragments.concat()).unwrap();
    assert!(merged.completion);
    for items in [&merged.prompts, &merged.resources, &merged.templates] {
        let keys: Vec<_> = items.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(keys, ["a", "b"]);
        assert!(items.iter().all(|item| item.object.get().contains("x-odd")));
    }
}

#[test]
fn damage_is_an_error() {
    let good = encode(&declaration(None, &["a"])).unwrap();
    for end in 0..good.len() {
        assert!(
            matches!(decode(&good[..end]), Err(Error::Section(_))),
            "cut off at {end}"
        );
    }
    let with_json = |json: &str| {
        let mut bytes = u32::try_from(json.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend(json.as_bytes());
        decode(&bytes)
    };
    for json in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"format":1}"#,
        r#"{"format":1,"mapping":1}"#,
        r#"{"format":0,"mapping":1,"tools":[]}"#,
    ] {
        assert!(matches!(with_json(json), Err(Error::Section(_))), "{json}");
    }
    assert!(with_json(r#"{"format":1,"mapping":1,"tools":[],"later":true}"#).is_ok());
}

#[test]
fn newer_versions_are_said_to_be_newer() {
    for (json, message) in [
        (r#"{"format":2,"mapping":1,"tools":"?"}"#, "format `2`"),
        (r#"{"format":1,"mapping":9,"tools":[]}"#, "mapping `9`"),
    ] {
        let mut bytes = u32::try_from(json.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend(json.as_bytes());
        let error = decode(&bytes).unwrap_err();
        assert!(matches!(error, Error::Newer { .. }));
        assert!(error.to_string().contains(message), "{error}");
        assert!(
            error.to_string().contains("hint: update Dormouse"),
            "{error}"
        );
    }
}

#[test]
fn a_request_of_a_later_kind_is_kept_from_nothing_else() {
    let json = json!({
        "format": 1, "mapping": 1, "tools": [],
        "grants": [
            { "kind": "sound", "volume": 11 },
            { "kind": "setting", "name": "unit", "format": "string", "later": true },
            { "kind": "env", "name": "TZ" },
        ],
    })
    .to_string();
    let mut section = (json.len() as u32).to_le_bytes().to_vec();
    section.extend(json.as_bytes());
    let grants = decode(&section).unwrap().grants;
    assert_eq!(
        serde_json::to_value(grants).unwrap(),
        json!([
            { "kind": "other" },
            { "kind": "setting", "name": "unit", "format": "string" },
            { "kind": "env", "name": "TZ" },
        ])
    );
}

#[test]
fn the_section_is_found_where_toolchains_leave_it() {
    let none = file(COMPONENT, &[custom("name", b"x")]);
    assert_eq!(find(&none).unwrap(), None);
    let front = file(COMPONENT, &[custom(NAME, b"front"), custom("name", b"x")]);
    assert_eq!(find(&front).unwrap().unwrap(), b"front");

    let module = file(
        MODULE,
        &[
            custom("other", b""),
            custom(NAME, b"one"),
            custom(NAME, b"two"),
        ],
    );
    let linked = file(COMPONENT, &[section(CORE_MODULE_SECTION, &module)]);
    assert_eq!(find(&linked).unwrap().unwrap(), b"onetwo");
    let late = file(
        COMPONENT,
        &[
            section(CORE_MODULE_SECTION, &module),
            custom(NAME, b"outer"),
        ],
    );
    assert_eq!(
        find(&late).unwrap().unwrap(),
        b"outer",
        "the component's own one wins"
    );

    let nested = file(
        COMPONENT,
        &[
            section(COMPONENT_SECTION, &front),
            section(COMPONENT_SECTION, &linked),
        ],
    );
    assert_eq!(
        find(&nested).unwrap(),
        None,
        "what nested components declare is theirs"
    );
}

#[test]
fn packing_replaces_and_unpacking_restores() {
    let module = file(MODULE, &[custom(NAME, b"inner")]);
    let plain = file(
        COMPONENT,
        &[section(CORE_MODULE_SECTION, &module), custom("name", b"x")],
    );
    // Longer than one byte of LEB128 can say.
    let content = vec![7; 300];
    let packed = insert(&plain, &content).unwrap();
    assert_eq!(find(&packed).unwrap().unwrap(), content);
    assert_eq!(packed[8], CUSTOM_SECTION, "right behind the preamble");
    assert_eq!(strip(&packed).unwrap(), plain);
    let again = insert(&packed, b"new").unwrap();
    assert_eq!(find(&again).unwrap().unwrap(), b"new");
    assert_eq!(strip(&again).unwrap(), plain);
}

#[test]
fn a_real_component_stays_one() {
    let component = wat::parse_str(
        r#"(component
            (core module $m (func (export "f") (result i32) i32.const 7))
            (core instance $i (instantiate $m))
            (func (export "f") (result u32) (canon lift (core func $i "f"))))"#,
    )
    .unwrap();
    let declared = crate::from_component(&component).unwrap();
    let section = encode(&declared.declaration).unwrap();
    let packed = insert(&component, &section).unwrap();
    // Decoding validates.
    let again = crate::from_component(&packed).unwrap();
    assert_eq!(
        again.declaration.tools[0].function,
        declared.declaration.tools[0].function
    );
    let read = decode(&find(&packed).unwrap().unwrap()).unwrap();
    assert_eq!(read.tools[0].name, "f");
}

#[test]
fn what_is_no_component_is_said_to_be_none() {
    for bytes in [&b""[..], b"\0asm", b"hello, world", &MODULE] {
        for result in [
            find(bytes).map(|_| ()),
            insert(bytes, b"").map(|_| ()),
            strip(bytes).map(|_| ()),
        ] {
            assert!(matches!(result, Err(Error::Component(_))), "{bytes:?}");
        }
    }
    let message = find(&MODULE).unwrap_err().to_string();
    assert!(message.contains("core module"), "{message}");
    let cut = &file(COMPONENT, &[custom("name", b"something")])[..12];
    let message = find(cut).unwrap_err().to_string();
    assert!(message.contains("cut off"), "{message}");
    // A length that runs over 32 bits.
    let long = [&COMPONENT[..], &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]].concat();
    assert!(find(&long).is_err());
}

/// The README's example of the section's JSON is read, and written, as the README has it.
#[test]
fn the_json_of_the_readme_is_a_declaration() {
    let readme = include_str!("../../README.md");
    let json = readme.split("```json\n").nth(1).unwrap();
    let (json, _) = json.split_once("```").unwrap();
    let length = u32::try_from(json.len()).unwrap();
    let section = [&length.to_le_bytes(), json.as_bytes()].concat();
    let written = serde_json::to_value(decode(&section).unwrap()).unwrap();
    let read: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(written, read);
}

#[test]
fn many_fragments_take_linear_time() {
    let sections = |number: usize| {
        let fragment = encode(&Declaration::default()).unwrap();
        fragment.repeat(number)
    };
    dormouse_tests::growth::is_linear("fragments", 1_000, sections, |section: &Vec<u8>| {
        std::hint::black_box(decode(section).unwrap());
    });
}
