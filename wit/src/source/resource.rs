//! A WIT function → a resource, or a template of resources.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::exported::Exported;
use super::tags::{self, note};
use crate::CONTRACT;
use crate::declaration::DeclaredItem;
use crate::error::Finding;
use crate::template::Template;
use crate::types::Type;
use crate::types::snake_case;

/// The resources and templates of a world.
#[derive(Default)]
pub(crate) struct Resources {
    pub(crate) resources: Vec<DeclaredItem>,
    pub(crate) templates: Vec<DeclaredItem>,
    /// Function of each URI, or template, that is taken.
    taken: HashMap<String, String>,
}

/// Values of a resource's tags.
#[derive(Default)]
struct About {
    uri: Option<(String, Template)>,
    name: Option<String>,
    title: Option<String>,
    mime_type: Option<String>,
    subscribe: bool,
}

impl Resources {
    /// Adds the resource of an exported function that has the tag `@resource`; there are findings
    /// where it cannot be one.
    pub(crate) fn add(&mut self, exported: Exported, findings: &mut Vec<Finding>) {
        let item = exported.item();
        let about = about(&exported, findings);
        let answers = answers(&exported, findings);
        let Some((uri, template)) = about.uri else {
            return;
        };
        let takes_variables = takes_variables(&exported, &template, findings);
        if !(answers && takes_variables) {
            return;
        }
        if let Some(other) = self.taken.get(&uri) {
            let message = format!("its URI `{uri}` is that of `{other}` already");
            findings.push(Finding::error(item, message));
            return;
        }
        self.taken.insert(uri.clone(), item.clone());

        let many = template.variables().next().is_some();
        let key = if many { "uriTemplate" } else { "uri" };
        let name = about
            .name
            .unwrap_or_else(|| snake_case(&exported.function.export.function));
        let members = [
            (key, Some(uri.clone())),
            ("name", Some(name)),
            ("title", about.title),
            ("description", exported.doc.text),
            ("mimeType", about.mime_type),
        ];
        let object: Map<String, Value> = members
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), Value::from(text?))))
            .collect();
        match serde_json::value::to_raw_value(&object) {
            Ok(object) => {
                let list = if many {
                    &mut self.templates
                } else {
                    &mut self.resources
                };
                list.push(DeclaredItem {
                    key: uri,
                    object,
                    function: Some(exported.function),
                    subscribe: about.subscribe,
                });
            }
            Err(error) => findings.push(Finding::error(item, error.to_string())),
        }
    }
}

fn about(exported: &Exported, findings: &mut Vec<Finding>) -> About {
    const KNOWN: &[&str] = &["resource", "name", "title", "mimetype", "subscribe"];
    let item = &exported.item();
    let mut about = About::default();
    for tag in exported.doc.known(item, KNOWN, &[], findings) {
        match tag.name.as_str() {
            "resource" => {
                let uri = tags::text(tag, item, findings);
                about.uri = uri.and_then(|uri| match Template::parse(&uri) {
                    Ok(template) => Some((uri, template)),
                    Err(error) => {
                        note(
                            findings,
                            Finding::error(item, format!("`@resource {uri}`: {error}"))
                                .hint("write a URI, like `notes://all`, or a template of URIs, like `notes://by-id/{id}`"),
                        );
                        None
                    }
                });
            }
            "name" => about.name = tags::text(tag, item, findings),
            "title" => about.title = tags::text(tag, item, findings),
            "mimetype" => {
                about.mime_type = tags::text(tag, item, findings)
                    .filter(|text| is_mime_type(text, item, findings));
            }
            _ => about.subscribe = tags::switch(tag, item, findings).unwrap_or_default(),
        }
    }
    about
}

/// Checks that the function's result is one that a resource may contain.
fn answers(exported: &Exported, findings: &mut Vec<Finding>) -> bool {
    let answer = exported.answer();
    let fine = matches!(answer, Some(Type::String | Type::Bytes | Type::Embedded));
    if !fine {
        let kind = answer.map_or("nothing", Type::kind);
        note(
            findings,
            Finding::error(exported.item(), format!("a resource cannot contain `{kind}`")).hint(
                format!("return `string`, `list<u8>`, or `list<embedded-resource>` of `{CONTRACT}`, or a `result` of one of them"),
            ),
        );
    }
    fine
}

/// Checks that the function's parameters are exactly the template's variables.
fn takes_variables(exported: &Exported, template: &Template, findings: &mut Vec<Finding>) -> bool {
    let item = exported.item();
    let mut fine = exported.takes_texts("a variable of a template", findings);
    let mut wrong = |message: String, hint: &str| {
        fine = false;
        note(findings, Finding::error(&item, message).hint(hint));
    };
    let function = &exported.function;
    for variable in template.variables() {
        if function.argument(variable).is_none() {
            wrong(
                format!("its URI has the variable `{variable}`, and no parameter is called so"),
                "the parameters have to be the variables of the URI, each by its name",
            );
        }
    }
    for argument in function.arguments() {
        let used = |variable| {
            function
                .argument(variable)
                .is_some_and(|found| found.wit == argument.wit)
        };
        if !template.variables().any(used) {
            wrong(
                format!(
                    "the parameter `{}` is no variable of its URI",
                    argument.json
                ),
                &format!(
                    "write `{{{}}}` into the URI, or drop the parameter",
                    argument.json
                ),
            );
        } else if matches!(argument.ty, Type::Option(_)) {
            wrong(
                format!(
                    "`{}` is an `option`, but a variable of a URI is always there",
                    argument.json
                ),
                "take the type without `option`",
            );
        }
    }
    fine
}

/// Checks whether a text looks like `text/markdown` or `text/plain; charset=utf-8`.
fn is_mime_type(text: &str, item: &str, findings: &mut Vec<Finding>) -> bool {
    let token = |text: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c);
        !text.is_empty() && text.chars().all(allowed)
    };
    let (essence, _) = text.split_once(';').unwrap_or((text, ""));
    let fits = essence
        .trim_end()
        .split_once('/')
        .is_some_and(|(main, sub)| token(main) && token(sub));
    if !fits {
        note(
            findings,
            Finding::error(item, format!("`@mimetype {text}` is no media type"))
                .hint("write one like `text/plain`"),
        );
    }
    fits
}
