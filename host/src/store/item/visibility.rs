//! Visibility of tools: who may call them, as their servers declare.

use dormouse_jsonrpc::{Object, member};
use memchr::memmem;
use serde_json::{Value, json};

/// Member of `_meta` that holds the parts of MCP Apps, in their nested form.
const APPS: &str = "ui";

/// Member of `_meta` by which a server says who may call a tool, in MCP Apps' flat form.
const VISIBILITY: &str = "ui/visibility";

/// Member of `_meta` by which a server keeps a tool from models, in the extension that MCP Apps came
/// from.
const EARLIER_VISIBILITY: &str = "openai/visibility";

/// Checks whether pages may call a tool: unless its server declares that it is for others.
pub(crate) fn is_for_pages(tool: &str) -> bool {
    is_for(tool, "app")
}

/// Checks whether models may be told of a tool and call it: unless its server declares that it is for
/// others.
pub(crate) fn is_for_models(tool: &str) -> bool {
    if !may_have_visibility(tool) {
        return true;
    }
    let meta = member(tool, "_meta");
    let earlier = meta.and_then(|meta| member(meta, EARLIER_VISIBILITY));
    let earlier = earlier.and_then(|text| serde_json::from_str::<String>(text).ok());
    is_for(tool, "model") && earlier.is_none_or(|visibility| visibility != "private")
}

/// Checks whether a tool is for one of those that MCP Apps names, by its server's declaration: for all
/// where that says nothing that can be read.
fn is_for(tool: &str, whom: &str) -> bool {
    let Some(meta) = member(tool, "_meta") else {
        return true;
    };
    let visibility = member(meta, APPS).and_then(|ui| member(ui, "visibility"));
    let Some(visibility) = visibility.or_else(|| member(meta, VISIBILITY)) else {
        return true;
    };
    let read: Value = serde_json::from_str(visibility).unwrap_or_default();
    match read {
        // One of them may stand there by itself.
        Value::String(one) if ["app", "model"].contains(&&*one) => one == whom,
        Value::Array(visible) if visible.iter().all(Value::is_string) => {
            visible.iter().any(|to| to == whom)
        }
        _ => true,
    }
}

/// Checks whether a text may say who may call a tool: most do not, and all are looked through for a
/// search. A letter may be written as an escape.
fn may_have_visibility(text: &str) -> bool {
    let text = text.as_bytes();
    memmem::find(text, b"isibility").is_some()
        || memchr::memchr(b'\\', text).is_some() && memmem::find(text, b"\\u00").is_some()
}

/// Visibility of a tool, by the declaration of its server: for all, where that says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ToolVisibility {
    models: bool,
    pages: bool,
}

impl ToolVisibility {
    /// Visibility of a tool of which nothing is said.
    pub(super) const UNRESTRICTED: Self = Self {
        models: true,
        pages: true,
    };

    /// Returns the visibility in a tool's definition.
    pub(super) fn of(tool: &str) -> Self {
        Self {
            models: is_for_models(tool),
            pages: is_for_pages(tool),
        }
    }

    /// Returns the visibility for those alone whom both are for.
    pub(super) fn most_cautious(self, other: Self) -> Self {
        Self {
            models: self.models && other.models,
            pages: self.pages && other.pages,
        }
    }

