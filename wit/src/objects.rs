//! MCP's own objects, as an author has them in a file → declaration.

use std::collections::HashSet;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::declaration::{Declaration, DeclaredItem, DeclaredTool};
use crate::template::Template;

/// Kind of the items that a plugin may offer without a function for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offers {
    /// MCP `Tool` objects.
    Tools,
    /// MCP `Prompt` objects.
    Prompts,
    /// MCP `Resource` objects.
    Resources,
    /// MCP `ResourceTemplate` objects.
    Templates,
}

impl Offers {
    /// Returns the member of a reply to MCP's list request that holds the items.
    #[must_use]
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// Returns the name of the objects' type in MCP.
    #[must_use]
    pub fn object(self) -> &'static str {
        match self {
            Self::Tools => "Tool",
            Self::Prompts => "Prompt",
            Self::Resources => "Resource",
            Self::Templates => "ResourceTemplate",
        }
    }

    /// Returns the member of an object by which it is requested.
    fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }

    /// Adds the items of a text to a declaration: a JSON array of such objects, or an object that
    /// has one in its [`member`](Self::member), like the reply to a list request. Agents see each
    /// object as it is there, with members that MCP does not know. `subscribe` says whether
    /// resources and templates tell of their changes.
    ///
    /// # Errors
    /// Text on the fault and the object that has it. The declaration is unchanged then.
    pub fn declare(
        self,
        text: &str,
        subscribe: bool,
        declaration: &mut Declaration,
    ) -> Result<(), String> {
        let mut value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some(list) = value.get_mut(self.member()) {
            value = list.take();
        }
        let Value::Array(objects) = value else {
            return Err(format!(
                "it is no array of MCP {} objects, and has none as its member `{}`",
                self.object(),
                self.member()
            ));
        };
        let mut known: HashSet<String> = self.known(declaration);
        let mut found = Vec::new();
        for object in &objects {
            let (key, object) = self.judged(object)?;
            if !known.insert(key.clone()) {
                return Err(format!("`{key}` is there twice"));
            }
            found.push((key, object));
        }
        let items = |subscribe: bool| {
            found
                .iter()
                .cloned()
                .map(move |(key, object)| DeclaredItem {
                    key,
                    object,
                    function: None,
                    subscribe,
                })
        };
        match self {
            Self::Tools => {
                let tools = found.into_iter().map(|(name, tool)| DeclaredTool {
                    name,
                    tool,
                    function: None,
                });
                declaration.tools.extend(tools);
            }
            Self::Prompts => declaration.prompts.extend(items(false)),
            Self::Resources => declaration.resources.extend(items(subscribe)),
            Self::Templates => declaration.templates.extend(items(subscribe)),
        }
        Ok(())
    }

    /// Returns the keys that are taken.
    fn known(self, declaration: &Declaration) -> HashSet<String> {
        let items = match self {
            Self::Tools => {
                let names = declaration.tools.iter().map(|tool| tool.name.clone());
                return names.collect();
            }
            Self::Prompts => &declaration.prompts,
            Self::Resources => &declaration.resources,
            Self::Templates => &declaration.templates,
        };
        items.iter().map(|item| item.key.clone()).collect()
    }

    /// Returns an object with its key, if an agent could use it.
    fn judged(self, object: &Value) -> Result<(String, Box<RawValue>), String> {
        let text = |object: &Value, member: &str| {
            let text = object.get(member).and_then(Value::as_str);
            text.map(str::to_owned)
        };
        let member = self.key();
        let key = text(object, member).ok_or_else(|| format!("`{object}` has no `{member}`"))?;
        let wrong = |what: &str| format!("{} `{key}` {what}", self.object());
        match self {
            Self::Tools => {
                if !object.get("inputSchema").is_some_and(Value::is_object) {
                    return Err(wrong("has no `inputSchema` object"));
                }
            }
            Self::Prompts => {
                let arguments = match object.get("arguments") {
                    None => &Vec::new(),
                    Some(Value::Array(arguments)) => arguments,
                    Some(_) => return Err(wrong("has `arguments` that are no array")),
                };
                let mut names = HashSet::new();
                for argument in arguments {
                    let name = text(argument, "name").ok_or_else(|| {
                        wrong(&format!("has the argument `{argument}` without `name`"))
                    })?;
                    if !names.insert(name.clone()) {
                        return Err(wrong(&format!("has the argument `{name}` twice")));
                    }
                }
            }
            Self::Resources | Self::Templates => {
                let template = Template::parse(&key)
                    .map_err(|error| wrong(&format!("has no URI there: {error}")))?;
                if text(object, "name").is_none() {
                    return Err(wrong("has no `name`"));
                }
                let many = template.variables().next().is_some();
                match (self, many) {
                    (Self::Resources, true) => {
                        return Err(wrong("has variables in its URI: it is a template"));
                    }
                    (Self::Templates, false) => {
                        return Err(wrong("has no variable: it is a resource"));
                    }
                    _ => {}
                }
            }
        }
        let object = to_raw_value(object).map_err(|error| error.to_string())?;
        Ok((key, object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declare(what: Offers, text: &str) -> Result<Declaration, String> {
        let mut declaration = Declaration::default();
        what.declare(text, true, &mut declaration)
            .map(|()| declaration)
    }

    #[test]
    fn one_file_may_have_all_of_them() {
        let text = r#"{
            "tools": [{ "name": "t", "inputSchema": { "type": "object" }, "x-more": 1.5 }],
            "prompts": [{ "name": "p", "arguments": [{ "name": "a" }] }],
            "resources": [{ "uri": "a:b", "name": "r" }],
            "resourceTemplates": [{ "uriTemplate": "a:{b}", "name": "s" }]
        }"#;
        let mut declaration = Declaration::default();
        for (what, subscribe) in [
            (Offers::Tools, false),
            (Offers::Prompts, true),
            (Offers::Resources, true),
            (Offers::Templates, false),
        ] {
            what.declare(text, subscribe, &mut declaration).unwrap();
        }
        let tool = &declaration.tools[0];
        assert_eq!(tool.name, "t");
        assert_eq!(
            tool.tool.get(),
            r#"{"name":"t","inputSchema":{"type":"object"},"x-more":1.5}"#
        );
        let of = |item: &DeclaredItem| (item.key.clone(), item.subscribe);
        assert_eq!(of(&declaration.prompts[0]), ("p".into(), false));
        assert_eq!(of(&declaration.resources[0]), ("a:b".into(), true));
        assert_eq!(of(&declaration.templates[0]), ("a:{b}".into(), false));
        assert!(declaration.offers_something());
    }

    #[test]
    fn what_no_agent_could_use_is_named() {
        use Offers::{Prompts, Resources, Templates, Tools};
        for (what, text, why) in [
            (Tools, "{}", "no array of MCP Tool objects"),
            (Tools, "[", "EOF"),
            (
                Tools,
                r#"[{"title":"x"}]"#,
                r#"`{"title":"x"}` has no `name`"#,
            ),
            (
                Tools,
                r#"[{"name":"x"}]"#,
                "Tool `x` has no `inputSchema` object",
            ),
            (Prompts, r#"[{"name":"x","arguments":{}}]"#, "no array"),
            (
                Prompts,
                r#"[{"name":"x","arguments":[{"name":"a"},{"name":"a"}]}]"#,
                "the argument `a` twice",
            ),
            (
                Prompts,
                r#"[{"name":"x"},{"name":"x"}]"#,
                "`x` is there twice",
            ),
            (
                Resources,
                r#"[{"uri":"a:b"}]"#,
                "Resource `a:b` has no `name`",
            ),
            (
                Resources,
                r#"[{"uri":"nothing","name":"n"}]"#,
                "has no URI there",
            ),
            (
                Resources,
                r#"[{"uri":"a:{b}","name":"n"}]"#,
                "it is a template",
            ),
            (
                Templates,
                r#"[{"uriTemplate":"a:b","name":"n"}]"#,
                "it is a resource",
            ),
            (
                Templates,
                r#"[{"uriTemplate":"a:{b}{c}","name":"n"}]"#,
                "has no URI there",
            ),
        ] {
            let told = declare(what, text).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
