//! Items that servers list, and their results.

use std::sync::LazyLock;

use dormouse_catalog::{
    BoundedValidator, Listing, NonconformingItem, Provenance, What, answer, validator,
};
use dormouse_jsonrpc::Object;
use dormouse_wit::{Declaration, DeclaredItem, DeclaredTool, section};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// MCP's own schema of each kind of item, in each version that has it.
static ITEMS: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let kinds = [
        (What::Tool, "Tool"),
        (What::Prompt, "Prompt"),
        (What::Resource, "Resource"),
        (What::Template, "ResourceTemplate"),
    ];
    let all = VERSIONS.iter().flat_map(|version| {
        kinds.map(|(what, name)| Definition {
            what,
            is_stateless: version.is_stateless,
            validator: version.definition(name),
        })
    });
    all.collect()
});

static VERSIONS: [Version; 3] = [
    Version {
        schema: include_str!("../../catalog/src/shape/tests/2025-06-18.json"),
        is_stateless: false,
    },
    Version {
        schema: include_str!("../../catalog/src/shape/tests/2025-11-25.json"),
        is_stateless: false,
    },
    Version {
        schema: include_str!("../../catalog/src/shape/tests/2026-07-28.json"),
        is_stateless: true,
    },
];

struct Version {
    schema: &'static str,
    is_stateless: bool,
}

struct Definition {
    what: What,
    is_stateless: bool,
    validator: BoundedValidator,
}

impl Version {
    fn definition(&self, name: &str) -> BoundedValidator {
        let mut schema: Value = serde_json::from_str(self.schema).expect("MCP's schema is JSON");
        // URIs are judged as far as to their schemes: many servers write file names there.
        without_formats(&mut schema);
        let has_defs = schema.get("$defs").is_some();
        let place = if has_defs { "$defs" } else { "definitions" };
        if let Some(members) = schema.as_object_mut() {
            members.insert("$ref".into(), json!(format!("#/{place}/{name}")));
        }
        validator(&schema).expect("MCP's schema is one")
    }
}

/// Takes the formats of texts out of a schema.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        Value::Object(members) => {
            if members.get("format").is_some_and(Value::is_string) {
                members.remove("format");
            }
            members.values_mut().for_each(without_formats);
        }
        _ => {}
    }
}

/// Items of lists: a shown item conforms to MCP, is shown unchanged the next time, and has lost no
/// member that MCP does not know.
pub fn items(data: &[u8]) {
    let text = super::text(data);
    let Ok(object) = RawValue::from_string(text.trim().to_owned()) else {
        return;
    };
    for what in [What::Tool, What::Prompt, What::Resource, What::Template] {
        let Some(shown) = listed(what, &object) else {
            continue;
        };
        conforms(what, &shown);
        unknown_members(&object, &shown.object);
        if shown.odd.is_empty() {
            assert_eq!(shown.object.get(), object.get());
        }
        let again = listed(what, &shown.object).expect("what is shown can be shown");
        assert_eq!(again.object.get(), shown.object.get());
        assert_eq!(again.odd, []);
    }
}

struct ShownItem {
    object: Box<RawValue>,
    legacy: Box<RawValue>,
    odd: Vec<NonconformingItem>,
}

/// An item as agents are shown it, if they are.
fn listed(what: What, object: &RawValue) -> Option<ShownItem> {
    let mut declared = Listing::empty().declaration().expect("nothing is in it");
    let item = || DeclaredItem {
        key: "k".into(),
        object: object.to_owned(),
        function: None,
        subscribe: false,
    };
    match what {
        What::Tool => declared.tools.push(DeclaredTool {
            name: "k".into(),
            tool: object.to_owned(),
            function: None,
        }),
        What::Prompt => declared.prompts.push(item()),
        What::Resource => declared.resources.push(item()),
        What::Template => declared.templates.push(item()),
    }
    let listing = Listing::new(declared, Provenance::Derived).expect("it has no functions");
    let (object, legacy) = match (listing.tools.first(), listing.items().next()) {
        (Some(tool), _) => (tool.object(true).to_owned(), tool.object(false).to_owned()),
        (None, Some(item)) => (item.object.clone(), item.object.clone()),
        (None, None) => {
            assert!(
                !listing.odd.is_empty(),
                "nobody is told why it is not shown"
            );
            return None;
        }
    };
    let odd = listing.odd;
    Some(ShownItem {
        object,
        legacy,
        odd,
    })
}

fn conforms(what: What, shown: &ShownItem) {
    for definition in ITEMS.iter().filter(|definition| definition.what == what) {
        let text = match definition.is_stateless {
            true => &shown.object,
            false => &shown.legacy,
        };
        let value: Value = serde_json::from_str(text.get()).expect("what is shown is a value");
        let problems = definition.validator.problems(&value, 1);
        if let Ok(problems) = problems {
            assert!(problems.is_empty(), "{text}: {problems:?}");
        }
    }
}

/// Compares the members that MCP does not know with those before, but for those whose names differ from
/// what it knows in letter case alone.
fn unknown_members(before: &RawValue, after: &RawValue) {
    const KNOWN: [&str; 13] = [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "execution",
        "icons",
        "_meta",
        "arguments",
        "uri",
        "mimeType",
        "size",
    ];
    let folded = |name: &str| name.to_uppercase().to_lowercase();
    let is_known = |name: &str| KNOWN.iter().any(|known| folded(known) == folded(name));
    let unknown = |object: &RawValue| {
        let object = Object::parse(object.get(), usize::MAX).expect("an item is an object");
        let members = object.iter();
        let members = members.filter(|member| !is_known(&member.name));
        members
            .map(|member| (member.name.to_string(), member.value.to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(unknown(after), unknown(before));
}

/// Results: a mended one is valid, and a valid one stays unchanged.
pub fn answers(data: &[u8]) {
    let text = super::text(data);
    let text = text.trim();
    for what in [What::Tool, What::Prompt, What::Resource] {
        let Ok((mended, why)) = answer(what, text) else {
            continue;
        };
        assert!(serde_json::from_str::<&RawValue>(text).is_ok());
        match mended {
            Some(mended) => assert_eq!(answer(what, &mended), Ok((None, vec![])), "{mended}"),
            None => assert!(why.is_empty(), "{why:?}"),
        }
    }
}

/// Declarations: reading and writing again gives the same declaration, and the same listing.
pub fn declarations(data: &[u8]) {
    let _ = section::find(data);
    let _ = section::strip(data);
    let declaration = match section::decode(data) {
        Ok(declaration) => declaration,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            // One that a person has written, without its length.
            let Ok(declaration) = serde_json::from_slice::<Declaration>(data) else {
                return;
            };
            declaration
        }
    };
    let json = |declaration: &Declaration| {
        serde_json::to_string(declaration).expect("a declaration is JSON")
    };
    let written = json(&declaration);
    let again = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(json(&again), written);
    let Ok(listing) = Listing::new(declaration, Provenance::Section) else {
        return;
    };
    let declared = listing
        .declaration()
        .expect("its functions were read before");
    let shown = json(&declared);
    let again = Listing::new(declared, Provenance::Section).expect("they still are");
    assert_eq!(again.odd, []);
    assert_eq!(json(&again.declaration().expect("they still are")), shown);
}
