use std::fs;

use dormouse_wit::{Declaration, DeclaredTool, section};
use serde_json::json;

use super::*;
use crate::component::declaration::MAX_DECLARATION_BYTES;
use crate::component::listing;
use crate::read_process::tests::command;
use crate::tests::{
    back, by_name, front, tool, typed, with_interface, with_items, without_tools, words,
};

/// Returns the declarations of a file with these bytes, which are those of the bytes.
fn listed(bytes: &[u8]) -> Result<Listing, Problem> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let listing = entry(file.path(), command).map(|entry| (*entry.listing).clone());
    let same = listing::bytes(bytes);
    match (&listing, &same) {
        (Ok(one), Ok(other)) => assert_eq!(format!("{one:?}"), format!("{other:?}")),
        (Err(one), Err(other)) => assert_eq!(one.problem.to_string(), other.to_string()),
        _ => panic!("{listing:?}, but of the bytes alone {same:?}"),
    }
    listing.map_err(|error| error.problem)
}

fn encoded(description: &str) -> Vec<u8> {
    section::encode(&words(description)).unwrap()
}

/// Returns a custom section with `length` and `name`, right or wrong.
fn custom(length: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let name = [&[u8::try_from(name.len()).unwrap()], name.as_bytes()].concat();
    [&[0], length, &name, content].concat()
}

/// The component with the bytes right behind its preamble.
fn behind_preamble(component: &[u8], bytes: &[u8]) -> Vec<u8> {
    [&component[..8], bytes, &component[8..]].concat()
}

#[test]
fn a_declaration_is_found_wherever_it_is() {
    let listing = listed(&front(&typed(), &words("Adds."))).unwrap();
    assert_eq!(listing.provenance, Provenance::Front);
    assert_eq!(listing.description.as_deref(), Some("Adds."));
    let listing = listed(&back(&typed(), &encoded("Adds."))).unwrap();
    assert_eq!(listing.provenance, Provenance::Section);
    assert_eq!(listing.description.as_deref(), Some("Adds."));
    let listing = listed(&typed()).unwrap();
    assert_eq!(listing.provenance, Provenance::Derived);
    assert_eq!(listing.description, None);
    assert_eq!(listing.tools[0].name, "add");
    // A section in front that is another one changes nothing.
    let other = behind_preamble(
        &back(&typed(), &encoded("Adds.")),
        &custom(&[5], "name", b""),
    );
    assert_eq!(listed(&other).unwrap().provenance, Provenance::Section);
}

#[test]
fn a_declaration_larger_than_the_first_read_is_whole() {
    let long = "words ".repeat(FIRST);
    let listing = listed(&front(&typed(), &words(&long))).unwrap();
    assert_eq!(listing.description.unwrap(), long);
}

#[test]
fn fragments_are_one_declaration() {
    let one = section::encode(&by_name(&[("a", tool("a"))])).unwrap();
    let other = section::encode(&by_name(&[("b", tool("b"))])).unwrap();
    let both = [one, other].concat();
    let names = |bytes: &[u8]| -> Vec<String> {
        let tools = listed(bytes).unwrap().tools;
        tools.into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(
        names(&section::insert(&typed(), &both).unwrap()),
        ["a", "b"]
    );
    assert_eq!(names(&back(&typed(), &both)), ["a", "b"]);
    let cut = section::insert(&typed(), &both[..both.len() - 1]).unwrap();
    let problem = listed(&cut).unwrap_err().to_string();
    assert!(problem.contains("a fragment of `"), "{problem}");
}

/// Reading no more makes listing fast. It is also the reason for which a packed file whose code is
/// damaged is listed: it fails when it is called, or with `dormouse check`.
#[test]
fn of_a_packed_component_only_the_front_is_read() {
    let mut bytes = front(&typed(), &words("Adds."));
    let end = bytes.len();
    bytes[end - 40..].fill(0xff);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &bytes).unwrap();
    assert_eq!(
        entry(file.path(), command).unwrap().listing.tools[0].name,
        "add"
    );
    let problem = listing::bytes(&bytes).unwrap_err();
    assert!(matches!(
        problem,
        Problem::Malformed { .. } | Problem::Truncated { .. }
    ));
}

