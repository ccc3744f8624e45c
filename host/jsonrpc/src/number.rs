//! Numbers of a JSON text that not every client reads.

use crate::structure::end_of_string;
use crate::text::is_json;

/// Most digits in a row that a number may have. Python reads no integer of more than 4300.
const MAX_DIGITS: usize = 1000;

/// Most bytes of a number that is in the range of a 64-bit float whatever its digits are, unless
/// it has an exponent.
const MAX_BYTES_IN_RANGE: usize = 308;

/// A reason why some clients cannot read a number, and lose the message that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// A number that is longer than is read.
    #[error("it has a number of more digits than clients read")]
    TooLong,
    /// A number that no 64-bit float is near to, such as `1e999`.
    #[error("it has a number that is greater than clients read, which is about `1.8e308`")]
    OutOfRange,
}

/// Checks that all clients read the numbers of a JSON text.
///
/// # Errors
/// The text has a number that some do not read.
pub fn check_numbers(text: &str) -> Result<(), NumberError> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1) + 1,
            b'0'..=b'9' => {
                let rest = bytes.get(at..).unwrap_or_default();
                let length = rest.iter().take_while(|byte| is_of_number(**byte)).count();
                check_number(text.get(at..at + length).unwrap_or_default())?;
                at += length;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')
}

fn check_number(number: &str) -> Result<(), NumberError> {
    let mut rows = number.split(|c: char| !c.is_ascii_digit());
    if number.len() > MAX_DIGITS && rows.any(|row| row.len() > MAX_DIGITS) {
        return Err(NumberError::TooLong);
    }
    let has_exponent = || number.contains(['e', 'E']);
    let may_be_out_of_range = number.len() > MAX_BYTES_IN_RANGE || has_exponent();
    // What is no number at all is told by whoever reads the text.
    if may_be_out_of_range && is_json(number) && serde_json::from_str::<f64>(number).is_err() {
        return Err(NumberError::OutOfRange);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_looked_at_outside_of_strings_alone() {
        let most = "7".repeat(MAX_DIGITS);
        let small = |fraction: &str| format!("0.{fraction}");
        let (long, range) = (Err(NumberError::TooLong), Err(NumberError::OutOfRange));
        for before in [0, 1, 999, 1000, 1001, 2500] {
            let blank = " ".repeat(before);
            for (text, is_read) in [
                (format!("{blank}{}", small(&most)), Ok(())),
                (format!("{blank}{most}7"), long),
                (format!("[{blank}-0.{most}7e1]"), long),
                (format!("[{blank}1e{most}7]"), long),
                (format!(r#"{blank}"{most}7""#), Ok(())),
                (format!(r#"{blank}"\\\"{most}7",7"#), Ok(())),
                (format!(r#"{blank}"\\",{most}7"#), long),
                (format!("{blank}[{0},{0}]", small(&most)), Ok(())),
                (format!("{blank}{most}"), range),
                (format!(r#"{{"a":[{blank}1e999]}}"#), range),
                (format!(r#"{{"a":{blank}-1E+400}}"#), range),
                (format!(r#"["1e999","\"1e999",{blank}1e30]"#), Ok(())),
            ] {
                assert_eq!(check_numbers(&text), is_read, "{text}");
            }
        }
    }

    /// Numbers that pass are those that values of this reader hold, as those of other clients do.
    #[test]
    fn the_range_is_that_of_values() {
        for number in [
            "0",
            "1.10",
            "-7e-3",
            "1e308",
            "1.7976931348623157e308",
            "1.8e308",
            "1e309",
            "-1e400",
            "0e999",
            "1e-999",
            "0.1e309",
            "1e99999999999",
            "0e99999999999",
        ] {
            let value = serde_json::from_str::<serde_json::Value>(number);
            assert_eq!(check_numbers(number).is_ok(), value.is_ok(), "{number}");
        }
        for digits in [300, 308, 309, 310, 400] {
            let number = "9".repeat(digits);
            let value = serde_json::from_str::<serde_json::Value>(&number);
            assert_eq!(check_numbers(&number).is_ok(), value.is_ok(), "{digits}");
        }
    }

    #[test]
    fn numbers_are_checked_in_linear_time() {
        type Text<'t> = &'t dyn Fn(usize) -> String;
        let texts: [(&str, Text<'_>); 5] = [
            ("one text", &|size| {
                format!("\"{}\"", "7".repeat(100 * size))
            }),
            ("many numbers", &|size| {
                format!(
                    "[{}7]",
                    format!("0.{},", "7".repeat(MAX_DIGITS)).repeat(size / 10)
                )
            }),
            ("many exponents", &|size| {
                format!("[{}7]", "1e300,".repeat(10 * size))
            }),
            ("no numbers", &|size| "[".repeat(100 * size)),
            ("no JSON", &|size| "1e-".repeat(30 * size)),
        ];
        for (what, text) in texts {
            dormouse_tests::growth::is_linear(what, 2_000, text, |text: &String| {
                let _ = std::hint::black_box(check_numbers(text));
            });
        }
    }
}
