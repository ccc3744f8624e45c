//! Pages, as an agent reads them.

use crate::response::Response;

/// Characters from the start of a page in which `<html` says what it is, whatever its content type.
const SNIFFED_CHARACTERS: usize = 100;

/// Page, in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Note on the content, in a line of its own: empty where it is markdown.
    pub note: String,
    /// Its content: an article as markdown, or anything as it came.
    pub content: String,
}

impl Page {
    /// Makes a page of a response: of HTML its article, unless it is wanted raw.
    pub fn new(response: &Response, raw: bool) -> Self {
        let text = response.text();
        let kind = &response.content_type;
        let start: String = text.chars().take(SNIFFED_CHARACTERS).collect();
        let is_html = start.contains("<html") || kind.contains("text/html") || kind.is_empty();
        if is_html && !raw {
            return Self {
                note: String::new(),
                content: markdown(&text, response.url.as_str()),
            };
        }
        Self {
            note: format!(
                "Content type {kind} cannot be simplified to markdown, but here is the raw content:\n"
            ),
            content: text,
        }
    }

    /// Returns at most `length` characters of the content, from the one at `start` on, and how to
    /// go on.
    pub fn part(&self, start: u32, length: u32) -> String {
        let [start, length] =
            [start, length].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let mut rest = self.content.chars().skip(start);
        let mut part: String = rest.by_ref().take(length).collect();
        if part.is_empty() {
            return "<error>No more content available.</error>".to_owned();
        }
        if rest.next().is_some() {
            let next = start + length;
            part += &format!(
                "\n\n<error>Content truncated. Call the fetch tool with a start_index of {next} to get more content.</error>"
            );
        }
        part
    }
}

/// Returns the article of a page as markdown, with links that are absolute.
fn markdown(html: &str, url: &str) -> String {
    match legible::parse(html, Some(url), None) {
        Ok(article) => article.markdown_content,
        Err(_) => "<error>Page failed to be simplified from HTML</error>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Page;
    use crate::response::Response;

    fn page(content_type: &str, body: &str, raw: bool) -> Page {
        let response = Response {
            url: "https://example.com/articles/turtles".parse().unwrap(),
            status: 200,
            location: None,
            content_type: content_type.to_owned(),
            body: body.as_bytes().to_vec(),
        };
        Page::new(&response, raw)
    }

    #[test]
    fn html_becomes_markdown_unless_it_is_wanted_raw() {
        let html = "<!doctype html><html><body><p>A <b>turtle</b>.</p></body></html>";
        for content_type in ["text/html; charset=utf-8", "", "text/plain"] {
            let found = page(content_type, html, false);
            assert_eq!(
                (found.note.as_str(), found.content.trim()),
                ("", "A **turtle**.")
            );
        }
        let note = |kind: &str| {
            format!(
                "Content type {kind} cannot be simplified to markdown, but here is the raw content:\n"
            )
        };
        let raw = page("text/html", html, true);
        assert_eq!((raw.note, raw.content.as_str()), (note("text/html"), html));
        let json = page("application/json", "{}", false);
        assert_eq!(
            (json.note, json.content.as_str()),
            (note("application/json"), "{}")
        );
    }

    #[test]
    fn an_empty_page_is_an_error_in_its_text() {
        for html in [
            "",
            "<html><body></body></html>",
            "<script>turtle()</script>",
        ] {
            let found = page("text/html", html, false);
            assert_eq!(
                found.content,
                "<error>Page failed to be simplified from HTML</error>"
            );
        }
    }

    #[test]
    fn an_article_keeps_its_headings_links_lists_and_code() {
        let text = "Turtles are slow, but they have been here for a long time, and carry their house along. ";
        let html = format!(
            "<html><head><title>Turtles</title><style>p {{ color: red }}</style></head><body>
             <nav><a href='/'>Home</a> <a href='/login'>Log in</a></nav>
             <article><h1>Turtles</h1><p>{text}</p>
             <h2>Food</h2><p>{text}<a href='../food?a=b'>What they eat</a>.</p>
             <ul><li>salad</li><li>strawberries</li></ul>
             <h3>Code</h3><pre><code>turtle.forward(1)</code></pre><p>{text}</p></article>
             <script>follow()</script><footer>Imprint</footer></body></html>"
        );
        let found = page("text/html", &html, false).content;
        for expected in [
            "## Food",
            "### Code",
            "[What they eat](https://example.com/food?a=b)",
            "- salad\n",
            "```\nturtle.forward(1)\n```",
        ] {
            assert!(found.contains(expected), "no {expected:?} in {found}");
        }
        for other in ["Log in", "follow()", "Imprint", "color"] {
            assert!(!found.contains(other), "{other:?} in {found}");
        }
    }

    #[test]
    fn parts_are_counted_in_characters() {
        let page = Page {
            note: String::new(),
            content: "żółwik".to_owned(),
        };
        let more = |part: &str, next: u32| {
            format!(
                "{part}\n\n<error>Content truncated. Call the fetch tool with a start_index of {next} to get more content.</error>"
            )
        };
        let end = "<error>No more content available.</error>";
        for (start, length, expected) in [
            (0, 6, "żółwik".to_owned()),
            (0, 5000, "żółwik".to_owned()),
            (0, 4, more("żółw", 4)),
            (2, 3, more("łwi", 5)),
            (4, 4, "ik".to_owned()),
            (6, 1, end.to_owned()),
            (u32::MAX, 999_999, end.to_owned()),
        ] {
            assert_eq!(page.part(start, length), expected, "{start} {length}");
        }
    }
}
