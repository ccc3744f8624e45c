//! Links of logins, which are for the user of a call and not for the component in front of its upstream.

use dormouse_upstream::Refusal;
use dormouse_upstream::auth::NotLoggedIn;

use super::*;

const LINK: &str = "https://login.example/authorize?state=x";

/// Whether the reason for a failure is in other words for guests than for the user of the call.
fn has_link(failure: &Failure) -> bool {
    match failure {
        Failure::NotLoggedIn(why) => why.has_link(),
        Failure::Refused(_) | Failure::Barred(_) | Failure::Lost(_) => false,
    }
}

#[test]
fn no_failure_of_an_upstream_gives_its_component_the_link_of_a_login() {
    let words = "`odd` needs a login\nhint: `dormouse login odd` gives a link";
    let with_link = NotLoggedIn::with_link(format!("open this:\n{LINK}"), words.to_owned());
    let declined = NotLoggedIn::new("you have declined");
    let refusal = Refusal {
        code: -32000,
        message: "no".to_owned(),
        data: None,
    };
    for (failure, expected) in [
        (Failure::NotLoggedIn(with_link), words),
        (Failure::NotLoggedIn(declined), "you have declined"),
        (
            Failure::Barred("it is withheld".to_owned()),
            "it is withheld",
        ),
        (Failure::Refused(refusal), "no"),
        (
            Failure::Lost(Lost::Broken("it is gone".to_owned())),
            "it is gone",
        ),
        (
            Failure::Lost(Lost::Auth {
                challenge: Some(LINK.to_owned()),
            }),
            "its upstream wants you to log in",
        ),
        (
            Failure::Lost(Lost::Session),
            "the upstream has ended the session",
        ),
        (
            Failure::Lost(Lost::HostEnds),
            "Dormouse was ended before it was connected",
        ),
    ] {
        let is_in_other_words = has_link(&failure);
        let cause = cause("odd", failure);
        let for_guest = cause.text_for_guest();
        assert!(!for_guest.contains(LINK), "{for_guest}");
        assert!(for_guest.contains(expected), "{for_guest}");
        assert_eq!(
            cause.to_string().contains(LINK),
            is_in_other_words,
            "{cause}"
        );
    }
}
