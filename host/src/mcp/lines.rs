//! The lines of an agent's input.

use std::io;

use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, LinesCodec, LinesCodecError};

/// The longest line that is read, in bytes. As in rmcp's own transports.
pub(super) const LONGEST: usize = 16 << 20;

/// How much memory is kept for the next line, in bytes.
const KEPT: usize = 1 << 20;

/// Splits the input into lines. Nothing that a line holds is an error, because
/// after one the next lines would wait for more input.
pub(super) struct Lines(LinesCodec);

impl Default for Lines {
    fn default() -> Self {
        Self(LinesCodec::new_with_max_length(LONGEST))
    }
}

/// What a line is.
pub(super) enum Input {
    Text(String),
    TooLong,
    NotUtf8,
}

impl Lines {
    fn line(decoded: Result<Option<String>, LinesCodecError>) -> io::Result<Option<Input>> {
        match decoded {
            Ok(line) => Ok(line.map(Input::Text)),
            Err(LinesCodecError::MaxLineLengthExceeded) => Ok(Some(Input::TooLong)),
            Err(LinesCodecError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Ok(Some(Input::NotUtf8))
            }
            Err(LinesCodecError::Io(error)) => Err(error),
        }
    }
}

impl Decoder for Lines {
    type Item = Input;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Input>> {
        let line = Self::line(self.0.decode(buffer));
        // What one long line needed is not kept for the short ones after it.
        if buffer.capacity() > KEPT && buffer.len() < KEPT / 2 {
            *buffer = BytesMut::from(&buffer[..]);
        }
        line
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Input>> {
        Self::line(self.0.decode_eof(buffer))
    }
}
