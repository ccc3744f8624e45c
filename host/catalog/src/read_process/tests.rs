//! Processes that read, and ends of these.

use super::*;
use crate::Listing;
use crate::tests::{back, front, typed, words as described};

/// The program of the unit tests, which has a test in place of the subcommand.
pub(crate) fn command(task: ReadTask) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let test = match task {
        ReadTask::Listing => "read_process::tests::lists",
        ReadTask::Findings => "read_process::tests::checks",
        ReadTask::Inspection => "read_process::tests::inspects",
    };
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    Ok(command)
}

/// Does what such a process does, for the other tests here: started by them alone.
fn process(task: ReadTask) {
    let code = match run(task) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    std::process::exit(code);
}

#[test]
#[ignore = "the process that the other tests read in"]
fn lists() {
    process(ReadTask::Listing);
}

#[test]
#[ignore = "the process that the other tests read in"]
fn checks() {
    process(ReadTask::Findings);
}

#[test]
#[ignore = "the process that the other tests read in"]
fn inspects() {
    process(ReadTask::Inspection);
}

/// Takes more time than it has given itself: started by another test alone.
#[test]
#[ignore = "it does not end"]
fn does_not_end() {
    let limits = ProcessLimits {
        seconds: 1,
        memory: MAX_MEMORY_BYTES,
        file: 0,
    };
    limits.apply().unwrap();
    loop {
        std::hint::black_box(());
    }
}

/// Starts a process that waits for its input, says which, and waits itself: started by another
/// test alone.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "it does not end"]
fn waits_for_one_that_waits() {
    use std::os::fd::AsFd as _;
    let input = io::stdin().as_fd().try_clone_to_owned().unwrap();
    let process =
        process_limits::start_with_input(command(ReadTask::Listing).unwrap(), input.into())
            .unwrap();
    println!("\nreading: {}", process.0.id());
    std::thread::sleep(Duration::from_secs(60));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_ends_with_the_one_that_has_started_it() {
    use std::io::BufRead as _;
    use std::process::Stdio;

    use dormouse_files::process_limits::KilledWhenDropped;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "read_process::tests::waits_for_one_that_waits"]);
    command.args(["--ignored", "--nocapture"]);
    // Its input stays open, so that the end of that is no reason to end.
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut host = KilledWhenDropped(command.spawn().unwrap());
    let lines = io::BufReader::new(host.0.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let process: u32 = lines
        .find_map(|line| line.strip_prefix("reading: ")?.parse().ok())
        .unwrap();
    let has_limits = || {
        let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
        let mut limits = limits.lines();
        limits.any(|line| line.starts_with("Max cpu time") && line.contains(" 3 "))
    };
    let begun = Instant::now();
    while !has_limits() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "it does not read"
        );
        std::thread::sleep(POLL);
    }
    let processes = dormouse_tests::processes::descendants(host.0.id()).unwrap();
    assert_eq!(processes.len(), 1, "{processes:?}");
    host.0.kill().unwrap();
    dormouse_tests::processes::gone(&processes).unwrap();
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

#[test]
fn what_a_process_reads_is_what_is_read_here() {
    let section = dormouse_wit::section::encode(&described("Adds.")).unwrap();
    for bytes in [
        typed(),
        front(&typed(), &described("Adds.")),
        back(&typed(), &section),
    ] {
        let there = in_process::<Listing>(command, ReadTask::Listing, file(&bytes), None).unwrap();
        let here = listing::component(&bytes).unwrap();
        assert_eq!(format!("{there:?}"), format!("{here:?}"));
    }
    let mut named = tempfile::NamedTempFile::new().unwrap();
    named.write_all(&typed()).unwrap();
    let there = check_file(named.path(), command).unwrap();
    assert_eq!(there, check(&typed()));
    assert!(!there.is_empty());
    let there = inspect_file(named.path(), command).unwrap();
    assert_eq!(
        format!("{there:?}"),
        format!("{:?}", inspect(&typed()).unwrap())
    );
    let cut = typed().split_off(20);
    let there = in_process::<Listing>(command, ReadTask::Listing, file(&cut), None).unwrap_err();
    let here = listing::component(&cut).unwrap_err();
    assert_eq!(there.to_string(), here.to_string());
}

#[test]
fn a_process_that_ends_otherwise_is_told() {
    let problem = |command: ReadCommand| {
        in_process::<Listing>(command, ReadTask::Listing, file(&typed()), None).unwrap_err()
    };
    // The system ends it.
    let time = problem(|_| {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--exact", "read_process::tests::does_not_end", "--ignored"]);
        Ok(command)
    });
    assert!(matches!(time, Problem::Costly { .. }), "{time}");
    let memory = problem(|_| {
        let mut command = Command::new("/bin/sh");
        command.args([
            "-c",
            "echo memory allocation of 7 bytes failed >&2; kill -ABRT $$",
        ]);
        Ok(command)
    });
    assert!(matches!(memory, Problem::Costly { .. }), "{memory}");
    let other = problem(|_| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "printf 'no\\033[2J' >&2; exit 7"]);
        Ok(command)
    });
    let other = other.to_string();
    assert!(
        other.contains("exit status: 7") && other.contains("\\u{1b}"),
        "{other}"
    );
    let silent = problem(|_| Ok(Command::new("/bin/true")));
    assert!(silent.to_string().contains("has not written"), "{silent}");
    let missing = problem(|_| Ok(Command::new("/nowhere/at/all")));
    assert!(
        missing.to_string().contains("cannot be started"),
        "{missing}"
    );
}
