//! The unified diff of two texts, line by line.
//!
//! A change that can be told in several ways (a line that is doubled, a block that is moved) is
//! shown as the algorithm finds it. This is Myers's greedy one with the same choices as the
//! JavaScript package `diff`, because the reference server shows its result.

use std::collections::HashMap;

/// Number of lines around a change that are shown.
const CONTEXT: usize = 4;

/// Most lines that may differ before the search for the smallest difference is given up, whose cost
/// grows with the square of this: 1000 take some 50 MB.
const MAX_DIFFERENCE: i64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Same,
    Added,
    Removed,
}

/// A run of lines of one kind.
#[derive(Debug, Clone, Copy)]
struct Run {
    kind: Kind,
    count: usize,
    /// Run before it, as an index of [`Search::runs`].
    before: Option<usize>,
}

/// Explored part of one diagonal of the edit graph.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// Number of old lines that are used up.
    old: i64,
    last: Option<usize>,
}

struct Search<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    runs: Vec<Run>,
}

/// Returns the diff from `old` to `new`, with the header that the reference gives it.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut search = Search {
        old: &old,
        new: &new,
        runs: Vec::new(),
    };
    let runs = match search.smallest() {
        Some(last) => search.collect(last),
        None => coarse(&old, &new),
    };
    let rule = "=".repeat(67);
    let mut diff = format!("Index: {path}\n{rule}\n--- {path}\toriginal\n+++ {path}\tmodified\n");
    hunks(&runs, &old, &new, &mut diff);
    diff
}

impl Search<'_> {
    /// Returns the last run of the smallest difference. The outer none: it is too large; the inner
    /// none: there are no lines at all.
    fn smallest(&mut self) -> Option<Option<usize>> {
        let (old_len, new_len) = (length(self.old), length(self.new));
        let mut start = Reach { old: 0, last: None };
        if self.slide(&mut start, 0) && start.old == old_len {
            return Some(start.last);
        }
        let mut reached = HashMap::from([(0, start)]);
        // Diagonals beyond one that has hit the edge of the graph are no shorter.
        let (mut lowest, mut highest) = (i64::MIN, i64::MAX);
        for difference in 1..=MAX_DIFFERENCE {
            let mut diagonal = lowest.max(-difference);
            while diagonal <= highest.min(difference) {
                let removing = reached
                    .remove(&(diagonal - 1))
                    .filter(|reach| reach.old < old_len);
                let adding = reached.get(&(diagonal + 1)).copied().filter(|reach| {
                    let new = reach.old - diagonal;
                    0 < new && new <= new_len
                });
                let mut reach = match (removing, adding) {
                    (None, None) => {
                        reached.remove(&diagonal);
                        diagonal += 2;
                        continue;
                    }
                    (Some(removing), adding)
                        if adding.is_none_or(|adding| removing.old >= adding.old) =>
                    {
                        Reach {
                            old: removing.old + 1,
                            last: self.run(Kind::Removed, removing.last),
                        }
                    }
                    (_, Some(adding)) | (Some(adding), None) => Reach {
                        old: adding.old,
                        last: self.run(Kind::Added, adding.last),
                    },
                };
                let new_is_done = self.slide(&mut reach, diagonal);
                let old_is_done = reach.old >= old_len;
                if new_is_done && old_is_done {
                    return Some(reach.last);
                }
                if old_is_done {
                    highest = highest.min(diagonal - 1);
                }
                if new_is_done {
                    lowest = lowest.max(diagonal + 1);
                }
                reached.insert(diagonal, reach);
                diagonal += 2;
            }
        }
        None
    }

    /// Takes all lines that are the same from here on. Returns whether the new ones end there.
    fn slide(&mut self, reach: &mut Reach, diagonal: i64) -> bool {
        let at = |lines: &[&str], index: i64| {
            usize::try_from(index).map_or(0, |index| index.min(lines.len()))
        };
        let old = self.old.get(at(self.old, reach.old)..).unwrap_or_default();
        let new = self
            .new
            .get(at(self.new, reach.old - diagonal)..)
            .unwrap_or_default();
        let count = old
            .iter()
            .zip(new)
            .take_while(|(old, new)| old == new)
            .count();
        if count > 0 {
            self.runs.push(Run {
                kind: Kind::Same,
                count,
                before: reach.last,
            });
            reach.last = Some(self.runs.len() - 1);
            reach.old += i64::try_from(count).unwrap_or_default();
        }
        reach.old - diagonal >= length(self.new)
    }

    /// Adds a line of `kind` after the run `last`.
    fn run(&mut self, kind: Kind, last: Option<usize>) -> Option<usize> {
        let run = match last.and_then(|last| self.runs.get(last)) {
            Some(run) if run.kind == kind => Run {
                count: run.count + 1,
                ..*run
            },
            _ => Run {
                kind,
                count: 1,
                before: last,
            },
        };
        self.runs.push(run);
        Some(self.runs.len() - 1)
    }

    fn collect(&self, last: Option<usize>) -> Vec<(Kind, usize)> {
        let run = |index: Option<usize>| index.and_then(|index| self.runs.get(index));
        let mut runs: Vec<(Kind, usize)> = std::iter::successors(run(last), |one| run(one.before))
            .map(|run| (run.kind, run.count))
            .collect();
        runs.reverse();
        runs
    }
}

