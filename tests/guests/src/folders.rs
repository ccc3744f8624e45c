//! Does what it is told in the folders that it is granted, by the functions of WASI
//! themselves: no standard library tidies up its paths.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Folders;

dormouse_sdk::plugin!(Folders, world = "folders");

use wasip2::clocks::wall_clock::Datetime;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};
use wasip2::io::streams::OutputStream;

/// Most bytes of a file that are read.
const MAX_READ: u64 = 4096;

std::thread_local! {
    /// Folder that is held open from one call to the next.
    static HELD: std::cell::RefCell<Option<Descriptor>> = const { std::cell::RefCell::new(None) };
    /// Stream to a file that is held open in the same way, without the file's descriptor.
    static HELD_STREAM: std::cell::RefCell<Option<OutputStream>> =
        const { std::cell::RefCell::new(None) };
}

impl Guest for Folders {
    fn run(steps: Vec<String>) -> Vec<String> {
        let granted = get_directories();
        let step = |step: &String| match Granted(&granted).step(step) {
            Ok(outcome) => outcome,
            Err(code) => format!("error: {}", code.name()),
        };
        steps.iter().map(step).collect()
    }
}

/// Opens so many streams, all of which stay open until the last one. Returns how many could be
/// opened, and the outcome of the one behind them.
fn at_once<T>(streams: &str, open: impl Fn() -> Result<T, ErrorCode>) -> String {
    let streams = streams.parse().unwrap_or(0);
    let mut opened = Vec::new();
    while opened.len() < streams {
        match open() {
            Ok(stream) => opened.push(stream),
            Err(code) => return format!("{}, then {}", opened.len(), code.name()),
        }
    }
    format!("{}", opened.len())
}

struct Granted<'a>(&'a [(Descriptor, String)]);

