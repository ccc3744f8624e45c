//! Walk through a directory and all below it, without recursion: a tree may be deeper than the
//! stack of a sandbox.

use std::vec;

use crate::error::Error;
use crate::paths;
use crate::scan::{self, Entry};

/// A walk under way.
#[derive(Debug)]
pub struct Walk {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// The real path of the directory.
    real: String,
    /// Its path relative to the start of the walk; empty for the start.
    relative: String,
    entries: vec::IntoIter<Entry>,
}

/// Next step of a walk.
#[derive(Debug)]
pub enum Step {
    /// An entry of the innermost directory that was entered.
    Found(Found),
    /// End of that directory, which is left.
    Leave,
}

/// Entry with its paths.
#[derive(Debug)]
pub struct Found {
    /// The entry.
    pub entry: Entry,
    /// Its path, absolute.
    pub real: String,
    /// Its path relative to the start of the walk.
    pub relative: String,
}

impl Walk {
    /// Starts a walk in the directory at the real path `real`.
    pub fn new(real: &str) -> Result<Self, Error> {
        let mut walk = Self { levels: Vec::new() };
        walk.push(real.to_owned(), String::new())?;
        Ok(walk)
    }

    /// Goes on in the directory that was found.
    pub fn enter(&mut self, found: Found) -> Result<(), Error> {
        self.push(found.real, found.relative)
    }

    /// Returns the depth of the walk in directories, counting the one that it began in.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    fn push(&mut self, real: String, relative: String) -> Result<(), Error> {
        let entries = scan::directory(&real)?.entries.into_iter();
        self.levels.push(Level {
            real,
            relative,
            entries,
        });
        Ok(())
    }
}

impl Iterator for Walk {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let level = self.levels.last_mut()?;
        let Some(entry) = level.entries.next() else {
            self.levels.pop();
            return Some(Step::Leave);
        };
        let real = paths::join(&level.real, &entry.name);
        let relative = match level.relative.as_str() {
            "" => entry.name.clone(),
            above => paths::join(above, &entry.name),
        };
        Some(Step::Found(Found {
            entry,
            real,
            relative,
        }))
    }
}
