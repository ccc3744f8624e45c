//! Counting texts in a process of its own: this program, started once more, which loads the tokenizer,
//! gets the texts on its stdin and answers with a number for each. What strangers have written may
//! be made to take long, so that the system holds it to limits of time and memory. The text at which
//! it ends is left out, and another one goes on behind it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use dormouse_files::process_limits::{self, ProcessLimits};

use crate::{MAX_TEXT_BYTES, Tokenizer};

/// Function that makes the command by which this program is started once more, to [count](run).
pub type CountCommand = fn() -> io::Result<Command>;

/// Limits of a process. It takes a second for a few megabytes.
const LIMITS: ProcessLimits = ProcessLimits {
    seconds: 20,
    memory: 1 << 30,
    file: 0,
};

/// Longest duration of all processes for one set of texts, by the clock.
const MAX_DURATION: Duration = Duration::from_secs(60);

/// Most processes for one set of texts: one, and one more for each text that another one ended at.
const MAX_PROCESSES: usize = 4;

/// Most bytes of all texts of a process.
const MAX_BYTES: u64 = 64 << 20;

/// Bytes of the longest line of a process's output.
const LINE_BYTES: u64 = 16;

/// Most bytes that are read of a process's error output.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// Pause between two checks whether a process has ended.
const POLL: Duration = Duration::from_millis(2);

/// First line of the output: the tokenizer is loaded.
const LOADED: &str = "loaded";

/// Reason why texts could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// The process could not be started, or given the texts.
    #[error("the process that counts tokens cannot be started: {0}")]
    Start(#[from] io::Error),
    /// It has ended before it could count anything.
    #[error("the process that counts tokens has failed{0}")]
    Failed(String),
}

/// Counts texts, in their order. A text that is too long, or that the process ended at, has no count,
/// and those that there was no time for are missing at the end. The texts are in a file without a
/// name in `folder` meanwhile.
///
/// # Errors
/// The process could not be started, or ended before it could count anything.
pub fn count(
    command: CountCommand,
    folder: &Path,
    texts: &[&str],
) -> Result<Vec<Option<u64>>, CountError> {
    let end = Instant::now() + MAX_DURATION;
    let mut counts = Vec::with_capacity(texts.len());
    for _ in 0..MAX_PROCESSES {
        let rest = texts.get(counts.len()..).unwrap_or_default();
        if rest.is_empty() || Instant::now() >= end {
            break;
        }
        let (counted, has_ended_by_itself) = count_some(command, folder, rest, end)?;
        let is_short = counted.len() < rest.len();
        counts.extend(counted);
        if is_short && has_ended_by_itself {
            counts.push(None);
        }
    }
    Ok(counts)
}

/// Counts texts until the process ends or it is `end`. Returns the counts, and whether the process
/// has ended by itself.
fn count_some(
    command: CountCommand,
    folder: &Path,
    texts: &[&str],
    end: Instant,
) -> Result<(Vec<Option<u64>>, bool), CountError> {
    let mut file = tempfile::tempfile_in(folder)?;
    write_texts(&file, texts)?;
    file.rewind()?;
    let mut process = process_limits::start_with_input(command()?, file)?;
    let most = LINE_BYTES * (texts.len() as u64 + 64);
    let stdout = process.0.stdout.take();
    let stdout = stdout.map(|stdout| process_limits::read_output(stdout, most));
    let stderr = process.0.stderr.take();
    let stderr = stderr.map(|stderr| process_limits::read_output(stderr, MAX_STDERR_BYTES));
    let has_ended = loop {
        if process.0.try_wait()?.is_some() {
            break true;
        }
        if Instant::now() >= end {
            break false;
        }
        std::thread::sleep(POLL);
    };
    drop(process);
    let output = |thread: Option<std::thread::JoinHandle<Vec<u8>>>| {
        let bytes = thread.and_then(|thread| thread.join().ok());
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    };
    let counts = read_counts(&output(stdout), texts.len());
    let counts = counts.ok_or_else(|| {
        let said = output(stderr);
        let said = process_limits::last_line(&said).map(|line| line.escape_debug().to_string());
        CountError::Failed(
            said.map(|line| format!("; it said: {line}"))
                .unwrap_or_default(),
        )
    })?;
    Ok((counts, has_ended))
}

/// Returns the counts of an output; none where the tokenizer was not loaded.
fn read_counts(output: &str, most: usize) -> Option<Vec<Option<u64>>> {
    let mut lines = output.lines().skip_while(|line| *line != LOADED);
    lines.next()?;
    let counts = lines.map_while(|line| match line {
        "-" => Some(None),
        number => number.parse().ok().map(Some),
    });
    Some(counts.take(most).collect())
}

/// Writes texts, each after its length; those that are too long as empty ones of that length.
fn write_texts(file: &File, texts: &[&str]) -> io::Result<()> {
    let mut file = io::BufWriter::new(file);
    let mut left = MAX_BYTES;
    for text in texts {
        let fits = text.len() <= MAX_TEXT_BYTES && text.len() as u64 <= left;
        let (length, bytes) = match fits {
            true => (text.len() as u64, text.as_bytes()),
            false => (u64::MAX, &[][..]),
        };
        left = left.saturating_sub(bytes.len() as u64);
        file.write_all(&length.to_le_bytes())?;
        file.write_all(bytes)?;
    }
    file.flush()
}

/// Limits this process, has it end with the one that has started it, reads texts from its input, and
/// writes the number of tokens of each to its output, a line for each.
///
/// # Errors
/// The input is not what [`count`] writes, or nothing can be written.
pub fn run() -> anyhow::Result<()> {
    process_limits::end_with_parent()?;
    LIMITS.apply()?;
    let tokenizer = Tokenizer::load()?;
    let mut output = io::stdout().lock();
    // Whatever runs this may have begun a line.
    writeln!(output, "\n{LOADED}")?;
    let mut input = BufReader::new(io::stdin().lock());
    let mut length = [0; size_of::<u64>()];
    while input.read_exact(&mut length).is_ok() {
        let length = u64::from_le_bytes(length);
        if length > MAX_TEXT_BYTES as u64 {
            writeln!(output, "-")?;
            continue;
        }
        let mut text = Vec::new();
        (&mut input).take(length).read_to_end(&mut text)?;
        writeln!(output, "{}", tokenizer.count(&String::from_utf8(text)?))?;
        // What comes next may end this process.
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