    /// Writes it into a tool's `_meta`, and leaves all else there as it is. All forms of it say the
    /// same: a client reads the one that it knows.
    pub(super) fn write(self, tool: &mut Object<'_>) {
        let whom = [("model", self.models), ("app", self.pages)];
        let whom = whom.into_iter().filter(|(_, is_for)| *is_for);
        let whom: Vec<&str> = whom.map(|(whom, _)| whom).collect();
        let whom = json!(whom).to_string();
        let text = tool.get("_meta").unwrap_or_default().to_owned();
        let mut meta = Object::read(&text).unwrap_or_default();
        let apps = meta.get(APPS).unwrap_or_default().to_owned();
        let mut apps = Object::read(&apps).unwrap_or_default();
        apps.set("visibility", whom.clone());
        let apps = apps.into_text().into_owned();
        meta.set(APPS, apps);
        meta.set(VISIBILITY, whom);
        if !self.models {
            meta.set(EARLIER_VISIBILITY, json!("private").to_string());
        }
        let meta = meta.into_text().into_owned();
        tool.set("_meta", meta);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::{RawValue, to_raw_value};

    use super::super::frozen::{caution_of, frozen_tool, has_same_caution, most_cautious};
    use super::*;

    #[test]
    fn a_tool_is_for_whom_its_server_declares_it() {
        for (meta, pages, models) in [
            ("{}", true, true),
            (r#"{"ui":{"visibility":["app"]}}"#, true, false),
            (r#"{"ui":{"visibility":["model"]}}"#, false, true),
            (r#"{"ui":{"visibility":["model","app"]}}"#, true, true),
            (r#"{"ui":{"visibility":[]}}"#, false, false),
            (r#"{"ui":{"visibility":7}}"#, true, true),
            (r#"{"ui":{"visibility":"app"}}"#, true, false),
            (r#"{"ui/visibility":"model"}"#, false, true),
            (r#"{"ui/visibility":"all"}"#, true, true),
            (r#"{"ui/visibility":["app"]}"#, true, false),
            (r#"{"ui":{"v\u0069sibility":["app"]}}"#, true, false),
            (r#"{"openai/visibility":"private"}"#, true, false),
            (r#"{"openai/visibility":"public"}"#, true, true),
        ] {
            let tool = format!(r#"{{"name":"t","_meta":{meta}}}"#);
            assert_eq!(is_for_pages(&tool), pages, "{tool}");
            assert_eq!(is_for_models(&tool), models, "{tool}");
        }
        assert!(is_for_models(r#"{"name":"t"}"#));
    }

    #[test]
    fn a_tool_is_for_those_whom_both_forms_are_for() {
        let nested = |whom: &[&str]| json!({ "ui": { "visibility": whom } });
        let both = json!(null);
        let parts = json!({ "ui": { "resourceUri": "ui://s/p" }, "x": 1 });
        for (approved, now, models, pages) in [
            (&both, &both, true, true),
            (&both, &nested(&["app"]), false, true),
            (&both, &json!({ "ui/visibility": ["app"] }), false, true),
            (
                &both,
                &json!({ "openai/visibility": "private" }),
                false,
                true,
            ),
            (&parts, &nested(&["app"]), false, true),
            (
                &json!({ "ui/visibility": ["model", "app"] }),
                &nested(&["app"]),
                false,
                true,
            ),
            (
                &json!({ "openai/visibility": "public" }),
                &nested(&["app"]),
                false,
                true,
            ),
            (&both, &nested(&["model"]), true, false),
            (&nested(&["app"]), &both, false, true),
            (&nested(&["app"]), &nested(&["model"]), false, false),
        ] {
            let tool = |meta: &Value| {
                let mut tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
                if !meta.is_null() {
                    tool["_meta"] = meta.clone();
                }
                to_raw_value(&tool).unwrap()
            };
            let [approved, now] = [approved, now].map(tool);
            let shown = frozen_tool(&approved, &now);
            let is = |tool: &RawValue| {
                let tool = tool.get();
                let is_for = (is_for_models(tool), is_for_pages(tool));
                assert_eq!(is_for, (models, pages), "{approved} {now}: {tool}");
            };
            is(&shown);
            let read: Value = serde_json::from_str(shown.get()).unwrap();
            if approved.get().contains("ui://s/p") {
                assert_eq!(read["_meta"]["ui"]["resourceUri"], "ui://s/p");
                assert_eq!(read["_meta"]["x"], 1);
            }
            // What is kept of each kind of clients says the same, and so does what is left of many.
            let [caution, other] = [&approved, &now].map(|tool| caution_of(tool));
            is(&frozen_tool(&approved, &other));
            is(&frozen_tool(&caution, &now));
            is(&most_cautious([&*approved, &*now]).unwrap());
            let [was, is_now] = [&approved, &now].map(|tool| ToolVisibility::of(tool.get()));
            assert_eq!(has_same_caution(&caution, &now), was == is_now, "{now}");
        }
    }
}
