//! Check of prompts, resources and templates.

use std::collections::HashSet;

use dormouse_wit::error::{Finding, Severity};
use dormouse_wit::{Declaration, DeclaredItem, Template, contract};
use serde::Deserialize;

use super::{finding, fits};

/// An MCP `Prompt`, as far as its arguments are concerned.
#[derive(Deserialize)]
struct Prompt {
    arguments: Vec<Argument>,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
}

/// Checks declared items other than tools.
pub(super) fn items(declared: &Declaration, imports: &[String], findings: &mut Vec<Finding>) {
    once(&declared.prompts, findings);
    once(&declared.resources, findings);
    once(&declared.templates, findings);

    for prompt in &declared.prompts {
        fits(&prompt.key, findings);
    }
    let mut wrong = |item: &DeclaredItem, message: String, hint| {
        // An adapter passes on what a server has written, and works without any of this.
        let severity = match item.function {
            Some(_) => Severity::Error,
            None => Severity::Warning,
        };
        findings.push(finding(severity, &item.key, message, Some(hint)));
    };
    for prompt in &declared.prompts {
        if let Some(name) = double_argument(prompt) {
            wrong(
                prompt,
                format!("its argument `{name}` is there twice"),
                "each argument has a name of its own",
            );
        }
    }
    for resource in &declared.resources {
        match Template::parse(&resource.key) {
            Err(error) => wrong(
                resource,
                format!("it is no URI: {error}"),
                "resources have URIs like `notes://all`",
            ),
            Ok(uri) if uri.variables().next().is_some() => wrong(
                resource,
                "it is declared as a resource, but its URI has variables".into(),
                "declare it among the templates",
            ),
            Ok(_) => {}
        }
    }
    for template in &declared.templates {
        let is_claimed = template.function.is_none() && Template::lenient(&template.key).is_some();
        if let Err(error) = Template::parse(&template.key)
            && !is_claimed
        {
            wrong(
                template,
                format!("no URI can be told to be one of this template: {error}"),
                "templates are like `notes://by-id/{id}`, or `notes://by-path/{+path}` where slashes may be in it",
            );
        }
    }

    let notify = contract::interface("notify");
    let mut items = declared.resources.iter().chain(&declared.templates);
    if let Some(item) = items.find(|item| item.subscribe)
        && !imports.contains(&notify)
    {
        findings.push(finding(
            Severity::Warning,
            &item.key,
            format!("agents may subscribe to it, but the component does not import `{notify}`, by which it would tell of changes"),
            Some("tell of them, or leave `@subscribe` out"),
        ));
    }
}

/// Returns the name that two of a prompt's arguments have.
fn double_argument(prompt: &DeclaredItem) -> Option<String> {
    let prompt: Prompt = serde_json::from_str(prompt.object.get()).ok()?;
    let mut seen = HashSet::new();
    let mut names = prompt.arguments.into_iter().map(|argument| argument.name);
    names.find(|name| !seen.insert(name.clone()))
}

/// Checks that each of some items is there once.
fn once(items: &[DeclaredItem], findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    for item in items.iter().filter(|item| !seen.insert(&item.key)) {
        let message = "it is declared twice".into();
        let hint = "give one of them another name, or another URI";
        findings.push(finding(Severity::Error, &item.key, message, Some(hint)));
    }
}
