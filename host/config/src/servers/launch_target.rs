//! Targets of launches: what is started or reached, apart from how.

use dormouse_launch::{Http, Launch, Stdio};

use crate::Fingerprint;

/// Program with its arguments, or URL, of a launch, whatever variables, folder, headers and login it
/// has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LaunchTarget(Fingerprint);

impl LaunchTarget {
    /// Returns the target of a launch.
    pub(crate) fn of(launch: &Launch) -> Self {
        let target = match launch {
            Launch::Stdio(stdio) => Launch::Stdio(Stdio {
                command: stdio.command.clone(),
                args: stdio.args.clone(),
                ..Stdio::default()
            }),
            Launch::Http(http) => Launch::Http(Http {
                url: http.url.clone(),
                ..Http::default()
            }),
        };
        Self(Fingerprint::of(&target))
    }
}
