//! Nesting of JSON text.

/// A text is nested more deeply than is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is nested more than {limit} levels deep")]
pub struct TooDeep {
    /// The levels that are allowed.
    pub limit: usize,
}

/// Checks that a JSON text is nested at most `limit` levels deep. `[]` has one level.
///
/// # Errors
/// It is nested more deeply.
pub fn check_depth(text: &str, limit: usize) -> Result<(), TooDeep> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Err(TooDeep { limit });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_outside_of_strings() {
        for (text, depth) in [
            ("1", 0),
            ("[]", 1),
            ("[[],[]]", 2),
            (r#"{"a":[{"b":1}]}"#, 3),
            (r#"["[[[[", "\"[[["]"#, 1),
            (r#"["\\",[]]"#, 2),
        ] {
            assert_eq!(check_depth(text, depth), Ok(()), "{text}");
            if depth > 0 {
                let limit = depth - 1;
                assert_eq!(check_depth(text, limit), Err(TooDeep { limit }), "{text}");
            }
        }
    }

    /// The default is what a reader into values takes.
    #[test]
    fn the_default_depth_is_what_values_can_hold() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let most = crate::MessageLimits::default().depth;
        assert!(serde_json::from_str::<serde_json::Value>(&nested(most)).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(&nested(most + 1)).is_err());
    }
}
