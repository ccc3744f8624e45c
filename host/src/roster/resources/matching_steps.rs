//! Steps that one URI takes to be held against the templates of all servers. Servers choose their
//! templates, and some of them the URIs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Once;

/// Most bytes that are compared when a URI is matched against the templates of one server: a few
/// milliseconds.
pub(super) const MAX_STEPS: usize = 4 << 20;

/// Most bytes that are compared when a URI is matched against the templates of all of the user's own
/// servers, and as many for those of all projects' servers.
const MAX_STEPS_OF_ALL: usize = 8 * MAX_STEPS;

static TOO_MANY_STEPS: Once = Once::new();

/// Steps that one URI has taken so far.
#[derive(Debug, Default)]
pub(super) struct MatchingSteps<'s> {
    by_server: HashMap<&'s str, usize>,
    /// Steps of the user's own servers together.
    of_users: usize,
    /// Steps of projects' servers together: they take none from the user's own.
    of_projects: usize,
    /// Servers of which a template was not held against the URI, because that would take too long.
    undecided: BTreeSet<&'s str>,
}

impl<'s> MatchingSteps<'s> {
    /// Checks whether a URI of so many bytes may be matched with a template of a server, which is or
    /// is not from a project's file, and counts the steps of that. After one that may not, no other template of the server is looked at either:
    /// that takes time, too.
    pub(super) fn allow(
        &mut self,
        (server, is_of_project): (&'s str, bool),
        uri_bytes: usize,
        steps: impl FnOnce() -> usize,
    ) -> bool {
        if self.undecided.contains(server) {
            return false;
        }
        let of_server = self.by_server.entry(server).or_default();
        let of_all = match is_of_project {
            true => &mut self.of_projects,
            false => &mut self.of_users,
        };
        let steps = steps();
        let [own, all] = [*of_server, *of_all].map(|before| before.saturating_add(steps));
        if own <= MAX_STEPS && all <= MAX_STEPS_OF_ALL {
            *of_server = own;
            *of_all = all;
            return true;
        }
        self.undecided.insert(server);
        // Once: servers choose how often that happens.
        TOO_MANY_STEPS.call_once(|| {
            tracing::warn!(
                "some templates of server `{server}` are not held against a URI of {uri_bytes} \
                 bytes, because that takes too long; this is not said again"
            );
        });
        false
    }

    /// Returns the servers of which nobody knows whether one of their templates matches.
    pub(super) fn undecided(&self) -> impl Iterator<Item = &'s str> {
        self.undecided.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_takes_no_steps_from_another_and_all_are_bounded() {
        let mut steps = MatchingSteps::default();
        assert!(steps.allow(("a", false), 1, || MAX_STEPS));
        assert!(!steps.allow(("a", false), 1, || 1));
        assert!(steps.allow(("b", false), 1, || 1));
        // What is too much is not compared, and costs nobody else anything.
        assert!(!steps.allow(("c", false), 1, || usize::MAX));
        assert!(!steps.allow(("c", false), 1, || panic!("it is looked at once more")));
        assert_eq!(steps.undecided().collect::<Vec<_>>(), ["a", "c"]);
        let names: Vec<_> = (0..100).map(|number| number.to_string()).collect();
        let names = names.iter();
        let allowed = names.filter(|name| steps.allow((name, false), 1, || MAX_STEPS));
        assert_eq!(allowed.count(), MAX_STEPS_OF_ALL / MAX_STEPS - 2);
        assert_eq!(steps.undecided().count(), 2 + 100 - 6);
    }

    #[test]
    fn servers_of_projects_take_no_steps_from_the_users_own() {
        let mut steps = MatchingSteps::default();
        let names: Vec<_> = (0..100).map(|number| number.to_string()).collect();
        let names = names.iter();
        let allowed = names.filter(|name| steps.allow((name, true), 1, || MAX_STEPS));
        assert_eq!(allowed.count(), MAX_STEPS_OF_ALL / MAX_STEPS);
        assert!(steps.allow(("notes", false), 1, || MAX_STEPS));
        assert!(steps.undecided().all(|server| server != "notes"));
    }
}
