//! URI templates, as far as resources need them: RFC 6570 with `{var}` (level 1)
//! and `{+var}`.

use std::collections::HashSet;
use std::fmt;

mod positions;

use positions::Positions;

/// The longest URI that is held against a template, in bytes. Browsers and
/// servers stop at far less.
const MAX_URI_BYTES: usize = 64 * 1024;

/// The longest template, in bytes.
const MAX_TEMPLATE_BYTES: usize = 2048;

/// Most variables of a template: each takes time and memory with each URI.
const MAX_VARIABLES: usize = 32;

/// How many bytes are searched for a literal in the time in which one is compared.
const SEARCHED_AT_ONCE: usize = 16;

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
        /// `{+name}`: may hold what has a meaning in a URI, like `/`.
        reserved: bool,
    },
}

/// Why a text is no URI and no template of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Template {
    /// Parses a URI or a template.
    ///
    /// It has to be absolute and to begin with its scheme as it is, so that the
    /// URIs of a template can be told from those of any other. Between two
    /// variables there has to be something, or nobody could tell where the first
    /// ends.
    ///
    /// # Errors
    /// What is wrong with it.
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

    /// The names of its variables, in order; none if it is a URI.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Variable { name, .. } => Some(name.as_str()),
        })
    }

    /// How long it takes to hold a URI against it, in bytes that are compared: few where the
    /// literals of the template are not in the URI, one behind the other.
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
            Part::Variable { .. } => 1,
        });
        parts.sum::<usize>().saturating_mul(uri.len())
    }

    /// Whether a URI is short enough, begins with what comes before the first variable, and
    /// ends with what comes after the last.
    fn has_ends(&self, uri: &str) -> bool {
        let last = match self.parts.last() {
            Some(Part::Literal(text)) => text,
            _ => "",
        };
        uri.len() <= MAX_URI_BYTES && uri.starts_with(self.first()) && uri.ends_with(last)
    }

    /// Whether a URI has all literals in it, one behind the other.
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
            Part::Variable { .. } => true,
        })
    }

    /// What comes before the first variable.
    fn first(&self) -> &str {
        match self.parts.first() {
            Some(Part::Literal(text)) => text,
            _ => "",
        }
    }

    /// The values of its variables in a URI, percent-decoded; none if the URI is
    /// not one of its own.
    ///
    /// A variable is never empty. Without `+` it ends before the next `/`, `?` or
    /// `#`. Where more than one reading is possible, the first variable is as long
    /// as can be. [`Self::steps`] says how long it takes.
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
            };
            if let Part::Variable { name, .. } = part {
                values.push((name.as_str(), decoded(uri.get(at..end)?)?));
            }
            at = end;
        }
        Some(values)
    }
}

/// Whether a variable may have a byte in it.
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
        })
    }
}

/// Text that is in a URI as it is (RFC 3986).
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

/// The name of a variable (RFC 6570, without percent signs and dots, which no WIT
/// name could match).
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

/// Whether two hexadecimal digits come first.
fn is_triplet(rest: &str) -> bool {
    let digits = rest.as_bytes().first_chunk::<2>();
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Text without its percent-encoding; none if that hides no text.
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
        // It would take a sign for a digit.
        let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
