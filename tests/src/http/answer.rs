//! Answers, read as they come.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// Request that was sent. Dropped, it closes its connection.
#[derive(Debug)]
pub struct Exchange {
    pub(super) stream: BufReader<TcpStream>,
}

impl Exchange {
    /// Reads the head of the answer.
    ///
    /// # Errors
    /// There is no answer.
    pub fn answer(mut self) -> Result<Answer> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.with_context(|| format!("this is no answer: `{line}`"))?;
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => {
                    headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
                }
                None => break,
            }
        }
        let mut answer = Answer {
            status,
            headers,
            stream: self.stream,
            left: 0,
            chunked: false,
            text: Vec::new(),
            searched: 0,
        };
        answer.chunked = answer.header("transfer-encoding") == Some("chunked");
        if let Some(length) = answer.header("content-length") {
            answer.left = length.parse()?;
        }
        Ok(answer)
    }
}

/// Answer, read as it comes. Dropped, it closes its connection.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    headers: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
    /// Bytes that are still to come of the body, or of a chunk of it.
    left: usize,
    chunked: bool,
    /// Text that was read and is no whole event yet.
    text: Vec<u8>,
    /// How far there is no end of an event in it.
    searched: usize,
}

impl Answer {
    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(other, _)| other == name)?;
        Some(value)
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn body(&mut self) -> Result<Vec<u8>> {
        while self.read()? {}
        self.searched = 0;
        Ok(std::mem::take(&mut self.text))
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    /// The body is no JSON.
    pub fn json(&mut self) -> Result<Value> {
        let body = self.body()?;
        serde_json::from_slice(&body)
            .with_context(|| format!("the body is `{}`", String::from_utf8_lossy(&body)))
    }

    /// Reads the next message of a stream of events, and the event's id.
    ///
    /// # Errors
    /// The connection breaks, or an event is no JSON.
    pub fn event(&mut self) -> Result<Option<(String, Value)>> {
        let Some((id, data)) = self.event_text()? else {
            return Ok(None);
        };
        let message = match data.as_str() {
            "" => Value::Null,
            data => serde_json::from_str(data)?,
        };
        Ok(Some((id, message)))
    }

    /// Reads the same, with the message as it is written; empty where the event has only an id to
    /// come back with.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn event_text(&mut self) -> Result<Option<(String, String)>> {
        loop {
            while let Some(end) = self.end_of_event() {
                let event: Vec<u8> = self.text.drain(..end).collect();
                let event = String::from_utf8(event)?;
                let field = |name| event.lines().find_map(|line| line.strip_prefix(name));
                let id = field("id: ").unwrap_or_default().to_owned();
                match field("data: ").map(str::trim) {
                    None => {}
                    Some("") if id.is_empty() => {}
                    Some(data) => return Ok(Some((id, data.to_owned()))),
                }
            }
            if !self.read()? {
                return Ok(None);
            }
        }
    }

    /// Looks for the end of an event, in what it has not seen yet: events of megabytes come in many
    /// pieces.
    fn end_of_event(&mut self) -> Option<usize> {
        let new = self.text.get(self.searched..).unwrap_or_default();
        let found = new.windows(2).position(|two| two == b"\n\n");
        let end = found.map(|at| self.searched + at + 2);
        self.searched = match end {
            Some(_) => 0,
            None => self.text.len().saturating_sub(1),
        };
        end
    }

    /// Reads all messages, whether they come as events or as the one body.
    ///
    /// # Errors
    /// The connection breaks, or something is no JSON.
    pub fn messages(&mut self) -> Result<Vec<Value>> {
        if self.header("content-type") == Some("application/json") {
            return Ok(vec![self.json()?]);
        }
        let mut messages = Vec::new();
        while let Some((_, message)) = self.event()? {
            if !message.is_null() {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    /// Reads the result of the request, when all has come.
    ///
    /// # Errors
    /// There is no result.
    pub fn result(&mut self) -> Result<Value> {
        if self.status != 200 {
            let body = self.body()?;
            let body = String::from_utf8_lossy(&body);
            bail!("the answer is {}: {body}", self.status);
        }
        let mut messages = self.messages()?;
        match messages.last_mut().and_then(|last| last.get_mut("result")) {
            Some(result) => Ok(result.take()),
            None => bail!("there is no result in {messages:?}"),
        }
    }

    /// Reads some more of the body. False where there is no more.
    fn read(&mut self) -> Result<bool> {
        if self.left == 0 {
            if !self.chunked {
                return Ok(false);
            }
            let mut line = String::new();
            ensure!(self.stream.read_line(&mut line)? > 0, "the stream broke");
            self.left = usize::from_str_radix(line.trim(), 16)?;
            if self.left == 0 {
                self.chunked = false;
                return Ok(false);
            }
        }
        let mut some = vec![0; self.left.min(64 << 10)];
        let read = self.stream.read(&mut some)?;
        ensure!(read > 0, "the stream broke");
        some.truncate(read);
        self.text.append(&mut some);
        self.left -= read;
        if self.left == 0 && self.chunked {
            self.stream.read_line(&mut String::new())?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};

    use serde_json::json;

    use super::Exchange;

    #[test]
    fn events_end_wherever_their_pieces_do() {
        let pieces = [
            "id: 1\ndata: 1\n",
            "\nid: 2\nda",
            "ta: 2\n\ndata: 3",
            "\n",
            "\n",
        ];
        let chunks = pieces.map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len()));
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let said = format!("{head}{}0\r\n\r\n", chunks.concat());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(said.as_bytes()).unwrap();

        let stream = BufReader::new(stream);
        let mut answer = Exchange { stream }.answer().unwrap();
        let events: Vec<_> = std::iter::from_fn(|| answer.event().unwrap()).collect();
        let expected = [("1", 1), ("2", 2), ("", 3)];
        assert_eq!(
            events,
            expected.map(|(id, data)| (id.to_owned(), json!(data)))
        );
    }
}
