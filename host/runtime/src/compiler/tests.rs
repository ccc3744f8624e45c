//! Compiling in processes with limits.

use std::io::Write as _;

use super::compile_process::read_code;
use super::compile_subcommand::{MAX_CODE_BYTES, REFUSED, max_code_bytes};
use super::*;

/// Returns the program of the unit tests, which has a test in place of the subcommand.
pub(crate) fn command() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--exact", "compiler::tests::compile_process"]);
    command.args(["--ignored", "--nocapture"]);
    Ok(command)
}

/// The process that the other tests here compile in: only they start it.
#[test]
#[ignore = "the process that the other tests compile in"]
fn compile_process() {
    let code = match run() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error:#}");
            i32::from(REFUSED)
        }
    };
    std::process::exit(code);
}

fn compile(compiler: &Compiler, wat: &str) -> Result<Vec<u8>, CompileError> {
    compiler.compile(&CompileJob {
        name: "it",
        component: &wat::parse_str(wat).unwrap(),
        concurrent: false,
        folder: Path::new("/none"),
    })
}

fn limits(time: Duration, memory: u64) -> Compiler {
    let limits = HostLimits {
        compile_time: time,
        compile_memory: memory,
        ..HostLimits::default()
    };
    Compiler::new(&limits, command)
}

/// Returns a component of one module with that many functions, each with long chains of
/// additions between many locals, which take a compiler much time and memory.
fn bomb(functions: usize) -> String {
    let body = (0..20_000).map(|at| {
        let (to, from) = (at % 500, (at * 7 + 3) % 500);
        format!("(local.set {to} (i64.add (local.get {to}) (local.get {from})))\n")
    });
    let body: String = body.collect();
    let locals = " i64".repeat(500);
    let function =
        format!("(func (local{locals}) (loop {body} (br_if 0 (i64.eqz (local.get 1)))))\n");
    format!("(component (core module {}))", function.repeat(functions))
}

#[test]
fn what_is_small_compiles_and_what_is_none_says_why() {
    let compiler = Compiler::new(&HostLimits::default(), command);
    assert!(compile(&compiler, "(component)").unwrap().len() > 100);
    let module = compile(&compiler, "(module)").unwrap_err();
    assert!(matches!(&module, CompileError::Refused(_)), "{module}");
}

/// Two bytes far apart make no image of all bytes between them.
#[test]
fn code_is_not_much_larger_than_its_component() {
    let compiler = Compiler::new(&HostLimits::default(), command);
    let module =
        r#"(core module (memory 256) (data (i32.const 0) "a") (data (i32.const 16699999) "b"))"#;
    let code = compile(&compiler, &format!("(component {})", module.repeat(4))).unwrap();
    assert!(code.len() < 8 << 20, "{}", code.len());
}

#[test]
fn only_code_in_proportion_to_its_component_is_read() {
    let written = |code: u64| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"said before").unwrap();
        file.write_all(&vec![7; code as usize]).unwrap();
        file.write_all(&code.to_le_bytes()).unwrap();
        file
    };
    assert_eq!(read_code(written(1000), 1000).unwrap(), [7; 1000]);
    let error = read_code(written(1001), 1000).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert!(read_code(tempfile::tempfile().unwrap(), 1000).is_err());
    assert_eq!(max_code_bytes(1000), (64 << 20) + 100_000);
    assert_eq!(max_code_bytes(u64::MAX), MAX_CODE_BYTES);
}

#[test]
fn a_compile_ends_in_its_time_and_is_not_tried_again() {
    let compiler = limits(Duration::from_secs(1), 4 << 30);
    let bomb = bomb(40);
    let error = compile(&compiler, &bomb).unwrap_err();
    assert_eq!(error, CompileError::Time(Duration::from_secs(1)));
    // Not a second one.
    let started = cpu_of_children();
    assert_eq!(compile(&compiler, &bomb).unwrap_err(), error);
    assert_eq!(started, cpu_of_children());
    assert!(compile(&limits(Duration::from_secs(60), 4 << 30), "(component)").is_ok());
}

#[test]
fn a_compile_ends_in_its_memory() {
    let compiler = limits(Duration::from_secs(300), 200 << 20);
    let error = compile(&compiler, &bomb(40)).unwrap_err();
    assert_eq!(error, CompileError::Memory(200 << 20), "{error}");
}

/// Returns the processor time of this process's children that have ended, in ticks.
fn cpu_of_children() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap()
}
