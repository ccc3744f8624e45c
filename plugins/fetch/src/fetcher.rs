//! Fetching of URLs: redirects are followed, and each server is asked first where it wants no
//! programs.

use url::Url;

use crate::response::Response;
use crate::robots;

/// Most redirects on the way to a page.
const MAX_REDIRECTS: usize = 20;

/// Client of the web.
#[derive(Debug)]
pub struct Fetcher<Get> {
    /// Name by which servers know it.
    pub user_agent: String,
    /// Whether it fetches only what robots.txt allows.
    pub obeys_robots: bool,
    /// Sends one GET request, with that `User-Agent`.
    pub get: Get,
}

impl<Get: Fn(&Url, &str) -> Result<Response, String>> Fetcher<Get> {
    /// Fetches a URL.
    ///
    /// # Errors
    /// There is no answer, robots.txt does not allow it, or the answer is an error of the server.
    pub fn fetch(&self, url: &Url) -> Result<Response, String> {
        let check = |hop: &Url| match self.obeys_robots {
            true => self.check_robots(hop),
            false => Ok(()),
        };
        let response = self.follow(url, check, &format!("Failed to fetch {url}"))?;
        match response.status {
            status @ 400.. => Err(format!("Failed to fetch {url} - status code {status}")),
            _ => Ok(response),
        }
    }

    /// Asks the server of a URL whether programs may fetch it.
    fn check_robots(&self, url: &Url) -> Result<(), String> {
        let at = robots::url(url);
        let failed = format!("Failed to fetch robots.txt {at} due to a connection issue");
        let response = self.follow(&at, |_| Ok(()), &failed)?;
        match response.status {
            status @ (401 | 403) => {
                return Err(format!(
                    "When fetching robots.txt ({at}), received status {status} so assuming that autonomous fetching is not allowed, the user can try manually fetching by using the fetch prompt"
                ));
            }
            400..=499 => return Ok(()),
            _ => {}
        }
        let (text, user_agent) = (response.text(), &self.user_agent);
        if robots::allow(&text, user_agent, url) {
            return Ok(());
        }
        Err(format!(
            "The sites robots.txt ({at}), specifies that autonomous fetching of this page is not allowed, \
             <useragent>{user_agent}</useragent>\n\
             <url>{url}</url><robots>\n{text}\n</robots>\n\
             The assistant must let the user know that it failed to view the page. The assistant may provide further guidance based on the above information.\n\
             The assistant can tell the user that they can try manually fetching the page by using the fetch prompt within their UI."
        ))
    }