#[test]
fn lengths_are_read_as_the_format_has_them() {
    let content = encoded("Adds.");
    let length = 1 + section::NAME.len() + content.len();
    // Each seven bits with the mark that more follow; WebAssembly allows five
    // bytes even where fewer would do.
    let padded: Vec<u8> = (0..5)
        .map(|n| (length >> (7 * n)) as u8 & 0x7f | if n < 4 { 0x80 } else { 0 })
        .collect();
    let good = custom(&padded, section::NAME, &content);
    let listing = listed(&behind_preamble(&typed(), &good)).unwrap();
    assert_eq!(listing.provenance, Provenance::Front);

    // Six bytes are too many, and five can say more than 32 bits hold.
    let six = [&padded[..4], &[0x80, 0x00]].concat();
    let large = [&padded[..4], &[0x7f]].concat();
    for length in [six, large] {
        let bad = behind_preamble(&typed(), &custom(&length, section::NAME, &content));
        let problem = listed(&bad).unwrap_err();
        assert!(!matches!(problem, Problem::Declaration { .. }), "{problem}");
    }
    // A name that is longer than its section, whatever comes then.
    let short = custom(&[3], section::NAME, &content);
    let problem = listed(&behind_preamble(&typed(), &short)).unwrap_err();
    assert!(!matches!(problem, Problem::Declaration { .. }), "{problem}");
    let problem = listed(&behind_preamble(&typed(), &[0, 3, 20, b'd', b'o'])).unwrap_err();
    assert!(matches!(problem, Problem::Malformed { .. }), "{problem}");
}

#[test]
fn a_section_that_is_longer_than_the_file_is_cut_off() {
    for good in [
        front(&typed(), &words("Adds.")),
        back(&typed(), &encoded("Adds.")),
    ] {
        let cut = &good[..good.len() - 1];
        let problem = listing::bytes(cut).unwrap_err();
        assert!(matches!(problem, Problem::Truncated { size } if size == cut.len() as u64));
    }
    let packed = front(&typed(), &words("Adds."));
    for end in 9..60 {
        let problem = listed(&packed[..end]).unwrap_err();
        assert!(
            matches!(problem, Problem::Truncated { .. }),
            "{end}: {problem}"
        );
    }
}

/// "It ends in the middle" would mislead its author.
#[test]
fn a_section_that_ends_too_early_is_damage() {
    // A component type section that promises one type and has none.
    let bytes = behind_preamble(&typed(), &[7, 1, 1]);
    let problem = listed(&bytes).unwrap_err();
    assert!(
        matches!(problem, Problem::Malformed { offset, .. } if offset < 16),
        "{problem}"
    );
}

#[test]
fn one_tool_has_one_name() {
    let wrong = |tool: serde_json::Value| {
        let bytes = front(&typed(), &by_name(&[("ask", tool)]));
        let problem = listed(&bytes).unwrap_err();
        assert!(matches!(problem, Problem::Declaration { .. }), "{problem}");
        problem.to_string()
    };
    let told = wrong(tool("answer"));
    assert!(
        told.contains("the tool `ask` is `answer` in its MCP Tool object"),
        "{told}"
    );
    assert!(told.contains("\nhint: "), "{told}");
    for none in [json!({ "inputSchema": {} }), json!(7), json!({ "name": 7 })] {
        let told = wrong(none);
        assert!(
            told.contains("the tool `ask` has no MCP Tool object"),
            "{told}"
        );
    }
    // A name with an escape in it is the same name.
    let bytes = front(&typed(), &by_name(&[("a\"b", tool("a\"b"))]));
    assert_eq!(listed(&bytes).unwrap().tools[0].name, "a\"b");
}

#[test]
fn one_prompt_or_resource_has_one_name() {
    for (list, what, object, member) in [
        ("prompts", "prompt", "Prompt", "name"),
        ("resources", "resource", "Resource", "uri"),
        (
            "templates",
            "resource template",
            "ResourceTemplate",
            "uriTemplate",
        ),
    ] {
        let read =
            |json: serde_json::Value| listed(&front(&typed(), &with_items(list, &[("a:b", json)])));
        let listing = read(json!({ member: "a:b", "title": "kept" })).unwrap();
        let items = [listing.prompts, listing.resources, listing.templates].concat();
        assert_eq!(items[0].key, "a:b");
        assert!(items[0].object.get().contains("kept"));
        assert_eq!(items[0].function().unwrap(), None);
        let told = read(json!({ member: "a:c" })).unwrap_err().to_string();
        let expected = format!("the {what} `a:b` is `a:c` in its MCP {object} object");
        assert!(told.contains(&expected), "{told}");
        for none in [json!({ "other": "a:b" }), json!(7), json!({ member: 7 })] {
            let told = read(none).unwrap_err().to_string();
            let expected = format!("the {what} `a:b` has no MCP {object} object");
            assert!(told.contains(&expected), "{told}");
        }
    }
}

