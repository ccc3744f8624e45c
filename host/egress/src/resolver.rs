//! Names are judged by the addresses that a connection is made to, so that what is checked is what
//! is connected to.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

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
    "`{name}` leads to {address}, which is {}, where what a server names may not lead ({hint})",
    AddressKind::of(*address)
)]
pub(crate) struct OutOfReach {
    name: String,
    pub(crate) address: IpAddr,
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

impl Resolve for FilteredResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let hint = self.hint;
        let is_unfiltered = self.unfiltered.iter().any(|other| other == name.as_str());
        let reach = match is_unfiltered {
            true => Reach::Configured,
            false => self.reach,
        };
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let (within, beyond): (Vec<SocketAddr>, Vec<SocketAddr>) =
                found.partition(|address| reach.allows(address.ip()));
            if let (true, Some(address)) = (within.is_empty(), beyond.first()) {
                return Err(Box::new(OutOfReach {
                    name: name.as_str().to_owned(),
                    address: address.ip(),
                    hint,
                }) as Box<dyn Error + Send + Sync>);
            }
            let within: Addrs = Box::new(within.into_iter());
            Ok(within)
        })
    }
}

impl FilteredResolver {
    /// Creates a resolver that lets these hosts lead anywhere. The hint is for people.
    pub(crate) fn new(reach: Reach, hosts: &[String], hint: &'static str) -> Arc<Self> {
        // A proxy resolves what it is asked for itself.
        let unfiltered = hosts.iter().cloned().chain(proxies());
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
