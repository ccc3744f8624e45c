//! Comparison of grants of HTTP requests: whether all that one allows is allowed by others.

use super::{HostPattern, HttpGrant};
use crate::SecretHost;

impl HttpGrant {
    /// Whether all requests that it allows are allowed by one or another of these grants, by what
    /// they say: the address that a host has is another question.
    #[must_use]
    pub fn is_within(&self, others: &[Self]) -> bool {
        let mut places = others.iter().filter(|other| other.has_place_of(self));
        if self.methods.is_empty() {
            return places.any(|other| other.methods.is_empty());
        }
        let places: Vec<_> = places.collect();
        let allows =
            |other: &&Self, method| other.methods.is_empty() || other.methods.contains(method);
        let mut methods = self.methods.iter();
        methods.all(|method| places.iter().any(|other| allows(other, method)))
    }

    /// Whether any request that it allows goes to a host that gets a secret.
    #[must_use]
    pub fn reaches(&self, host: &SecretHost) -> bool {
        let root = host.url();
        let at_path = root.and_then(|url| url.join(&self.path).ok());
        let method = self.methods.first().map_or("GET", String::as_str);
        at_path.is_some_and(|url| self.allows(method, &url))
    }

    /// Whether every URL of the other grant is one of this.
    fn has_place_of(&self, other: &Self) -> bool {
        (self.is_secure, self.port) == (other.is_secure, other.port)
            && self.host.contains(&other.host)
            && self.allows_path(&other.path)
    }
}

impl HostPattern {
    /// Whether every host of the other pattern is one of this.
    fn contains(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Exact(name), Self::Exact(other)) => name == other,
            (Self::Below(name), Self::Exact(other)) => is_below(other, name),
            (Self::Below(name), Self::Below(other)) => name == other || is_below(other, name),
            (Self::Exact(_) | Self::Below(_), Self::Any) | (Self::Exact(_), Self::Below(_)) => {
                false
            }
        }
    }
}

/// Whether a name is below another one.
pub(super) fn is_below(name: &str, other: &str) -> bool {
    let below = name.strip_suffix(other);
    let below = below.and_then(|below| below.strip_suffix('.'));
    below.is_some_and(|below| !below.is_empty())
}
