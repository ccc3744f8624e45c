use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use dormouse_tests::artifacts;

use super::*;

/// A file on a disk, which temporary files need not be on.
struct Place {
    path: PathBuf,
    _keep: tempfile::TempDir,
}

impl Place {
    fn new(content: &[u8]) -> Self {
        let keep = tempfile::tempdir_in(artifacts::target()).unwrap();
        let path = keep.path().join("file");
        std::fs::write(&path, content).unwrap();
        Self { path, _keep: keep }
    }

    fn reader(&self, position: u64) -> FileReader {
        FileReader::new(Arc::new(File::open(&self.path).unwrap()), position)
    }

    fn append(&self, content: &[u8]) {
        let mut file = File::options().append(true).open(&self.path).unwrap();
        file.write_all(content).unwrap();
    }

    fn cut(&self, length: u64) {
        let file = File::options().write(true).open(&self.path).unwrap();
        file.set_len(length).unwrap();
    }

    /// Returns a reader whose file is not in memory.
    #[cfg(target_os = "linux")]
    fn cold(&self, position: u64) -> FileReader {
        use rustix::fs::{Advice, fadvise};

        let reader = self.reader(position);
        reader.file.sync_all().unwrap();
        fadvise(&reader.file, 0, None, Advice::DontNeed).unwrap();
        reader
    }
}

/// The end of a stream; of a failure, which one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Closed,
    Failed(ErrorKind),
}

fn end(error: &StreamError) -> End {
    match error {
        StreamError::Closed => End::Closed,
        StreamError::LastOperationFailed(error) => {
            End::Failed(error.downcast_ref::<io::Error>().unwrap().kind())
        }
        StreamError::Trap(error) => panic!("{error:?}"),
    }
}

/// Reads so many bytes at a time to the end.
async fn rest(reader: &mut FileReader, size: usize) -> (Vec<u8>, End) {
    let mut all = Vec::new();
    loop {
        match reader.blocking_read(size).await {
            Ok(bytes) => {
                // A guest that waits gets something, and no more than it wanted.
                assert!((1..=size).contains(&bytes.len()), "{}", bytes.len());
                all.extend_from_slice(&bytes);
            }
            Err(error) => return (all, end(&error)),
        }
    }
}

/// Reads as a guest does that waits for the stream and then takes what is there.
async fn polled(reader: &mut FileReader, size: usize) -> (Vec<u8>, End) {
    let mut all = Vec::new();
    loop {
        reader.ready().await;
        match reader.read(size) {
            Ok(bytes) => {
                assert!((1..=size).contains(&bytes.len()), "{}", bytes.len());
                all.extend_from_slice(&bytes);
            }
            Err(error) => return (all, end(&error)),
        }
    }
}

#[tokio::test]
async fn all_from_an_offset_on_is_read() {
    let largest = u64::try_from(i64::MAX).unwrap();
    let invalid = End::Failed(ErrorKind::InvalidInput);
    let place = Place::new(b"0123456789");
    for (offset, expected, ended) in [
        (0, "0123456789", End::Closed),
        (1, "123456789", End::Closed),
        (9, "9", End::Closed),
        (10, "", End::Closed),
        (11, "", End::Closed),
        (1 << 40, "", End::Closed),
        (1 << 62, "", End::Closed),
        // No file has a byte there. The last one must not be taken for "where it was read last".
        (largest, "", invalid),
        (largest + 1, "", invalid),
        (u64::MAX, "", invalid),
    ] {
        let expected = (expected.as_bytes().to_vec(), ended);
        for size in [1, 3, 10, 11, usize::MAX] {
            let found = rest(&mut place.reader(offset), size).await;
            assert_eq!(found, expected, "{size} bytes at a time from {offset}");
            let mut reader = place.reader(offset);
            let found = polled(&mut reader, size).await;
            assert_eq!(found, expected, "{size} bytes at a time from {offset}");
            // It has ended for good, also where it has failed.
            assert_eq!(end(&reader.read(1).unwrap_err()), End::Closed);
            assert_eq!(
                end(&reader.blocking_read(1).await.unwrap_err()),
                End::Closed
            );
        }
    }
}

