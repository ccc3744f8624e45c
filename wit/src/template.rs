//! URI templates, as far as resources need them: RFC 6570 with `{var}` (level 1)
//! and `{+var}`.

use std::collections::HashSet;
use std::fmt;

mod expression;
mod positions;

use expression::Expression;
use positions::Positions;

/// Longest URI that is matched with a template, in bytes. Browsers and servers stop at far less.
const MAX_URI_BYTES: usize = 64 * 1024;

/// Longest template, in bytes.
const MAX_TEMPLATE_BYTES: usize = 2048;

/// Most variables of a template: each takes time and memory with each URI.
const MAX_VARIABLES: usize = 32;

/// Number of bytes that are searched for a literal in the time in which one byte is compared.
const SEARCHED_AT_ONCE: usize = 2;

/// A URI, perhaps with variables in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable {
        name: String,
        /// Whether it is `{+name}`, which may hold characters with a meaning in URIs, like `/`.
        reserved: bool,
    },
    /// Expression of a template that is read [leniently](Template::lenient).
    Expression(Expression),
}

/// Reason for which a text is neither a URI nor a template of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Template {
    /// Parses a URI or a template.
    ///
    /// The text has to be absolute and to begin with a literal scheme, so that the URIs of a
    /// template can be told from those of any other. Between two variables there has to be a
    /// literal, or nobody could tell where the first ends.
    ///
    /// # Errors
    /// Text on the fault.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let malformed = |what: String| Err(Malformed(what));
        if text.len() > MAX_TEMPLATE_BYTES {
            let bytes = text.len();
            return malformed(format!(
                "it has {bytes} bytes, and {MAX_TEMPLATE_BYTES} are allowed"
            ));
        }
        let mut parts = Vec::new();
        let mut names = HashSet::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            let Some((expression, after)) = after.split_once('}') else {
                return malformed(format!("`{{{after}` has no `}}`"));
            };
            if !literal.is_empty() {
                parts.push(Part::Literal(self::literal(literal)?));
            } else if let Some(Part::Variable { name, .. }) = parts.last() {
                return malformed(format!(
                    "nothing tells where `{name}` ends and `{{{expression}}}` begins"
                ));
            }
            let (name, reserved) = match expression.strip_prefix('+') {
                Some(name) => (name, true),
                None => (expression, false),
            };
            let name = variable(name)?;
            if !names.insert(name.clone()) {
                return malformed(format!("the variable `{name}` is there twice"));
            }
            if names.len() > MAX_VARIABLES {
                return malformed(format!("it has more than {MAX_VARIABLES} variables"));
            }
            parts.push(Part::Variable { name, reserved });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(literal(rest)?));
        }
        let scheme = match parts.first() {
            Some(Part::Literal(literal)) => literal.split_once(':'),
            _ => None,
        };
        match scheme {
            Some((scheme, after))
                if is_scheme(scheme) && !(after.is_empty() && parts.len() == 1) =>
            {
                Ok(Self { parts })
            }
            _ => malformed("it does not begin with a scheme, like `notes://`".into()),
        }
    }

    /// Reads a template as a server has it that takes its URIs apart itself: what matters is which
    /// may be its own. It has no variables, and an expression that nobody here knows may stand for
    /// anything. Of a text that is not understood all URIs match that begin like it, up to the
    /// first `{`. None where there is nothing in front of that.
    #[must_use]
    pub fn lenient(text: &str) -> Option<Self> {
        let (first, _) = text.split_once('{').unwrap_or((text, ""));
        if first.is_empty() {
            return None;
        }
        let parts = Self::understood(text).unwrap_or_else(|| {
            let first = Part::Literal(first.to_owned());
            vec![first, Part::Expression(Expression::of(""))]
        });
        Some(Self { parts })
    }

    /// Returns the parts of a template that is read leniently, if its braces tell them.
    fn understood(text: &str) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut rest = text;
        let literal = |text: &str| {
            let is_one = !text.contains('}');
            is_one.then(|| Part::Literal(text.to_owned()))
        };
        while let Some((before, after)) = rest.split_once('{') {
            let (expression, after) = after.split_once('}')?;
            if !before.is_empty() {
                parts.push(literal(before)?);
            }
            if expression.contains('{') {
                return None;
            }
            parts.push(Part::Expression(Expression::of(expression)));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(literal(rest)?);
        }
        let expressions = parts.iter();
        let expressions = expressions.filter(|part| matches!(part, Part::Expression(_)));
        let is_small = text.len() <= MAX_TEMPLATE_BYTES && expressions.count() <= MAX_VARIABLES;
        is_small.then_some(parts)
    }

    /// Returns the names of the template's variables, in order; none if it is a URI.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) | Part::Expression(_) => None,
            Part::Variable { name, .. } => Some(name.as_str()),
        })
    }

    /// Returns the cost of matching a URI with the template, in compared bytes: low where the URI
    /// does not have the template's literals, one behind the other.
    #[must_use]
    pub fn steps(&self, uri: &str) -> usize {
        if !self.has_ends(uri) {
            return uri.len().min(self.first().len()) + 1;
        }
        if !self.has_literals(uri) {
            return uri.len() / SEARCHED_AT_ONCE + self.parts.len();
        }
        let parts = self.parts.iter().map(|part| match part {
            Part::Literal(text) => text.len(),
            Part::Variable { .. } | Part::Expression(_) => 1,
        });
        parts.sum::<usize>().saturating_mul(uri.len())
    }

    /// Checks whether a URI is short enough, begins with the literal before the first variable, and
    /// ends with the literal after the last.
    fn has_ends(&self, uri: &str) -> bool {
        let last = match self.parts.last() {
            Some(Part::Literal(text)) => text,
            _ => "",
        };
        uri.len() <= MAX_URI_BYTES && uri.starts_with(self.first()) && uri.ends_with(last)
    }

    /// Checks whether a URI has all literals in it, one behind the other.
    fn has_literals(&self, uri: &str) -> bool {
        let mut rest = uri;
        self.parts.iter().all(|part| match part {
            Part::Literal(text) => match rest.split_once(text.as_str()) {
                Some((_, behind)) => {
                    rest = behind;
                    true
                }
                None => false,
            },
            Part::Variable { .. } | Part::Expression(_) => true,
        })
    }

    /// Returns the literal before the first variable.
    fn first(&self) -> &str {
        match self.parts.first() {
            Some(Part::Literal(text)) => text,
            _ => "",
        }
    }

    /// Returns the values of the template's variables in a URI, percent-decoded; none if the URI
    /// does not match.
    ///
    /// A variable is never empty. Without `+` it ends before the next `/`, `?` or `#`. Where more
    /// than one reading is possible, the first variable is as long as can be. The cost is
    /// [`Self::steps`].
    #[must_use]
    pub fn captures(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        if !self.has_ends(uri) || !self.has_literals(uri) {
            return None;
        }
        let bytes = uri.as_bytes();
        // From the last part to the first: where it may begin, so that all behind it fits.
        let mut fits = vec![Positions::one(bytes.len(), bytes.len())];
        for part in self.parts.iter().rev() {
            let mut begins = Positions::none(bytes.len());
            let behind = fits.last()?;
            match part {
                Part::Literal(text) => {
                    for end in text.len()..=bytes.len() {
                        let at = end - text.len();
                        if behind.has(end) && bytes.get(at..end) == Some(text.as_bytes()) {
                            begins.add(at);
                        }
                    }
                }
                Part::Variable { reserved, .. } => {
                    let mut may_end = false;
                    for (at, byte) in bytes.iter().enumerate().rev() {
                        may_end = is_taken(*byte, *reserved) && (may_end || behind.has(at + 1));
                        if may_end {
                            begins.add(at);
                        }
                    }
                }
                Part::Expression(expression) => expression.add_begins(bytes, behind, &mut begins),
            }
            fits.push(begins);
        }
        let mut fits = fits.into_iter().rev();
        if !fits.next()?.has(0) {
            return None;
        }
        let mut at = 0;
        let mut values = Vec::new();
        for (part, behind) in self.parts.iter().zip(fits) {
            let end = match part {
                Part::Literal(text) => at + text.len(),
                Part::Variable { reserved, .. } => {
                    let rest = bytes.get(at..)?;
                    let taken = rest.iter().take_while(|byte| is_taken(**byte, *reserved));
                    let longest = at + taken.count();
                    (at + 1..=longest).rev().find(|end| behind.has(*end))?
                }
                // Where there is one, there are no variables.
                Part::Expression(_) => return Some(values),
            };
            if let Part::Variable { name, .. } = part {
                values.push((name.as_str(), decoded(uri.get(at..end)?)?));
            }
            at = end;
        }
        Some(values)
    }
}

