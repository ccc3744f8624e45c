//! Reach of a plugin's request, by its grants.

use dormouse_policy::{HttpGrant, grant_of_origin};
use url::Url;

use super::HttpRefusal;
use crate::host_name::{is_local_name, literal};
use crate::{AddressKind, Reach};

/// A grant of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantedReach {
    /// Addresses that the request may reach.
    pub(super) reach: Reach,
    /// Whether its host is granted exactly: of such hosts there are few, to which connections are
    /// kept.
    pub(super) is_exact: bool,
}

/// Returns how far a request may reach by these grants: as far as any of them says.
pub(super) fn reach_by<'g>(
    grants: impl Iterator<Item = &'g HttpGrant>,
    method: &str,
    url: &Url,
    is_proxied: bool,
) -> Result<GrantedReach, HttpRefusal> {
    let mut found: Option<GrantedReach> = None;
    let mut refused = None;
    for grant in grants.filter(|one| one.allows(method, url)) {
        let is_exact = grant.is_exact();
        if is_proxied && !is_exact {
            refused = Some(HttpRefusal::Proxy(wanted(url, grant.is_private())));
            continue;
        }
        let reach = match reach_to(grant, url) {
            Ok(reach) => reach,
            Err(kind) => {
                refused = Some(out_of_reach(kind, url));
                continue;
            }
        };
        found = Some(match found {
            // Of one URL, all reach the internet, and some of them one more kind of address.
            Some(before) => GrantedReach {
                reach: if reach == Reach::Public {
                    before.reach
                } else {
                    reach
                },
                is_exact: is_exact || before.is_exact,
            },
            None => GrantedReach { reach, is_exact },
        });
    }
    let not_granted = || HttpRefusal::NotGranted(wanted(url, false));
    found.ok_or_else(|| refused.unwrap_or_else(not_granted))
}

/// Returns how far requests of a grant to a URL may reach.
///
/// # Errors
/// The URL says that it leads further; with the kind of its address.
pub(super) fn reach_to(grant: &HttpGrant, url: &Url) -> Result<Reach, AddressKind> {
    let reach = reach_of(grant, url);
    if !reach.allows_url(url) {
        return Err(AddressKind::of_url(url));
    }
    let literal = literal(url).filter(|_| !grant.is_exact());
    match literal.map(AddressKind::of_other_machines) {
        Some(kind) if !reach.allows_kind(kind) => Err(kind),
        _ => Ok(reach),
    }
}

/// Returns how far requests of a grant may reach.
fn reach_of(grant: &HttpGrant, url: &Url) -> Reach {
    match grant.is_exact() {
        // The address itself is granted.
        true if literal(url).is_some() => Reach::Configured,
        true if is_local_name(url) => Reach::And(AddressKind::Loopback),
        _ if grant.is_private() => Reach::And(AddressKind::Private),
        _ => Reach::Public,
    }
}

pub(super) fn out_of_reach(kind: AddressKind, url: &Url) -> HttpRefusal {
    let is_address = literal(url).is_some() || is_local_name(url);
    let wanted = match kind {
        _ if is_address => wanted(url, false),
        AddressKind::Private => wanted(url, true),
        // A name that leads there is somebody's trick.
        _ => None,
    };
    HttpRefusal::OutOfReach { kind, wanted }
}

/// Returns the grant of all requests to a URL's host, as it is written.
fn wanted(url: &Url, is_private: bool) -> Option<String> {
    let grant = grant_of_origin(url)?.to_string();
    Some(match is_private {
        true => format!("{grant} private"),
        false => grant,
    })
}