    /// Follows redirects from a URL to what is no redirect any more. Each URL on the way is checked
    /// before it is asked for; other errors begin with the text of `failed`.
    fn follow(
        &self,
        url: &Url,
        check: impl Fn(&Url) -> Result<(), String>,
        failed: &str,
    ) -> Result<Response, String> {
        let failed = |cause: String| format!("{failed}: {cause}");
        let mut hop = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            check(&hop)?;
            let response = (self.get)(&hop, &self.user_agent).map_err(failed)?;
            match response.redirect() {
                None => return Ok(response),
                Some(target) => hop = target.map_err(failed)?,
            }
        }
        Err(failed("Exceeded maximum allowed redirects.".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use url::Url;

    use super::Fetcher;
    use crate::response::Response;

    /// Fetches a URL from servers that have these pages, each with its URL, its status and its
    /// target or text, and no others. Returns the result and what was asked for.
    fn fetch(
        url: &str,
        obeys_robots: bool,
        pages: &[(&str, u16, &str)],
    ) -> (Result<String, String>, Vec<String>) {
        let asked = RefCell::default();
        let get = |url: &Url, _: &str| {
            Vec::push(&mut asked.borrow_mut(), url.to_string());
            let page = pages.iter().find(|(at, ..)| *at == url.as_str());
            let (_, status, text) = page.ok_or("nobody is there")?;
            Ok(Response {
                url: url.clone(),
                status: *status,
                location: Some((*text).to_owned()),
                content_type: String::new(),
                body: text.as_bytes().to_vec(),
            })
        };
        let fetcher = Fetcher {
            user_agent: "Turtle/1.0".to_owned(),
            obeys_robots,
            get,
        };
        let result = fetcher.fetch(&url.parse().unwrap());
        (result.map(|response| response.text()), asked.into_inner())
    }

    #[test]
    fn redirects_are_followed_as_far_as_twenty() {
        let pages = [
            ("https://a.example/1", 301, "2?x"),
            ("https://a.example/2?x", 307, "http://b.example"),
            ("http://b.example/", 200, "found"),
            ("https://a.example/loop", 302, "loop"),
        ];
        let (result, asked) = fetch("https://a.example/1", false, &pages);
        assert_eq!((result.as_deref(), asked.len()), (Ok("found"), 3));
        let (result, asked) = fetch("https://a.example/loop", false, &pages);
        let expected =
            "Failed to fetch https://a.example/loop: Exceeded maximum allowed redirects.";
        assert_eq!((result.unwrap_err().as_str(), asked.len()), (expected, 21));
    }

    #[test]
    fn errors_of_servers_and_of_the_way_to_them_are_told() {
        let pages = [("https://a.example/", 503, "")];
        for (url, expected) in [
            (
                "https://a.example",
                "Failed to fetch https://a.example/ - status code 503",
            ),
            (
                "https://b.example",
                "Failed to fetch https://b.example/: nobody is there",
            ),
        ] {
            assert_eq!(fetch(url, false, &pages).0.unwrap_err(), expected);
        }
    }

    #[test]
    fn the_robots_txt_of_each_server_on_the_way_is_obeyed() {
        let pages = [
            ("https://a.example/robots.txt", 302, "/r.txt"),
            (
                "https://a.example/r.txt",
                200,
                "User-agent: *\nDisallow: /private",
            ),
            ("https://a.example/", 302, "https://b.example/x"),
            (
                "https://b.example/robots.txt",
                200,
                "User-agent: Turtle\nDisallow: /",
            ),
        ];
        let (result, asked) = fetch("https://a.example/private", true, &pages);
        let error = result.unwrap_err();
        for part in [
            "The sites robots.txt (https://a.example/robots.txt), specifies",
            "<useragent>Turtle/1.0</useragent>\n<url>https://a.example/private</url><robots>\nUser-agent: *\nDisallow: /private\n</robots>\n",
        ] {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(
            asked,
            ["https://a.example/robots.txt", "https://a.example/r.txt"]
        );

        let (result, asked) = fetch("https://a.example/", true, &pages);
        let error = result.unwrap_err();
        assert!(
            error.starts_with("The sites robots.txt (https://b.example/robots.txt)"),
            "{error}"
        );
        assert!(
            !asked.contains(&"https://b.example/x".to_owned()),
            "{asked:?}"
        );
    }

    #[test]
    fn what_robots_txt_is_answered_with_decides_where_there_is_none() {
        for (status, expected) in [
            (200, Ok("found")),
            (404, Ok("found")),
            (429, Ok("found")),
            (500, Ok("found")),
            (
                401,
                Err(
                    "When fetching robots.txt (https://a.example/robots.txt), received status 401 so assuming that autonomous fetching is not allowed, the user can try manually fetching by using the fetch prompt",
                ),
            ),
            (
                403,
                Err(
                    "When fetching robots.txt (https://a.example/robots.txt), received status 403 so assuming that autonomous fetching is not allowed, the user can try manually fetching by using the fetch prompt",
                ),
            ),
        ] {
            let pages = [
                ("https://a.example/robots.txt", status, ""),
                ("https://a.example/", 200, "found"),
            ];
            let (result, _) = fetch("https://a.example/", true, &pages);
            assert_eq!(result.as_deref().map_err(String::as_str), expected);
        }
        let (result, _) = fetch(
            "https://a.example/",
            true,
            &[("https://a.example/", 200, "found")],
        );
        assert_eq!(
            result.unwrap_err(),
            "Failed to fetch robots.txt https://a.example/robots.txt due to a connection issue: nobody is there"
        );
    }
}
