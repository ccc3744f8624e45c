//! Names are judged by the addresses that a connection is made to, so that what is checked is what
//! is connected to.

use std::error::Error;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use crate::proxies::proxies;
use crate::{AddressKind, Reach};

/// Resolves names to those of their addresses that are within reach.
#[derive(Debug)]
pub(crate) struct FilteredResolver {
    reach: Reach,
    /// Names that may lead anywhere: those that the user has configured, and proxies.
    unfiltered: Vec<String>,
    hint: &'static str,
}

/// A name that leads to nothing within reach.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{name}` leads to {address}, which is {kind}, where what a server names may not lead ({hint})"
)]
pub(crate) struct OutOfReach {
    name: String,
    address: IpAddr,
    pub(crate) kind: AddressKind,
    hint: &'static str,
}

impl OutOfReach {
    /// Returns the one among the causes of an error.
    pub(crate) fn in_causes<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            cause = error.source();
        }
        None
    }
}

/// The same, with a limit on lookups that are on their way: each takes a thread of the system's, for
/// as long as the system takes, whether anybody still waits for it or not.
#[derive(Debug)]
pub(crate) struct LimitedResolver {
    pub(crate) resolver: Arc<FilteredResolver>,
    pub(crate) kind_of: AddressKindOf,
    pub(crate) lookups: Arc<Semaphore>,
}

/// Judgement of which kind an address is.
pub(crate) type AddressKindOf = fn(IpAddr) -> AddressKind;

/// Most lookups of all plugins together that are on their way. More wait.
const MAX_ALL_LOOKUPS: usize = 64;

/// Lookups of all plugins together.
static ALL_LOOKUPS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(MAX_ALL_LOOKUPS)));

impl Resolve for FilteredResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, hint) = (self.reach_of(&name), self.hint);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            within(reach, AddressKind::of, &name, hint, found)
        })
    }
}

impl Resolve for LimitedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, hint) = (self.resolver.reach_of(&name), self.resolver.hint);
        let kind_of = self.kind_of;
        let own = Arc::clone(&self.lookups);
        Box::pin(async move {
            let permits = (
                own.acquire_owned().await?,
                Arc::clone(&ALL_LOOKUPS).acquire_owned().await?,
            );
            let host = name.as_str().to_owned();
            let lookup = tokio::task::spawn_blocking(move || {
                let found = (host.as_str(), 0).to_socket_addrs();
                drop(permits);
                found
            });
            within(reach, kind_of, &name, hint, lookup.await??)
        })
    }
}

/// Returns those of the addresses that are within reach.
fn within(
    reach: Reach,
    kind_of: AddressKindOf,
    name: &Name,
    hint: &'static str,
    found: impl Iterator<Item = SocketAddr>,
) -> Result<Addrs, Box<dyn Error + Send + Sync>> {
    let (within, beyond): (Vec<SocketAddr>, Vec<SocketAddr>) =
        found.partition(|address| reach.allows_kind(kind_of(address.ip())));
    if let (true, Some(address)) = (within.is_empty(), beyond.first()) {
        return Err(Box::new(OutOfReach {
            name: name.as_str().to_owned(),
            address: address.ip(),
            kind: kind_of(address.ip()),
            hint,
        }));
    }
    Ok(Box::new(within.into_iter()))
}

impl FilteredResolver {
    fn reach_of(&self, name: &Name) -> Reach {
        let mut unfiltered = self.unfiltered.iter();
        match unfiltered.any(|other| other == name.as_str()) {
            true => Reach::Configured,
            false => self.reach,
        }
    }

    /// Creates a resolver that lets these hosts lead anywhere. The hint is for people.
    pub(crate) fn new(reach: Reach, hosts: &[String], hint: &'static str) -> Arc<Self> {
        // A proxy resolves what it is asked for itself.
        let unfiltered = hosts.iter().chain(proxies()).cloned();
        Arc::new(Self {
            reach,
            unfiltered: unfiltered.collect(),
            hint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name granted by a pattern reaches the others of its addresses.
    #[test]
    fn addresses_of_this_machine_are_left_out_whatever_they_are() {
        fn kind_of(address: IpAddr) -> AddressKind {
            match address == IpAddr::from([93, 184, 0, 34]) {
                true => AddressKind::Loopback,
                false => AddressKind::of(address),
            }
        }
        let (own, other) = ("93.184.0.34:0", "93.184.0.66:0");
        let name: Name = "a.example".parse().unwrap();
        for (kind_of, found, expected) in [
            (kind_of as AddressKindOf, &[own, other][..], Some(1)),
            (kind_of, &[own], None),
            (AddressKind::of, &[own, other], Some(2)),
        ] {
            let found = found.iter().map(|address| address.parse().unwrap());
            let left = within(Reach::Public, kind_of, &name, "a way out", found);
            match (left, expected) {
                (Ok(left), Some(expected)) => assert_eq!(left.count(), expected),
                (Err(error), None) => {
                    let error: &(dyn Error + 'static) = &*error;
                    let kind = OutOfReach::in_causes(error).map(|beyond| beyond.kind);
                    assert_eq!(kind, Some(AddressKind::Loopback));
                }
                (left, _) => panic!("{:?} {expected:?}", left.is_ok()),
            }
        }
    }

    #[tokio::test]
    async fn names_are_judged_by_their_addresses() {
        let resolve = |reach: Reach| async move {
            let name: Name = "localhost".parse().unwrap();
            FilteredResolver::new(reach, &[], "a way out")
                .resolve(name)
                .await
                .map(Iterator::count)
        };
        let error = resolve(Reach::Public).await.unwrap_err();
        assert!(
            error.to_string().contains("`localhost` leads to"),
            "{error}"
        );
        assert!(resolve(Reach::And(AddressKind::Private)).await.is_err());
        assert!(resolve(Reach::And(AddressKind::Loopback)).await.unwrap() > 0);
    }
}
