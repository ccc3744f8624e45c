//! Streams of files, which count as memory of the guest: each keeps up to [`STREAM_BYTES`] of its
//! file in memory of the host, and a guest may have thousands.

#[cfg(unix)]
use std::sync::Arc;

use bytes::Bytes;
use wasmtime::StoreContextMut;
use wasmtime::component::{LinkerInstance, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, HostDescriptor as _};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, FsError, FsResult, InputStream, OutputStream, Pollable,
    StreamError, StreamResult,
};

#[cfg(unix)]
use super::file_reader::FileReader;
use super::{FilesystemResult, FilesystemState, told};

/// Most bytes that a stream keeps in memory of the host: no more are read or written at once.
const STREAM_BYTES: u64 = 64 << 10;

/// A stream with its memory charge.
struct ChargedStream<S, C> {
    stream: S,
    _charge: C,
}

/// Replaces wasmtime's streams with Dormouse's own.
///
/// # Errors
/// They cannot be defined.
pub(super) fn add_to_linker<T: FilesystemState>(
    types: &mut LinkerInstance<'_, T>,
) -> wasmtime::Result<()> {
    types.func_wrap_async(
        "[method]descriptor.read-via-stream",
        |store, (file, offset)| {
            Box::new(async move { Ok((read_via_stream(store, file, offset).await?,)) })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.write-via-stream",
        |store, (file, offset): (_, u64)| {
            Box::new(async move {
                let opened = output_stream(store, |state: &mut T| {
                    state.filesystem().write_via_stream(file, offset)
                });
                Ok((opened.await?,))
            })
        },
    )?;
    types.func_wrap_async("[method]descriptor.append-via-stream", |store, (file,)| {
        Box::new(async move {
            let opened = output_stream(store, |state: &mut T| {
                state.filesystem().append_via_stream(file)
            });
            Ok((opened.await?,))
        })
    })
}

async fn read_via_stream<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    file: Resource<Descriptor>,
    offset: u64,
) -> wasmtime::Result<FilesystemResult<Resource<DynInputStream>>> {
    let state = store.data_mut();
    let Some(charge) = state.charge(STREAM_BYTES).await else {
        return Ok(Err(ErrorCode::InsufficientMemory));
    };
    let stream = match reader(state, file, offset)? {
        Ok(stream) => stream,
        Err(code) => return Ok(Err(code)),
    };
    let counted: DynInputStream = Box::new(ChargedStream {
        stream,
        _charge: charge,
    });
    told(state.ctx().table.push(counted).map_err(FsError::from))
}

#[cfg(unix)]
fn reader<T: FilesystemState>(
    state: &mut T,
    file: Resource<Descriptor>,
    offset: u64,
) -> wasmtime::Result<FilesystemResult<DynInputStream>> {
    Ok(match state.ctx().table.get(&file)? {
        Descriptor::File(file) => {
            let reader = FileReader::new(Arc::clone(&file.file), offset);
            Ok(Box::new(reader) as DynInputStream)
        }
        Descriptor::Dir(_) => Err(ErrorCode::IsDirectory),
    })
}

#[cfg(not(unix))]
fn reader<T: FilesystemState>(
    state: &mut T,
    file: Resource<Descriptor>,
    offset: u64,
) -> wasmtime::Result<FilesystemResult<DynInputStream>> {
    Ok(
        match told(state.filesystem().read_via_stream(file, offset))? {
            Ok(stream) => Ok(state.ctx().table.delete(stream)?),
            Err(code) => Err(code),
        },
    )
}

async fn output_stream<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    open: impl FnOnce(&mut T) -> FsResult<Resource<DynOutputStream>>,
) -> wasmtime::Result<FilesystemResult<Resource<DynOutputStream>>> {
    let state = store.data_mut();
    let Some(charge) = state.charge(STREAM_BYTES).await else {
        return Ok(Err(ErrorCode::InsufficientMemory));
    };
    let stream = match told(open(state))? {
        Ok(stream) => state.ctx().table.delete(stream)?,
        Err(code) => return Ok(Err(code)),
    };
    let counted: DynOutputStream = Box::new(ChargedStream {
        stream,
        _charge: charge,
    });
    told(state.ctx().table.push(counted).map_err(FsError::from))
}

/// Returns how much of what wasmtime permits a guest to write at once it may.
fn permitted(bytes: usize) -> usize {
    bytes.min(STREAM_BYTES as usize)
}

/// Checks that a guest writes no more at once than it was permitted to, which wasmtime's streams of files
/// do not: all that was written waits in memory of the host until its file has taken it.
fn check_length(bytes: usize) -> StreamResult<()> {
    match bytes as u64 > STREAM_BYTES {
        true => Err(StreamError::trap(&format!(
            "{bytes} bytes were written at once to a file, where `check-write` permits {STREAM_BYTES}"
        ))),
        false => Ok(()),
    }
}

#[async_trait::async_trait]
impl<C: Send + 'static> Pollable for ChargedStream<DynInputStream, C> {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}

#[async_trait::async_trait]
impl<C: Send + 'static> InputStream for ChargedStream<DynInputStream, C> {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.stream.read(size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.stream.blocking_read(size).await
    }

    fn skip(&mut self, count: usize) -> StreamResult<usize> {
        self.stream.skip(count)
    }

    async fn blocking_skip(&mut self, count: usize) -> StreamResult<usize> {
        self.stream.blocking_skip(count).await
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}

#[async_trait::async_trait]
impl<C: Send + 'static> Pollable for ChargedStream<DynOutputStream, C> {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}

#[async_trait::async_trait]
impl<C: Send + 'static> OutputStream for ChargedStream<DynOutputStream, C> {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        check_length(bytes.len())?;
        self.stream.write(bytes)
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        check_length(bytes.len())?;
        self.stream.blocking_write_and_flush(bytes).await
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.stream.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.stream.check_write().map(permitted)
    }

    fn write_zeroes(&mut self, count: usize) -> StreamResult<()> {
        check_length(count)?;
        self.stream.write_zeroes(count)
    }

    async fn write_ready(&mut self) -> StreamResult<usize> {
        self.stream.write_ready().await.map(permitted)
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}
