//! Fuzz targets without a fuzzer: seeded loops over their corpora, for some seconds
//! each.
//!
//! The inputs of a target are the same ones in each run; how many of them are tried depends on the
//! machine. With `DORMOUSE_FUZZ_SECONDS` they are tried for longer.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod mutator;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::artifacts;
use crate::growth::cpu_time;
use mutator::Mutator;

/// Time for which each target is run where nobody says otherwise, in seconds.
const SECONDS: u64 = 4;

/// Most time of a processor that one input may take: none is longer than 64 KiB, for which linear
/// work takes some milliseconds.
const MAX_CPU_TIME: Duration = Duration::from_secs(2);

/// Most memory that one input may take, in KiB.
const MAX_MEMORY_KIB: u64 = 256 << 10;

/// Shortest time in which so much memory can be filled.
const MIN_TIME_TO_FILL: Duration = Duration::from_millis(5);

/// Returns the folder of `cargo fuzz`.
fn folder() -> PathBuf {
    artifacts::workspace().join("fuzz")
}

/// Returns the names of the entries of a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    entries
        .map(|entry| name(entry).into_string().unwrap())
        .collect()
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = folder().join("corpus").join(target);
    let files = names(&folder).into_iter();
    files
        .map(|file| std::fs::read(folder.join(file)).unwrap())
        .collect()
}

/// Returns the most memory that this process has had, in KiB; 0 where the system does not tell.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|most| most.trim().strip_suffix(" kB")?.parse().ok());
    most.unwrap_or_default()
}

/// Shows an input for which a check fails.
fn show(name: &str, what: &str, input: &[u8]) {
    eprintln!(
        "`{name}` {what} this input of {} bytes:\nb\"{}\"",
        input.len(),
        input.escape_ascii()
    );
}

/// Runs a target on the inputs of its corpus and on those that a mutator makes of them.
pub fn run(name: &str, target: fn(&[u8])) {
    let corpus = corpus(name);
    assert!(!corpus.is_empty(), "`{name}` has no corpus");
    let seconds = std::env::var("DORMOUSE_FUZZ_SECONDS");
    let seconds = seconds.map_or(SECONDS, |seconds| seconds.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut mutator = Mutator::new(name, &corpus);
    let mut inputs = 0_u64;
    let mut slowest = (Duration::ZERO, Vec::new());
    let mut most = most_memory();
    let mut next = corpus.clone().into_iter();
    while Instant::now() < end {
        let input = next.next().unwrap_or_else(|| mutator.next());
        let begin = Instant::now();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            show(name, "does not hold of", &input);
            resume_unwind(panic);
        }
        inputs += 1;
        let taken = begin.elapsed();
        if taken > MAX_CPU_TIME {
            // The machine may have been at something else: by its own time, once more.
            let begin = cpu_time();
            target(&input);
            let taken = cpu_time().saturating_sub(begin);
            if taken > MAX_CPU_TIME {
                show(name, "takes far too long for", &input);
                panic!("`{name}` takes {taken:?}");
            }
        }
        if taken > MIN_TIME_TO_FILL {
            let memory = most_memory();
            let more = memory.saturating_sub(std::mem::replace(&mut most, memory));
            if more > MAX_MEMORY_KIB {
                show(name, "takes far too much memory for", &input);
                panic!("`{name}` takes {more} KiB");
            }
        }
        if taken > slowest.0 {
            slowest = (taken, input);
        }
    }
    eprintln!(
        "{inputs} inputs; the slowest took {:?} for {} bytes",
        slowest.0,
        slowest.1.len()
    );
}

/// Tests that run fuzz targets: functions of these names in the module above.
#[macro_export]
macro_rules! fuzz_loops {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                $crate::fuzz::run(stringify!($name), super::$name);
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the source of a crate's targets.
    fn source(library: &str) -> String {
        let host = artifacts::workspace().join("host");
        let folder = match library.strip_prefix("dormouse_") {
            Some(part) => host.join(part),
            None => host,
        };
        std::fs::read_to_string(folder.join("src/fuzz.rs")).unwrap()
    }

    /// Returns the names of the targets that the tests of a crate run.
    fn loops(source: &str) -> BTreeSet<String> {
        let loops = source.split_once("fuzz_loops! {").unwrap().1;
        let loops = loops.split_once('}').unwrap().0;
        loops.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_target_has_a_loop_a_corpus_and_a_program() {
        let manifest = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap();
        let mut targets = BTreeSet::new();
        let mut libraries = BTreeSet::new();
        for program in names(&folder().join("fuzz_targets")) {
            let name = program.strip_suffix(".rs").unwrap();
            let text = std::fs::read_to_string(folder().join("fuzz_targets").join(&program));
            let text = text.unwrap();
            let (before, after) = text.split_once("::fuzz::").unwrap();
            assert!(after.starts_with(&format!("{name}(data)")), "{text}");
            let library = before.rsplit_once(' ').unwrap().1;
            assert!(loops(&source(library)).contains(name), "{name}");
            let path = format!("path = \"fuzz_targets/{program}\"");
            assert!(manifest.contains(&path), "{name}");
            assert!(!corpus(name).is_empty(), "{name}");
            targets.insert(name.to_owned());
            libraries.insert(library.to_owned());
        }
        assert_eq!(names(&folder().join("corpus")), targets);
        let mut all = BTreeSet::new();
        for library in &libraries {
            for name in loops(&source(library)) {
                assert!(all.insert(name.clone()), "`{name}` is there twice");
            }
        }
        assert_eq!(all, targets);
        // Whatever has targets has a program.
        for entry in std::fs::read_dir(artifacts::workspace().join("host")).unwrap() {
            let folder = entry.unwrap().path();
            let part = folder.file_name().unwrap().to_string_lossy().into_owned();
            if folder.join("src/fuzz.rs").is_file() {
                assert!(libraries.contains(&format!("dormouse_{part}")), "{part}");
            }
        }
    }

    /// A loop that finds nothing anywhere would succeed, too.
    #[test]
    fn a_loop_finds_what_is_one_change_away() {
        let corpus = [br#"{"name":"a","value":1}"#.to_vec()];
        let mut mutator = Mutator::new("a", &corpus);
        let mut found = [false; 4];
        for _ in 0..200_000 {
            let input = mutator.next();
            let has = |part: &[u8]| input.windows(part.len()).any(|window| window == part);
            found[0] |= has(b"name\":\"a\",\"name") || has(b"\"name\":\"name\"");
            found[1] |= has(b"\\ud800");
            found[2] |= std::str::from_utf8(&input).is_err();
            found[3] |= input.len() > 10 * corpus[0].len();
        }
        assert_eq!(found, [true; 4]);
        let again = Mutator::new("a", &corpus).next();
        assert_eq!(Mutator::new("a", &corpus).next(), again);
    }
}