#[tokio::test]
async fn what_becomes_of_a_file_meanwhile_is_read() {
    type Change = fn(&Place);
    let changes: [(&str, Change, &str); 5] = [
        ("nothing", |_| {}, "01234567"),
        ("it grows", |place| place.append(b"more"), "01234567more"),
        ("it is cut below", |place| place.cut(2), "0123"),
        ("it is cut behind", |place| place.cut(6), "012345"),
        // The open one is read to its end.
        (
            "it is removed",
            |place| std::fs::remove_file(&place.path).unwrap(),
            "01234567",
        ),
    ];
    for (what, change, expected) in changes {
        let place = Place::new(b"01234567");
        let mut reader = place.reader(0);
        let mut all = reader.blocking_read(4).await.unwrap().to_vec();
        change(&place);
        let (more, ended) = rest(&mut reader, 3).await;
        all.extend(more);
        assert_eq!(String::from_utf8(all).unwrap(), expected, "{what}");
        assert_eq!(ended, End::Closed, "{what}");
    }
    // What was read ahead is what was there then, and an end is an end.
    let place = Place::new(b"01234567");
    let mut reader = place.reader(0);
    reader.ready().await;
    place.cut(2);
    assert_eq!(
        rest(&mut reader, 5).await,
        (b"01234567".to_vec(), End::Closed)
    );
    place.append(b"0123456789");
    assert_eq!(
        end(&reader.blocking_read(5).await.unwrap_err()),
        End::Closed
    );
}

#[tokio::test]
async fn a_folder_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = FileReader::new(Arc::new(File::open(folder.path()).unwrap()), 0);
    let error = reader.blocking_read(10).await.unwrap_err();
    assert_eq!(end(&error), End::Failed(ErrorKind::IsADirectory));
    assert_eq!(end(&reader.read(10).unwrap_err()), End::Closed);
}

/// A stream is charged for 64 KiB of memory.
#[tokio::test]
async fn no_more_is_read_at_once_than_is_charged() {
    let content: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
    let place = Place::new(&content);
    for size in [
        MAX_READ_BYTES - 1,
        MAX_READ_BYTES,
        MAX_READ_BYTES + 1,
        usize::MAX,
    ] {
        let mut reader = place.reader(0);
        let first = reader.blocking_read(size).await.unwrap();
        assert_eq!(first.len(), size.min(MAX_READ_BYTES), "{size}");
        let (more, ended) = rest(&mut reader, size).await;
        assert_eq!(ended, End::Closed);
        assert!([&first[..], &more].concat() == content, "{size}");
    }
    // Who waits and has not said how much it wants has a little, and takes of that as it likes.
    let mut reader = place.reader(100);
    reader.ready().await;
    assert!(
        matches!(&reader.state, FileReaderState::Read(bytes) if bytes.len() == READ_AHEAD_BYTES)
    );
    let taken = [0, 10, usize::MAX].map(|size| reader.read(size).unwrap());
    assert_eq!(taken[0].len() + taken[1].len(), 10);
    assert_eq!(taken[2].len(), READ_AHEAD_BYTES - 10);
    assert!(taken.concat() == content[100..][..READ_AHEAD_BYTES]);
    // Nothing is nothing, and is not the end.
    let mut reader = place.reader(0);
    assert!(
        reader.read(0).unwrap().is_empty() && reader.blocking_read(0).await.unwrap().is_empty()
    );
    assert!(matches!(reader.state, FileReaderState::Idle));
}

/// What is on the disk alone is read by a thread that may wait for it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_not_in_memory_is_read_all_the_same() {
    const LENGTH: usize = 1 << 20;
    let content: Vec<u8> = (0..LENGTH).map(|number| (number / 7) as u8).collect();
    let place = Place::new(&content);
    for position in [LENGTH - 10, 12_345, 0] {
        let mut reader = place.cold(position as u64);
        // Whoever does not wait gets nothing yet, and no end either.
        let first = reader.read(MAX_READ_BYTES).unwrap();
        assert!(first.is_empty(), "{} bytes are in memory", first.len());
        assert!(matches!(reader.state, FileReaderState::Reading(_)));
        let (all, ended) = rest(&mut reader, MAX_READ_BYTES).await;
        assert!(all == content[position..], "from {position}");
        assert_eq!(ended, End::Closed);
    }
    // In memory now, and read at once.
    let mut reader = place.reader(0);
    assert_eq!(reader.read(10).unwrap(), content[..10]);
    // Whoever goes meanwhile leaves nothing behind.
    let mut reader = place.cold(0);
    assert!(reader.read(10).unwrap().is_empty());
    reader.cancel().await;
    assert_eq!(
        end(&reader.blocking_read(10).await.unwrap_err()),
        End::Closed
    );
    assert_eq!(Arc::strong_count(&reader.file), 1);
    let mut reader = place.cold(0);
    assert!(reader.read(10).unwrap().is_empty());
    drop(reader);
}
