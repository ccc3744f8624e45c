//! Lines from a child, none longer than it may be.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Whole,
    /// The beginning of one; the rest has been passed over.
    TooLong,
    /// There are no more.
    End,
}

/// Reads a line of at most `most` bytes. The last one need not end.
pub(super) async fn next(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    most: usize,
) -> io::Result<Line> {
    line.clear();
    let mut long = false;
    let mut begun = false;
    loop {
        let read = input.fill_buf().await?;
        if read.is_empty() {
            return Ok(match (begun, long) {
                (false, _) => Line::End,
                (true, true) => Line::TooLong,
                (true, false) => Line::Whole,
            });
        }
        begun = true;
        let end = read.iter().position(|byte| *byte == b'\n');
        let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
        let room = most - line.len();
        long |= part.len() > room;
        line.extend_from_slice(part.get(..room).unwrap_or(part));
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(if long { Line::TooLong } else { Line::Whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_whole_or_said_not_to_be() {
        let text: &[u8] = b"one\n\nfar too long\nlast";
        // Whatever the size of what comes in at once.
        for size in [1, 3, 64] {
            let mut input = tokio::io::BufReader::with_capacity(size, text);
            let mut line = Vec::new();
            let mut found = Vec::new();
            loop {
                let kind = next(&mut input, &mut line, 5).await.unwrap();
                if kind == Line::End {
                    break;
                }
                found.push((kind, String::from_utf8(line.clone()).unwrap()));
            }
            let expected = [
                (Line::Whole, "one"),
                (Line::Whole, ""),
                (Line::TooLong, "far t"),
                (Line::Whole, "last"),
            ];
            let expected = expected.map(|(kind, text)| (kind, text.to_owned()));
            assert_eq!(found, expected, "{size}");
        }
    }
}
