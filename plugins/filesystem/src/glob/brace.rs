//! Brace expansion: `{a,b}` and `{1..9}`, nested, as in Bash.

/// Most patterns that one may expand to.
const MAX_EXPANSIONS: usize = 1024;

/// Deepest nesting of braces.
const MAX_DEPTH: usize = 16;

/// Returns all patterns that `pattern` stands for. Escapes stay as they are.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, &'static str> {
    let chars: Vec<char> = pattern.chars().collect();
    alternatives(&chars, 0)
}

fn alternatives(chars: &[char], depth: usize) -> Result<Vec<String>, &'static str> {
    if depth > MAX_DEPTH {
        return Err("its braces are nested too deeply");
    }
    let mut results = vec![String::new()];
    let mut rest = chars;
    let mut before = None;
    while let Some((&first, tail)) = rest.split_first() {
        if first == '{'
            && before != Some('$')
            && let Some((body, after)) = body(tail)
        {
            results = combine(&results, &group(body, depth)?)?;
            rest = after;
            before = Some('}');
            continue;
        }
        let taken = if first == '\\' && !tail.is_empty() {
            2
        } else {
            1
        };
        let (literal, after) = rest.split_at(taken);
        for result in &mut results {
            result.extend(literal);
        }
        rest = after;
        before = literal.last().copied();
    }
    Ok(results)
}

/// Splits the text after a `{` at its `}`.
fn body(chars: &[char]) -> Option<(&[char], &[char])> {
    let mut depth = 0_usize;
    let mut escaped = false;
    for (index, c) in chars.iter().enumerate() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' if depth == 0 => return Some((chars.get(..index)?, chars.get(index + 1..)?)),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the texts that stand in place of `{body}`.
fn group(body: &[char], depth: usize) -> Result<Vec<String>, &'static str> {
    if let Some(sequence) = sequence(body) {
        return sequence;
    }
    let parts = at_commas(body);
    if parts.len() > 1 {
        let mut all = Vec::new();
        for part in parts {
            all.extend(alternatives(part, depth + 1)?);
            check(all.len())?;
        }
        return Ok(all);
    }
    // Braces around a single thing are literal.
    let inner = alternatives(body, depth + 1)?;
    Ok(inner
        .into_iter()
        .map(|text| format!("{{{text}}}"))
        .collect())
}

fn at_commas(body: &[char]) -> Vec<&[char]> {
    let mut depth = 0_usize;
    let mut escaped = false;
    body.split(|c| {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' => return depth == 0,
            _ => {}
        }
        false
    })
    .collect()
}

/// Reads `1..9`, `01..10..3` or `a..e`.
fn sequence(body: &[char]) -> Option<Result<Vec<String>, &'static str>> {
    let text: String = body.iter().collect();
    let mut pieces = text.split("..");
    let (from, to, step) = (pieces.next()?, pieces.next()?, pieces.next());
    let step = step
        .map_or(Some(1), |step| step.parse::<i64>().ok())?
        .unsigned_abs()
        .max(1);
    if pieces.next().is_some() {
        return None;
    }
    let letter = |text: &str| text.parse::<char>().ok().filter(char::is_ascii_alphabetic);
    if let (Some(from), Some(to)) = (letter(from), letter(to)) {
        let codes = range(i64::from(u32::from(from)), i64::from(u32::from(to)), step);
        let text = |code: i64| {
            u8::try_from(code)
                .map(char::from)
                .map(String::from)
                .unwrap_or_default()
        };
        return Some(codes.map(|codes| codes.into_iter().map(text).collect()));
    }
    let is_padded = |text: &str| {
        text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0')
    };
    let width = if is_padded(from) || is_padded(to) {
        from.len().max(to.len())
    } else {
        0
    };
    let numbers = range(number(from)?, number(to)?, step);
    Some(numbers.map(|numbers| {
        numbers
            .into_iter()
            .map(|number| format!("{number:0width$}"))
            .collect()
    }))
}

fn number(text: &str) -> Option<i64> {
    // `+1` is a number to Rust alone.
    if text.starts_with('+') {
        None
    } else {
        text.parse().ok()
    }
}

fn range(from: i64, to: i64, step: u64) -> Result<Vec<i64>, &'static str> {
    let count = from.abs_diff(to) / step;
    check(usize::try_from(count).unwrap_or(usize::MAX))?;
    let step = i64::try_from(step).unwrap_or(i64::MAX) * if from <= to { 1 } else { -1 };
    let numbers = std::iter::successors(Some(from), |number| number.checked_add(step));
    Ok(numbers
        .take(usize::try_from(count).unwrap_or_default() + 1)
        .collect())
}

fn combine(before: &[String], after: &[String]) -> Result<Vec<String>, &'static str> {
    check(before.len().saturating_mul(after.len()))?;
    Ok(before
        .iter()
        .flat_map(|a| after.iter().map(move |b| format!("{a}{b}")))
        .collect())
}

fn check(count: usize) -> Result<(), &'static str> {
    if count > MAX_EXPANSIONS {
        Err("its braces stand for more than 1024 patterns")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_expand_as_in_bash() {
        for (pattern, expected) in [
            ("a", "a"),
            ("*.{ts,tsx}", "*.ts *.tsx"),
            ("{a,b{c,d}}e", "ae bce bde"),
            ("{a}{b,c}", "{a}b {a}c"),
            ("{{a,b}}", "{a} {b}"),
            ("{1..3}", "1 2 3"),
            ("{08..10}", "08 09 10"),
            ("{3..-1..2}", "3 1 -1"),
            ("{c..a}", "c b a"),
            ("{a,b", "{a,b"),
            ("${a,b}", "${a,b}"),
            ("\\{a,b}", "\\{a,b}"),
            ("{a\\,b}", "{a\\,b}"),
        ] {
            assert_eq!(expand(pattern).unwrap().join(" "), expected, "{pattern}");
        }
        assert_eq!(expand("x{,y}").unwrap(), ["x", "xy"]);
    }

    #[test]
    fn too_much_is_an_error() {
        assert!(expand(&"{a,b}".repeat(11)).is_err());
        assert!(expand("{1..999999999999}").is_err());
        assert!(expand("{-9223372036854775808..9223372036854775807}").is_err());
        assert!(expand(&format!("{}{}", "{".repeat(500), "}".repeat(500))).is_err());
        assert_eq!(expand(&"{".repeat(4000)).unwrap().len(), 1);
        assert_eq!(expand("{1..3..9223372036854775807}").unwrap(), ["1"]);
    }
}
