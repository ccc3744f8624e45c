//! Output of commands for a person about their servers: costs, servers that are the same, hidden
//! items, unknown items, each once.

#[cfg(target_os = "linux")]
mod beside_a_host;
mod called;
mod configured;
mod doctor;
mod exposure;
mod known;
mod listed;
#[cfg(unix)]
mod secret;

use std::process::Output;

use crate::scripted::Scripted;

fn streams(all: &Scripted, words: &[&str]) -> (Output, String, String) {
    let output = all.home.run(words).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    (output, stdout, stderr)
}
