//! Stream of what a file has from a place on: what is in memory is read at once, the rest on a thread
//! that may wait for a disk. Wasmtime's own stream waits for such a thread each time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::task::JoinHandle;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};

use super::{MAX_READ_BYTES, cached};

/// Bytes that are read where a guest waits and has not said how many it wants.
const READ_AHEAD_BYTES: usize = 4096;

/// A file that is being read.
pub(super) struct FileReader {
    file: Arc<File>,
    position: u64,
    state: FileReaderState,
}

enum FileReaderState {
    Idle,
    Reading(JoinHandle<io::Result<Bytes>>),
    Read(Bytes),
    Failed(io::Error),
    Ended,
}

impl FileReader {
    pub(super) fn new(file: Arc<File>, position: u64) -> Self {
        Self {
            file,
            position,
            state: FileReaderState::Idle,
        }
    }

    /// Begins to read so many bytes at most, or has them already.
    fn begin(&mut self, size: usize) {
        let mut buffer = BytesMut::zeroed(size.min(MAX_READ_BYTES));
        if let Some(read) = cached::read(&self.file, &mut buffer, self.position) {
            buffer.truncate(read);
            self.state = FileReaderState::of(Ok(buffer.freeze()));
            return;
        }
        let (file, position) = (Arc::clone(&self.file), self.position);
        self.state = FileReaderState::Reading(tokio::task::spawn_blocking(move || {
            loop {
                match file.read_at(&mut buffer, position) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                    Ok(read) => {
                        buffer.truncate(read);
                        return Ok(buffer.freeze());
                    }
                }
            }
        }));
    }

    async fn end_reading(&mut self) {
        if let FileReaderState::Reading(task) = &mut self.state {
            let read = task.await;
            self.state =
                FileReaderState::of(read.unwrap_or_else(|error| Err(io::Error::other(error))));
        }
    }
}

impl Drop for FileReader {
    fn drop(&mut self) {
        if let FileReaderState::Reading(task) = &self.state {
            task.abort();
        }
    }
}

impl FileReaderState {
    fn of(read: io::Result<Bytes>) -> Self {
        match read {
            Ok(bytes) if bytes.is_empty() => Self::Ended,
            Ok(bytes) => Self::Read(bytes),
            Err(error) => Self::Failed(error),
        }
    }
}

#[async_trait::async_trait]
impl InputStream for FileReader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 && matches!(self.state, FileReaderState::Idle) {
            return Ok(Bytes::new());
        }
        if matches!(self.state, FileReaderState::Idle) {
            self.begin(size);
        }
        match &mut self.state {
            FileReaderState::Idle | FileReaderState::Reading(_) => Ok(Bytes::new()),
            FileReaderState::Read(bytes) => {
                let read = bytes.split_to(size.min(bytes.len()));
                if bytes.is_empty() {
                    self.state = FileReaderState::Idle;
                }
                self.position += read.len() as u64;
                Ok(read)
            }
            FileReaderState::Failed(_) => {
                match std::mem::replace(&mut self.state, FileReaderState::Ended) {
                    FileReaderState::Failed(error) => {
                        Err(StreamError::LastOperationFailed(error.into()))
                    }
                    _ => Err(StreamError::Closed),
                }
            }
            FileReaderState::Ended => Err(StreamError::Closed),
        }
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size > 0 && matches!(self.state, FileReaderState::Idle) {
            self.begin(size);
        }
        self.end_reading().await;
        self.read(size)
    }

    async fn cancel(&mut self) {
        // A guest has no more reads under way than streams: what cannot be broken off is awaited.
        if let FileReaderState::Reading(task) =
            std::mem::replace(&mut self.state, FileReaderState::Ended)
        {
            task.abort();
            let _ = task.await;
        }
    }
}

#[async_trait::async_trait]
impl Pollable for FileReader {
    async fn ready(&mut self) {
        if matches!(self.state, FileReaderState::Idle) {
            self.begin(READ_AHEAD_BYTES);
        }
        self.end_reading().await;
    }
}

#[cfg(test)]
mod tests;
