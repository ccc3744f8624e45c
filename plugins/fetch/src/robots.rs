//! URLs that a robots.txt allows programs to fetch (RFC 9309).

use robotstxt::DefaultMatcher;
use url::Url;

/// Longest line that counts, in bytes. The matcher cuts longer ones, wherever that is in a character.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Returns where the robots.txt for a URL is.
pub fn url(url: &Url) -> Url {
    let mut robots = url.clone();
    robots.set_path("/robots.txt");
    robots.set_query(None);
    robots.set_fragment(None);
    robots
}

/// Whether a robots.txt allows a program to fetch a URL.
pub fn allow(robots_txt: &str, user_agent: &str, url: &Url) -> bool {
    let lines = robots_txt.lines();
    let lines: Vec<_> = lines.filter(|line| line.len() < MAX_LINE_BYTES).collect();
    let is_named = |letter: char| letter.is_ascii_alphabetic() || "-_".contains(letter);
    let name = user_agent.split(|letter| !is_named(letter)).next();
    let name = name.unwrap_or_default();
    DefaultMatcher::default().one_agent_allowed_by_robots(&lines.join("\n"), name, url.as_str())
}

#[cfg(test)]
mod tests {
    use super::{allow, url};

    const AGENT: &str = "ModelContextProtocol/1.0 (Autonomous; +https://example.com)";

    #[test]
    fn robots_txt_is_at_the_root_of_the_same_server() {
        let page = "http://example.com:8080/a/b?c=d#e".parse().unwrap();
        assert_eq!(url(&page).as_str(), "http://example.com:8080/robots.txt");
    }

    #[test]
    fn the_longest_rule_of_the_nearest_group_counts() {
        for (robots_txt, allowed, denied) in [
            ("", &["/", "/a"][..], &[][..]),
            ("User-agent: *\nDisallow: /", &[], &["/", "/a?b"]),
            ("User-agent: *\nDisallow:", &["/"], &[]),
            ("User-agent: other\nDisallow: /", &["/"], &[]),
            (
                "User-agent: *\nDisallow: /a\nAllow: /a/b # but\nDisallow: /*.pdf$",
                &["/", "/a/b/c", "/x.pdf?y"],
                &["/a", "/abc", "/x/y.pdf"],
            ),
            (
                "User-agent: *\nAllow: /\n\nuser-agent: other\nUSER-AGENT: modelcontextprotocol/1.0\ndisallow: /x",
                &["/"],
                &["/x"],
            ),
            (
                "User-agent: *\nDisallow: /\n\nUser-agent: ModelContextProtocol\nAllow: /",
                &["/", "/x"],
                &[],
            ),
            ("User-agent: *\r\nDisallow: /żółw", &["/"], &["/żółw"]),
            ("<html>There is no such page.</html>", &["/"], &[]),
        ] {
            for (paths, expected) in [(allowed, true), (denied, false)] {
                for path in paths {
                    let page = format!("https://example.com{path}").parse().unwrap();
                    assert_eq!(
                        allow(robots_txt, AGENT, &page),
                        expected,
                        "{robots_txt} {path}"
                    );
                }
            }
        }
    }

    #[test]
    fn long_lines_and_odd_names_do_no_harm() {
        let page = "https://example.com/x".parse().unwrap();
        let long = format!("# {}\nUser-agent: *\nDisallow: /", "żółw".repeat(10_000));
        for agent in [AGENT, "", "1.0", "żółw"] {
            assert!(!allow(&long, agent, &page), "{agent}");
        }
    }
}