#[test]
fn what_is_no_component_is_told_apart() {
    let core = wat::parse_str("(module)").unwrap();
    let encoding = b"\0asm\x0e\0\x01\0".to_vec();
    let mut resolve = wit_parser::Resolve::default();
    let package = resolve
        .push_str("a.wit", "package a:b; interface c { f: func(); }")
        .unwrap();
    let wit = wit_component::encode(&resolve, package).unwrap();
    for (bytes, expected) in [
        (Vec::new(), "the file is empty"),
        (b"\x7fELF\x02".to_vec(), "it begins with `\\x7fELF\\x02`"),
        (b"\0as".to_vec(), "this is not WebAssembly"),
        (
            b"\0asm\x0d\0".to_vec(),
            "ends in the middle, 6 bytes into it",
        ),
        (b"\n(component)".to_vec(), "this is WebAssembly text"),
        (b"package a:b;".to_vec(), "this is a WIT package"),
        (wit, "this is a WIT package"),
        (core, "this is a WebAssembly core module"),
        (encoding, "the version field is `0x0001000e`"),
    ] {
        let told = listed(&bytes).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
        assert!(told.contains("\nhint: "), "{told}");
    }
}

#[test]
fn what_is_no_file_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |path: &Path| entry(path, command).unwrap_err().problem;
    assert!(matches!(
        problem(&folder.path().join("a")),
        Problem::Missing
    ));
    assert!(matches!(problem(folder.path()), Problem::Folder));
    let file = folder.path().join("b");
    fs::write(&file, typed()).unwrap();
    assert!(matches!(problem(&file.join("c")), Problem::Missing));
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(LIMIT + 1)
        .unwrap();
    assert!(matches!(problem(&file), Problem::TooLarge { .. }));
}

#[test]
fn names_of_another_contract_are_refused() {
    for (name, fine) in [
        ("dormouse:plugin/adapter@0.1.0", true),
        ("dormouse:plugin/adapter@0.2.0", false),
        ("dormouse:plugin/adapter", false),
        ("dormouse:pluginx/adapter@0.2.0", true),
    ] {
        let bytes = crate::tests::adapter(name, 2);
        let refused = matches!(listed(&bytes), Err(Problem::Contract { .. }));
        assert_eq!(refused, !fine, "{name}");
    }
    // Derived from its types, a component with an interface has its tools.
    assert_eq!(listed(&with_interface()).unwrap().tools[0].name, "list_all");
}

#[test]
fn a_declaration_has_a_limit() {
    let mut content = encoded("Adds.");
    content.resize(MAX_DECLARATION_BYTES + 1, b' ');
    for component in [back(&typed(), &content), {
        let length = content.len() + 1 + section::NAME.len();
        let mut leb = Vec::new();
        let mut rest = length;
        while rest >= 0x80 {
            leb.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        leb.push(rest as u8);
        behind_preamble(&typed(), &custom(&leb, section::NAME, &content))
    }] {
        let told = listed(&component).unwrap_err().to_string();
        assert!(told.contains("bytes where 33554432 are allowed"), "{told}");
    }
}

fn numbered(number: usize) -> DeclaredTool {
    let name = format!("t{number}");
    DeclaredTool {
        tool: serde_json::value::to_raw_value(&tool(&name)).unwrap(),
        name,
        function: None,
    }
}

#[test]
fn listing_takes_linear_time() {
    let declared = |tools: usize| {
        let tools = (0..tools).map(numbered);
        Declaration {
            tools: tools.collect(),
            ..words("Adds.")
        }
    };
    dormouse_tests::growth::is_linear("tools", 500, declared, |declared: &Declaration| {
        std::hint::black_box(Listing::new(declared.clone(), Provenance::Section).unwrap());
    });
}

/// The author of a component chooses how many of its functions are no tools, and their names.
#[test]
fn of_functions_that_are_no_tools_the_first_are_told() {
    let bytes = without_tools(20_000, &format!("i{}", "a".repeat(3_499)));
    let listing = listing::component(&bytes).unwrap();
    assert_eq!(listing.skipped.len(), 101);
    let last = listing.skipped.last().unwrap();
    assert!(last.contains("19900 more"), "{last}");
    let length = serde_json::to_string(&listing).unwrap().len();
    assert!(length < 128 << 10, "{length}");
    let found = crate::check(&bytes);
    assert!(found.len() <= 101, "{}", found.len());
    let few = listing::component(&without_tools(2, "i")).unwrap();
    assert_eq!(few.skipped.len(), 2);
    assert!(few.skipped[0].contains("i#a0"), "{:?}", few.skipped);
}

#[test]
fn a_list_has_a_limit() {
    let tools = (0..10_001).map(numbered);
    let declared = Declaration {
        tools: tools.collect(),
        ..words("Adds.")
    };
    let listing = Listing::new(declared, Provenance::Section).unwrap();
    assert_eq!(listing.tools.len(), 10_000);
    let told = listing.odd[0].to_string();
    assert!(
        told.contains("`t10000`") && told.contains("10001"),
        "{told}"
    );
}