impl Granted<'_> {
    fn step(&self, step: &str) -> Result<String, ErrorCode> {
        let words: Vec<_> = step.split('|').collect();
        let done = || "ok".to_owned();
        match words[..] {
            ["granted"] => {
                let names: Vec<_> = self.0.iter().map(|(_, name)| name.as_str()).collect();
                Ok(names.join(","))
            }
            ["environment"] => {
                let variables = wasip2::cli::environment::get_environment();
                let arguments = wasip2::cli::environment::get_arguments();
                let variables = variables
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"));
                Ok(variables.chain(arguments).collect::<Vec<_>>().join(","))
            }
            ["list", path] => {
                let folder = self.open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
                let entries = folder.read_directory()?;
                let mut names = Vec::new();
                while let Some(entry) = entries.read_directory_entry()? {
                    names.push(entry.name);
                }
                names.sort();
                Ok(names.join(","))
            }
            ["read", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
                let (bytes, _) = file.read(MAX_READ, 0)?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            ["write", path, text] => {
                let how = OpenFlags::CREATE | OpenFlags::TRUNCATE;
                let file = self.open(path, how, DescriptorFlags::WRITE)?;
                file.write(text.as_bytes(), 0)?;
                Ok(done())
            }
            ["create", path] => {
                let how = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
                self.open(path, how, DescriptorFlags::WRITE)?;
                Ok(done())
            }
            ["create-to-read", path] => {
                self.open(path, OpenFlags::CREATE, DescriptorFlags::READ)?;
                Ok(done())
            }
            ["truncate", path] => {
                self.open(path, OpenFlags::TRUNCATE, DescriptorFlags::WRITE)?;
                Ok(done())
            }
            ["truncate-to-read", path] => {
                self.open(path, OpenFlags::TRUNCATE, DescriptorFlags::READ)?;
                Ok(done())
            }
            ["resize", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::WRITE)?;
                file.set_size(3)?;
                Ok(done())
            }
            ["resize-what-is-read", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
                file.set_size(3)?;
                Ok(done())
            }
            ["write-what-is-read", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
                file.write(b"written", 0)?;
                Ok(done())
            }
            ["append", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::WRITE)?;
                Self::send(&file.append_via_stream()?)
            }
            ["append-to-what-is-read", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
                Self::send(&file.append_via_stream()?)
            }
            ["stream", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::WRITE)?;
                Self::send(&file.write_via_stream(0)?)
            }
            ["stream-to-what-is-read", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
                Self::send(&file.write_via_stream(0)?)
            }
            ["unlink", path] => {
                let (folder, path) = self.at(path)?;
                folder.unlink_file_at(path)?;
                Ok(done())
            }
            ["mkdir", path] => {
                let (folder, path) = self.at(path)?;
                folder.create_directory_at(path)?;
                Ok(done())
            }
            ["rmdir", path] => {
                let (folder, path) = self.at(path)?;
                folder.remove_directory_at(path)?;
                Ok(done())
            }
            ["touch-opened", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
                let at = NewTimestamp::Timestamp(Datetime {
                    seconds: 1,
                    nanoseconds: 0,
                });
                file.set_times(at, at)?;
                Ok(done())
            }
            ["open-to-change", path] => {
                let flags = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
                self.open(path, OpenFlags::DIRECTORY, flags)?;
                Ok(done())
            }
            ["stat", path] => {
                let (folder, path) = self.at(path)?;
                let stat = folder.stat_at(PathFlags::SYMLINK_FOLLOW, path)?;
                Ok(format!("{} bytes", stat.size))
            }
            ["hash", path] => {
                let (folder, path) = self.at(path)?;
                folder.metadata_hash_at(PathFlags::SYMLINK_FOLLOW, path)?;
                Ok(done())
            }
            ["readlink", path] => {
                let (folder, path) = self.at(path)?;
                Ok(folder.readlink_at(path)?)
            }
            ["hold", path] => {
                let folder = self.open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
                HELD.set(Some(folder));
                Ok(done())
            }
            ["hold-stream", path] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::WRITE)?;
                HELD_STREAM.set(Some(file.write_via_stream(0)?));
                Ok(done())
            }
            ["send-to-held"] => match HELD_STREAM.take() {
                Some(stream) => Self::send(&stream),
                None => Ok("nothing is held".to_owned()),
            },
            ["in-held", ref step @ ..] => match HELD.take() {
                Some(folder) => {
                    let held = [(folder, "sub".to_owned())];
                    let outcome = Granted(&held).step(&step.join("|"));
                    let [(folder, _)] = held;
                    HELD.set(Some(folder));
                    outcome
                }
                None => Ok("nothing is held".to_owned()),
            },
            // The same within a folder that is opened by itself, with all that it may have.
            ["in", path, ref step @ ..] => {
                let change = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
                let opened = self.open(path, OpenFlags::DIRECTORY, change);
                let folder = match opened {
                    Ok(folder) => folder,
                    Err(_) => self.open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?,
                };
                Granted(&[(folder, "sub".to_owned())]).step(&step.join("|"))
            }
            ["rename", from, to] => {
                let (folder, from) = self.at(from)?;
                let (other, to) = self.at(to)?;
                folder.rename_at(from, other, to)?;
                Ok(done())
            }
            ["link", from, to] => {
                let (folder, from) = self.at(from)?;
                let (other, to) = self.at(to)?;
                folder.link_at(PathFlags::empty(), from, other, to)?;
                Ok(done())
            }
            ["count", path] => {
                let folder = self.open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
                let entries = folder.read_directory()?;
                let mut count = 0;
                while entries.read_directory_entry()?.is_some() {
                    count += 1;
                }
                Ok(format!("{count}"))
            }
            ["list-at-once", path, streams] => {
                let folder = self.open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
                let open = || {
                    let entries = folder.read_directory()?;
                    entries.read_directory_entry()?;
                    Ok(entries)
                };
                Ok(at_once(streams, open))
            }
            ["read-at-once", path, streams] => {
                let file = self.open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
                let open = || {
                    let stream = file.read_via_stream(0)?;
                    // Begun, and never taken.
                    let _ = stream.read(u64::MAX);
                    Ok(stream)
                };
                Ok(at_once(streams, open))
            }
            ["write-at-once", path, bytes] => {
                let how = OpenFlags::CREATE | OpenFlags::TRUNCATE;
                let file = self.open(path, how, DescriptorFlags::WRITE)?;
                let stream = file.write_via_stream(0)?;
                let permitted = stream.check_write().map_err(|_| ErrorCode::Io)?;
                let bytes = vec![b'x'; bytes.parse().unwrap_or_default()];
                stream.write(&bytes).map_err(|_| ErrorCode::Io)?;
                stream.blocking_flush().map_err(|_| ErrorCode::Io)?;
                Ok(format!("{permitted}"))
            }
            ["open-at-once", path, files] => {
                let open = || self.open(path, OpenFlags::empty(), DescriptorFlags::READ);
                Ok(at_once(files, open))
            }
            ["symlink", target, path] => {
                let (folder, path) = self.at(path)?;
                folder.symlink_at(target, path)?;
                Ok(done())
            }
            ["touch", path] => {
                let (folder, path) = self.at(path)?;
                let now = NewTimestamp::Now;
                folder.set_times_at(PathFlags::SYMLINK_FOLLOW, path, now, now)?;
                Ok(done())
            }
            _ => Err(ErrorCode::Invalid),
        }
    }

    fn send(stream: &OutputStream) -> Result<String, ErrorCode> {
        match stream.blocking_write_and_flush(b"sent") {
            Ok(()) => Ok("ok".to_owned()),
            Err(_) => Err(ErrorCode::Io),
        }
    }

    fn open(
        &self,
        path: &str,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Descriptor, ErrorCode> {
        let (folder, path) = self.at(path)?;
        folder.open_at(PathFlags::SYMLINK_FOLLOW, path, how, flags)
    }

    /// Returns the granted folder that a path is in, and the rest of the path as it is.
    fn at<'p>(&self, path: &'p str) -> Result<(&Descriptor, &'p str), ErrorCode> {
        let found = self.0.iter().filter_map(|(folder, name)| {
            let rest = path.strip_prefix(name.as_str())?;
            let rest = rest.strip_prefix('/').unwrap_or(rest);
            Some((folder, if rest.is_empty() { "." } else { rest }))
        });
        found
            .min_by_key(|(_, rest)| rest.len())
            .ok_or(ErrorCode::NoEntry)
    }
}
