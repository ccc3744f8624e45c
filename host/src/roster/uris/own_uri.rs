//! URIs of Dormouse's own resources.

/// Scheme of Dormouse's own resources.
const OWN_SCHEME: &str = "dormouse";

/// Checks whether a URI or a template is of the scheme that Dormouse keeps for itself.
pub(in super::super) fn is_own(uri: &str) -> bool {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case(OWN_SCHEME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_scheme_is_known_however_it_is_written() {
        for (uri, own) in [
            ("dormouse://status", true),
            ("DORMOUSE://status", true),
            ("dormouse:x", true),
            ("dormouse:{+x}", true),
            ("dormouse", false),
            ("dormouses://x", false),
            ("x://dormouse:", false),
        ] {
            assert_eq!(is_own(uri), own, "{uri}");
        }
    }
}
