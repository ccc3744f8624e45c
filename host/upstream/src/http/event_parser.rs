//! Server-sent events of bytes, as the HTML standard describes them.
//!
//! Existing readers refuse what the standard tells them to ignore (an unknown field, a line without
//! a colon) or keep an event of any size; here neither one odd line nor an endless one takes the
//! connection with it.

use std::collections::VecDeque;
use std::time::Duration;

use super::event::ReceivedEvent;
use crate::messages::read_room::{NoReadRoom, ReadPlace, ReadRoom};

/// Reason for which no more events come.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Cut {
    /// The connection has broken.
    #[error("{0}")]
    Broken(String),
    /// An event was larger than it may be: to go on would bring it again.
    #[error("an event has {0}")]
    Large(NoReadRoom),
}

/// Most bytes of an event's type that are kept. No longer type has a meaning here.
const MAX_KIND_BYTES: usize = 64;

/// Longest id after which a stream can be gone on with, in bytes: it goes out as a header.
const MAX_ID_BYTES: usize = 4096;

/// Makes events of bytes.
pub(super) struct Parser {
    pub(super) place: ReadPlace,
    line: Vec<u8>,
    /// Whether the line feed that may follow belongs to the carriage return before.
    after_return: bool,
    first: bool,
    event: Option<ReceivedEvent>,
    /// Time to wait before the stream is asked for again, as its server has said.
    pub(super) retry: Option<Duration>,
}

