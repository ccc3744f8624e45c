//! Lines from a child, none longer than it may be.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Whole,
    /// The beginning of one. The rest is still to be read: it may never end.
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
    let mut begun = false;
    loop {
        let read = input.fill_buf().await?;
        if read.is_empty() {
            return Ok(if begun { Line::Whole } else { Line::End });
        }
        begun = true;
        let end = read.iter().position(|byte| *byte == b'\n');
        let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
        let room = most - line.len();
        if let Some(part) = part.get(..room).filter(|fits| fits.len() < part.len()) {
            line.extend_from_slice(part);
            input.consume(room);
            return Ok(Line::TooLong);
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Line::Whole);
        }
    }
}

/// Passes over the rest of a line.
pub(super) async fn skip(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    loop {
        let read = input.fill_buf().await?;
        let end = read.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(read.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() || used == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_whole_or_said_not_to_be() {
        let text: &[u8] = b"one\n\nfar too long\nexact\nlast";
        // Whatever the size of what comes in at once.
        for size in [1, 3, 64] {
            let mut input = tokio::io::BufReader::with_capacity(size, text);
            let mut line = Vec::new();
            let mut found = Vec::new();
            loop {
                let kind = next(&mut input, &mut line, 5).await.unwrap();
                match kind {
                    Line::Whole => {}
                    Line::TooLong => skip(&mut input).await.unwrap(),
                    Line::End => break,
                }
                found.push((kind, String::from_utf8(line.clone()).unwrap()));
            }
            let expected = [
                (Line::Whole, "one"),
                (Line::Whole, ""),
                (Line::TooLong, "far t"),
                (Line::Whole, "exact"),
                (Line::Whole, "last"),
            ];
            let expected = expected.map(|(kind, text)| (kind, text.to_owned()));
            assert_eq!(found, expected, "{size}");
        }
    }
}