fn length(lines: &[&str]) -> i64 {
    i64::try_from(lines.len()).unwrap_or(i64::MAX)
}

/// Returns one change of all lines between the common start and the common end.
fn coarse(old: &[&str], new: &[&str]) -> Vec<(Kind, usize)> {
    let start = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let shorter = old.len().min(new.len()) - start;
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(shorter)
        .take_while(|(old, new)| old == new)
        .count();
    let runs = [
        (Kind::Same, start),
        (Kind::Removed, old.len() - start - end),
        (Kind::Added, new.len() - start - end),
        (Kind::Same, end),
    ];
    runs.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Part of the diff: changes that are near each other, with the lines around.
#[derive(Default)]
struct Hunk {
    lines: Vec<(char, usize)>,
    old_start: usize,
    new_start: usize,
}

fn hunks(runs: &[(Kind, usize)], old: &[&str], new: &[&str], diff: &mut String) {
    let (mut old_at, mut new_at) = (0, 0);
    let mut hunk: Option<Hunk> = None;
    for (index, (kind, count)) in runs.iter().enumerate() {
        let is_last = index + 1 == runs.len();
        if *kind == Kind::Same {
            if let Some(mut open) = hunk.take() {
                let joins = *count <= 2 * CONTEXT && !is_last;
                let shown = if joins { *count } else { (*count).min(CONTEXT) };
                open.lines
                    .extend((old_at..old_at + shown).map(|line| (' ', line)));
                if joins {
                    hunk = Some(open);
                } else {
                    open.write(old, new, diff);
                }
            }
            old_at += count;
            new_at += count;
            continue;
        }
        let open = hunk.get_or_insert_with(|| {
            // Between hunks, what comes before a change are lines that are the same.
            let shown = old_at.min(CONTEXT).min(
                match index.checked_sub(1).and_then(|before| runs.get(before)) {
                    Some((Kind::Same, count)) => *count,
                    _ => 0,
                },
            );
            Hunk {
                lines: (old_at - shown..old_at).map(|line| (' ', line)).collect(),
                old_start: old_at - shown,
                new_start: new_at - shown,
            }
        });
        if *kind == Kind::Added {
            open.lines
                .extend((new_at..new_at + count).map(|line| ('+', line)));
            new_at += count;
        } else {
            open.lines
                .extend((old_at..old_at + count).map(|line| ('-', line)));
            old_at += count;
        }
    }
    if let Some(open) = hunk {
        open.write(old, new, diff);
    }
}

impl Hunk {
    fn write(&self, old: &[&str], new: &[&str], diff: &mut String) {
        let count = |mark| self.lines.iter().filter(|(kind, _)| *kind != mark).count();
        let (olds, news) = (count('+'), count('-'));
        // An empty range is named by the line before it, any other by its first.
        let name = |start: usize, count: usize| start + usize::from(count > 0);
        diff.push_str(&format!(
            "@@ -{},{olds} +{},{news} @@\n",
            name(self.old_start, olds),
            name(self.new_start, news)
        ));
        for (kind, line) in &self.lines {
            let lines = if *kind == '+' { new } else { old };
            let line = lines.get(*line).copied().unwrap_or_default();
            diff.push(*kind);
            diff.push_str(line);
            if !line.ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

#[cfg(test)]
mod tests;
