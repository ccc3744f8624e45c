//! Values that are variables as they are written.

/// Whether a value is a variable as it is written, and nothing else, so that it tells nothing:
/// `${NAME}`, `$NAME`, `{{name}}`, `{env:NAME}`. Of `$name` only one in capitals: passwords begin
/// with a `$`, too.
pub(super) fn is_variable(value: &str) -> bool {
    let within = |begin: &str, end: &str| value.strip_prefix(begin)?.strip_suffix(end);
    if let Some(name) = within("{{", "}}").or_else(|| within("${{", "}}")) {
        return is_reference(name.trim().trim_start_matches('.'));
    }
    if let Some(name) = within("${", "}") {
        return is_reference(name);
    }
    if let Some(name) = within("{env:", "}") {
        return is_name(name);
    }
    value.strip_prefix('$').is_some_and(|name| {
        is_name(name) && !name.contains(|letter: char| letter.is_ascii_lowercase())
    })
}

/// Whether a text names something: a variable, or a value of some kind (`input:api-key`). One
/// with a default (`NAME:-value`) has a value in it.
fn is_reference(text: &str) -> bool {
    let is_path = |text: &str| text.split('.').all(is_name);
    match text.split_once(':') {
        None => is_path(text),
        Some((name, "-")) => is_name(name),
        Some((kind, name)) => {
            let is_value_name = |letter: char| {
                letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ' ')
            };
            is_name(kind) && !name.starts_with('-') && name.chars().all(is_value_name)
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_the_whole_value() {
        for (value, expected) in [
            ("${TOKEN}", true),
            ("${token}", true),
            ("${input:api-key}", true),
            ("${input:api key}", true),
            ("${env:TOKEN}", true),
            ("${TOKEN:-}", true),
            ("${{ secrets.TOKEN }}", true),
            ("$TOKEN", true),
            ("{{token}}", true),
            ("{{ .Values.token }}", true),
            ("{env:TOKEN}", true),
            ("${TOKEN:-secret}", false),
            ("$ecret", false),
            ("$", false),
            ("${X}secret", false),
            ("{{secret", false),
            ("{env", false),
            ("${a b}", false),
            ("", false),
        ] {
            assert_eq!(is_variable(value), expected, "{value}");
        }
    }
}
