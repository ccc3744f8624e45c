//! Messages that are lines of a stream.

use std::io;

use memchr::memchr;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Outcome of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line, without its line feed.
    Whole(Vec<u8>),
    /// Bytes after the last line feed.
    Unfinished(Vec<u8>),
    /// The beginning of a line that is too long. The rest of it is passed over when the
    /// next line is read.
    TooLong(Vec<u8>),
    /// End of the stream.
    End,
}

/// Reads lines, none longer than is allowed.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    /// Longest line, in bytes.
    limit: usize,
    /// Bytes of the next line that were read already.
    line: Vec<u8>,
    /// Whether the rest of a line that was too long is to be passed over.
    is_skipping: bool,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    /// Reads lines of at most `limit` bytes.
    pub fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            limit,
            line: Vec::new(),
            is_skipping: false,
        }
    }

    /// Returns the source of the bytes.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.input
    }

    /// Reads the next line. Nothing is lost where the future is dropped before.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub async fn next(&mut self) -> io::Result<Line> {
        self.next_within(|_| true).await
    }

    /// Reads the next line, which also counts as too long where `has_room` is false for the number
    /// of its bytes. Nothing is lost where the future is dropped before.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub async fn next_within(
        &mut self,
        mut has_room: impl FnMut(usize) -> bool,
    ) -> io::Result<Line> {
        // Of short lines thousands are read at once, and whoever reads them leaves others their turns.
        tokio::task::consume_budget().await;
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                self.is_skipping = false;
                return Ok(match std::mem::take(&mut self.line) {
                    line if line.is_empty() => Line::End,
                    line => Line::Unfinished(line),
                });
            }
            let end = memchr(b'\n', read);
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            let used = part.len() + usize::from(end.is_some());
            if self.is_skipping {
                self.is_skipping = end.is_none();
                self.input.consume(used);
                continue;
            }
            let mut room = self.limit.saturating_sub(self.line.len());
            if part.len() <= room && !has_room(self.line.len() + part.len()) {
                room = 0;
            }
            if let Some(part) = part.get(..room).filter(|fits| fits.len() < part.len()) {
                self.line.extend_from_slice(part);
                self.input.consume(room);
                self.is_skipping = true;
                return Ok(Line::TooLong(std::mem::take(&mut self.line)));
            }
            self.line.extend_from_slice(part);
            self.input.consume(used);
            if end.is_some() {
                return Ok(Line::Whole(std::mem::take(&mut self.line)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_are_whole_or_said_not_to_be() {
        let text: &[u8] = b"one\n\nfar too long\nexact\nlast";
        // Whatever the size of what comes in at once.
        for size in [1, 3, 64] {
            let mut lines = LineReader::new(BufReader::with_capacity(size, text), 5);
            for expected in [
                Line::Whole(b"one".to_vec()),
                Line::Whole(Vec::new()),
                Line::TooLong(b"far t".to_vec()),
                Line::Whole(b"exact".to_vec()),
                Line::Unfinished(b"last".to_vec()),
                Line::End,
                Line::End,
            ] {
                assert_eq!(lines.next().await.unwrap(), expected, "{size}");
            }
        }
    }

    // Lines of two bytes each, all of which are there at once.
    #[tokio::test]
    async fn who_reads_many_short_lines_leaves_others_their_turns() {
        let text = "a\n".repeat(100_000);
        let reading = async {
            let mut lines = LineReader::new(BufReader::new(text.as_bytes()), 5);
            while lines.next().await.unwrap() != Line::End {}
        };
        let turns = std::sync::atomic::AtomicU32::new(0);
        let others = async {
            loop {
                turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = reading => {}
            () = others => {}
        }
        let turns = turns.into_inner();
        assert!(turns > 500, "{turns}");
    }

    #[tokio::test]
    async fn a_line_ends_where_there_is_no_room_for_it() {
        let text: &[u8] = b"one\n\nno room for it\nlast\n";
        for size in [1, 3, 64] {
            let mut lines = LineReader::new(BufReader::with_capacity(size, text), 64);
            let mut seen = Vec::new();
            while let line = lines.next_within(|bytes| bytes <= 4).await.unwrap()
                && line != Line::End
            {
                seen.push(line);
            }
            let [one, empty, Line::TooLong(beginning), last] = &seen[..] else {
                panic!("{size}: {seen:?}");
            };
            assert!(b"no r".starts_with(beginning), "{size}: {beginning:?}");
            assert_eq!(one, &Line::Whole(b"one".to_vec()));
            assert_eq!(empty, &Line::Whole(Vec::new()));
            assert_eq!(last, &Line::Whole(b"last".to_vec()));
        }
    }

    #[tokio::test]
    async fn what_was_read_is_not_lost_when_nobody_waits_any_more() {
        let (mut near, far) = tokio::io::duplex(64);
        let mut lines = LineReader::new(BufReader::new(far), 64);
        tokio::io::AsyncWriteExt::write_all(&mut near, b"ha")
            .await
            .unwrap();
        let pending = tokio::time::timeout(std::time::Duration::from_millis(20), lines.next());
        assert!(pending.await.is_err());
        tokio::io::AsyncWriteExt::write_all(&mut near, b"lf\n")
            .await
            .unwrap();
        assert_eq!(lines.next().await.unwrap(), Line::Whole(b"half".to_vec()));
    }
}
