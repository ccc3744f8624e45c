//! Texts of secrets that were sent for one server, whatever has become of these secrets since.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_launch::Secret;
use dormouse_policy::HttpSecret;
use parking_lot::Mutex;
use url::Url;

use super::Mask;
use super::plugin_secret::ResolvedSecret;

/// Most texts of one secret that are kept: the one in use, and earlier ones, which a host may repeat.
const MAX_KEPT: usize = 64;

/// Texts of secrets that were sent for one server. They are kept longer than its plugin and its
/// configuration, because a host may repeat what is still valid to whatever has the server's name later.
#[derive(Default)]
pub struct SentSecrets {
    /// By the names of their secrets, the last used one last.
    texts: Mutex<BTreeMap<String, VecDeque<SentText>>>,
    /// Number of texts that were added so far.
    added: AtomicUsize,
}

/// Text that the hosts of a secret may have got, which stands where that secret stood then.
struct SentText {
    secret: HttpSecret,
    resolved: Arc<ResolvedSecret>,
}

impl SentText {
    fn is_same(&self, secret: &HttpSecret, resolved: &ResolvedSecret) -> bool {
        self.resolved.text == resolved.text
            && self.secret.hosts == secret.hosts
            && self.secret.placement == secret.placement
    }
}

impl SentSecrets {
    /// Adds the text of a secret, before a request has it.
    pub(super) fn add(&self, secret: &HttpSecret, resolved: &Arc<ResolvedSecret>) {
        let mut all = self.texts.lock();
        let of_secret = all.entry(secret.name.clone()).or_default();
        let mut known = of_secret.iter();
        let known = known.position(|sent| sent.is_same(secret, resolved));
        let known = known.and_then(|index| of_secret.remove(index));
        let is_new = known.is_none();
        of_secret.push_back(known.unwrap_or_else(|| SentText {
            secret: secret.clone(),
            resolved: Arc::clone(resolved),
        }));
        if of_secret.len() > MAX_KEPT {
            of_secret.pop_front();
        }
        if is_new {
            self.added.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Returns the number of texts that were added so far, by which others than before are noticed.
    pub(super) fn added(&self) -> usize {
        self.added.load(Ordering::Acquire)
    }

    /// Whether the host of a URL may have got any.
    pub(super) fn has_any_of(&self, url: &Url) -> bool {
        let all = self.texts.lock();
        all.values().flatten().any(|sent| sent.secret.goes_to(url))
    }

    /// Returns the mask of all that the host of a URL may have got.
    pub(super) fn mask(&self, url: &Url) -> Mask {
        let all = self.texts.lock();
        let of_host = all.values().flatten();
        let of_host = of_host.filter(|sent| sent.secret.goes_to(url));
        let patterns = of_host.flat_map(|sent| sent.resolved.patterns.iter().cloned());
        Mask::new(patterns.collect())
    }

    /// Returns all texts.
    pub(super) fn texts(&self) -> Vec<Secret> {
        let all = self.texts.lock();
        let all = all.values().flatten();
        all.map(|sent| sent.resolved.text.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use dormouse_policy::{SecretPlacement, SecretSource};

    use super::super::pattern::Pattern;
    use super::*;

    fn secret(host: &str) -> HttpSecret {
        HttpSecret {
            name: "key".to_owned(),
            source: SecretSource::Variable("KEY".to_owned()),
            hosts: vec![host.parse().unwrap()],
            placement: SecretPlacement::Query("key".to_owned()),
        }
    }

    fn resolved(text: &str) -> Arc<ResolvedSecret> {
        Arc::new(ResolvedSecret {
            text: Secret::new(text),
            patterns: Pattern::new(text).into_iter().collect(),
        })
    }

    fn hides(sent: &SentSecrets, host: &str, text: &str) -> bool {
        let url = Url::parse(&format!("https://{host}/")).unwrap();
        sent.mask(&url).hidden_in(text.as_bytes()).is_some()
    }

    #[test]
    fn each_text_is_hidden_in_what_its_own_hosts_say() {
        let sent = SentSecrets::default();
        for (host, text) in [
            ("a.example", "text-of-the-first-host"),
            ("b.example", "text-of-the-second-host"),
            ("b.example", "text-of-the-second-host"),
        ] {
            sent.add(&secret(host), &resolved(text));
        }
        assert_eq!((sent.added(), sent.texts().len()), (2, 2));
        assert!(hides(&sent, "a.example", "text-of-the-first-host"));
        assert!(hides(&sent, "b.example", "text-of-the-second-host"));
        assert!(!hides(&sent, "b.example", "text-of-the-first-host"));
        let other = Url::parse("https://c.example/").unwrap();
        assert!(!sent.has_any_of(&other) && sent.mask(&other).is_empty());
    }

    #[test]
    fn the_text_in_use_is_kept_however_many_have_come() {
        let sent = SentSecrets::default();
        let text = |number: usize| format!("text-number-{number}-of-the-secret");
        for number in 1..=MAX_KEPT * 2 {
            sent.add(&secret("a.example"), &resolved(&text(0)));
            sent.add(&secret("a.example"), &resolved(&text(number)));
        }
        assert_eq!(sent.texts().len(), MAX_KEPT);
        assert!(hides(&sent, "a.example", &text(0)));
        assert!(hides(&sent, "a.example", &text(MAX_KEPT * 2)));
        assert!(!hides(&sent, "a.example", &text(1)));
    }
}