impl Parser {
    pub(super) fn new(room: &ReadRoom) -> Self {
        Self {
            place: room.place(),
            line: Vec::new(),
            after_return: false,
            first: true,
            event: None,
            retry: None,
        }
    }

    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        ready: &mut VecDeque<ReceivedEvent>,
    ) -> Result<(), Cut> {
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = bytes.split_at(end);
            self.extend(line)?;
            let line = std::mem::take(&mut self.line);
            self.finish(&line, ready);
            // The buffer is used again, unless it is a large one.
            if line.capacity() <= 64 * 1024 {
                self.line = line;
                self.line.clear();
            }
            bytes = match rest.strip_prefix(b"\r\n") {
                Some(rest) => rest,
                None => {
                    self.after_return = rest == b"\r";
                    rest.get(1..).unwrap_or_default()
                }
            };
        }
        self.extend(bytes)
    }

    fn extend(&mut self, part: &[u8]) -> Result<(), Cut> {
        let held = self.event.as_ref().map_or(0, |event| event.data.len());
        let held = held + self.line.len() + part.len();
        self.place.hold(held).map_err(Cut::Large)?;
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn finish(&mut self, line: &[u8], ready: &mut VecDeque<ReceivedEvent>) {
        let line = String::from_utf8_lossy(line);
        let mut line = line.as_ref();
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            if let Some(mut event) = self.event.take() {
                // Each data line has added one line feed, the last one too many.
                event.data.pop();
                ready.push_back(event);
                self.place.release();
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                let data = &mut self.event.get_or_insert_default().data;
                data.push_str(value);
                data.push('\n');
            }
            "event" => {
                let known = value.get(..value.floor_char_boundary(MAX_KIND_BYTES));
                let kind = &mut self.event.get_or_insert_default().kind;
                known.unwrap_or_default().clone_into(kind);
            }
            "id" if !value.contains('\0') => {
                // An empty one says that the stream cannot be gone on with.
                let id = Some(value).filter(|id| id.len() <= MAX_ID_BYTES);
                self.event.get_or_insert_default().id = Some(id.unwrap_or_default().to_owned());
            }
            // Counts from now on, whether or not an event follows.
            "retry" => {
                if let Ok(milliseconds) = value.parse() {
                    self.retry = Some(Duration::from_millis(milliseconds));
                }
            }
            // Comments (nothing before the colon) and what is not known.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(chunks: &[&[u8]]) -> (Vec<ReceivedEvent>, Option<Duration>) {
        let mut parser = Parser::new(&ReadRoom::new(1024));
        let mut ready = VecDeque::new();
        for chunk in chunks {
            parser.feed(chunk, &mut ready).unwrap();
        }
        (ready.into(), parser.retry)
    }

    fn event(kind: &str, data: &str, id: Option<&str>) -> ReceivedEvent {
        ReceivedEvent {
            kind: kind.to_owned(),
            data: data.to_owned(),
            id: id.map(str::to_owned),
        }
    }

    #[test]
    fn reads_what_the_standard_describes() {
        for (text, expected) in [
            ("data: a\n\n", vec![event("", "a", None)]),
            (
                "data:a\r\rdata: b\r\n\r\n",
                vec![event("", "a", None), event("", "b", None)],
            ),
            ("\u{feff}data: a\n\n", vec![event("", "a", None)]),
            (
                "data: a\ndata:  b\ndata\n\n",
                vec![event("", "a\n b\n", None)],
            ),
            (
                "event: endpoint\ndata: /m?x=1\n\n",
                vec![event("endpoint", "/m?x=1", None)],
            ),
            (": ping\n\ndata: a\n\n", vec![event("", "a", None)]),
            (
                "what: ever\nnothing\ndata: a\n\n",
                vec![event("", "a", None)],
            ),
            ("id: 7\ndata:\n\n", vec![event("", "", Some("7"))]),
            ("id: 7\n\n", vec![event("", "", Some("7"))]),
            ("id: a\0b\ndata: a\n\n", vec![event("", "a", None)]),
            (
                "event: a\nevent: b\ndata: x\n\n",
                vec![event("b", "x", None)],
            ),
            ("data: cut off", vec![]),
            ("data: cut off\n", vec![]),
        ] {
            assert_eq!(events(&[text.as_bytes()]).0, expected, "{text:?}");
        }
    }

    #[test]
    fn the_wait_counts_at_once_and_only_as_a_number() {
        assert_eq!(
            events(&[b"retry: 250\n"]).1,
            Some(Duration::from_millis(250))
        );
        assert_eq!(events(&[b"retry: soon\n\n"]).1, None);
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_kept() {
        let mut parser = Parser::new(&ReadRoom::new(16));
        let mut ready = VecDeque::new();
        assert_eq!(
            parser.feed(b"data: 0123456789abcdef", &mut ready),
            Err(Cut::Large(NoReadRoom::Message(16)))
        );
        // Many small lines are one large event.
        let mut parser = Parser::new(&ReadRoom::new(16));
        let fed = (0..9).try_for_each(|_| parser.feed(b"data: ab\n", &mut ready));
        assert_eq!(fed, Err(Cut::Large(NoReadRoom::Message(16))));
        // Many small events are not.
        let mut parser = Parser::new(&ReadRoom::new(16));
        (0..99).for_each(|_| parser.feed(b"data: ab\n\n: c\n", &mut ready).unwrap());
        assert_eq!(ready.len(), 99);
    }

    /// Ids and types are kept for as long as a stream lasts, and their bytes are not counted.
    #[test]
    fn ids_and_types_of_events_are_short() {
        let long = "x".repeat(MAX_ID_BYTES + 1);
        let text = format!("id: 1\ndata: a\n\nid: {long}\nevent: {long}\ndata: b\n\n");
        let mut parser = Parser::new(&ReadRoom::new(64 << 10));
        let mut ready = VecDeque::new();
        parser.feed(text.as_bytes(), &mut ready).unwrap();
        let [first, second] = ready.make_contiguous() else {
            panic!("{ready:?}")
        };
        assert_eq!(first.id.as_deref(), Some("1"));
        assert_eq!(
            (second.id.as_deref(), second.kind.len()),
            (Some(""), MAX_KIND_BYTES)
        );
        assert_eq!(second.data, "b");
    }

    #[test]
    fn reading_takes_linear_time() {
        let one_line = |letters: usize| format!("data: {}\n\n", "x".repeat(letters * 20));
        let lines = |lines: usize| format!("{}\n", "data: x\n".repeat(lines));
        let events = |events: usize| "id: 1\nevent: e\ndata: x\n\n".repeat(events);
        let inputs: [(&str, &dyn Fn(usize) -> String); 3] = [
            ("a line", &one_line),
            ("lines", &lines),
            ("events", &events),
        ];
        for (what, input) in inputs {
            for size in [7, 4096] {
                dormouse_tests::growth::is_linear(what, 2_000, input, |text| {
                    let mut parser = Parser::new(&ReadRoom::new(usize::MAX));
                    let mut ready = VecDeque::new();
                    for chunk in text.as_bytes().chunks(size) {
                        parser.feed(chunk, &mut ready).unwrap();
                    }
                    std::hint::black_box(ready);
                });
            }
        }
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(
            text in "(data|id|event|x|retry|: c|\r|\n|\r\n|:|ü| |0){0,40}",
            cut in 0_usize..60,
        ) {
            let bytes = text.as_bytes();
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let whole = events(&[bytes]);
            prop_assert_eq!(&events(&[left, right]), &whole);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(&events(&single), &whole);
        }
    }
}