/// Checks whether a variable may have a byte in it.
fn is_taken(byte: u8, reserved: bool) -> bool {
    reserved || !matches!(byte, b'/' | b'?' | b'#')
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Literal(text) => f.write_str(text),
            Part::Variable { name, reserved } => {
                write!(f, "{{{}{name}}}", if *reserved { "+" } else { "" })
            }
            Part::Expression(expression) => write!(f, "{{{expression}}}"),
        })
    }
}

/// Returns a text that may stand in a URI as it is (RFC 3986).
fn literal(text: &str) -> Result<String, Malformed> {
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        let fine = match char {
            '%' => is_triplet(rest.as_str()),
            char => char.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=".contains(char),
        };
        if !fine {
            let what = format!("`{}` cannot be in a URI", char.escape_debug());
            return Err(Malformed(what));
        }
    }
    Ok(text.to_owned())
}

/// Returns the name of a variable (RFC 6570, without percent signs and dots, which no WIT name
/// could match).
fn variable(name: &str) -> Result<String, Malformed> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && name.chars().all(allowed) {
        return Ok(name.to_owned());
    }
    Err(Malformed(format!(
        "`{{{name}}}` is no variable: write `{{name}}` or `{{+name}}`, with letters, digits and `_`"
    )))
}

fn is_scheme(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(allowed)
}

/// Checks whether a text begins with two hexadecimal digits.
fn is_triplet(rest: &str) -> bool {
    let digits = rest.as_bytes().first_chunk::<2>();
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Removes the percent-encoding of a text; none if the result is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>()?;
        let digits = std::str::from_utf8(digits).ok()?;
        // `from_str_radix` would take a sign for a digit.
        let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
