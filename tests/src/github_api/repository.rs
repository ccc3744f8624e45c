//! The repository of the stand-in, with what is written into it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::request::Request;
use super::response::Response;
use super::{LIMITED, MOVED, TOKEN, with};

/// Content of `README.md`, as the API has it.
const README: &str = "SGVsbG8sIMW8w7PFgncKSGVsbG8sIMW8w7PFgncKSGVsbG8sIMW8w7PFgncK\nSGVsbG8K\n";

/// The repository, and what the API has for all else.
pub(super) struct Repository {
    /// A body of each kind.
    bodies: Value,
    issues: Vec<Value>,
    comments: Vec<Value>,
    /// Contents of files, encoded, each with the hash that it is known by.
    files: BTreeMap<String, (String, String)>,
    branches: BTreeMap<String, Value>,
    pulls: Vec<Value>,
    reviews: Vec<Value>,
}

impl Repository {
    pub(super) fn new(bodies: Value) -> Self {
        let of = |kind: &str| bodies.get(kind).cloned().unwrap_or_default();
        let readme = (
            README.to_owned(),
            "3d21ec53a331a6f037a91c368710b99387d012c1".to_owned(),
        );
        Self {
            issues: Vec::new(),
            comments: Vec::new(),
            files: BTreeMap::from([("README.md".to_owned(), readme)]),
            branches: BTreeMap::from([("main".to_owned(), of("reference"))]),
            pulls: vec![of("pull")],
            reviews: vec![of("review")],
            bodies,
        }
    }

    /// Returns a body of a kind, with these members in place of its own.
    fn body(&self, kind: &str, members: &Value) -> Value {
        with(self.bodies.get(kind).unwrap_or(&Value::Null), members)
    }

    pub(super) fn answer(&mut self, request: &Request) -> Response {
        if request.authorization.as_deref() != Some(&format!("Bearer {TOKEN}")) {
            return Response::error(401, "Bad credentials");
        }
        let path: Vec<_> = request.path.trim_start_matches('/').split('/').collect();
        let body = &request.body;
        match (request.method.as_str(), path.as_slice()) {
            (method, ["repos", "octocat", "Hello-World", of @ ..]) => {
                self.of_repository(method, of, request)
            }
            (_, ["repos", "octocat", LIMITED, ..]) => {
                let refused = Response::error(403, "API rate limit exceeded for user ID 583231.");
                refused.with_header("x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 4102444800")
            }
            (_, ["repos", "octocat", MOVED, rest @ ..]) => {
                let location = format!("/repos/octocat/Hello-World/{}", rest.join("/"));
                Response::error(301, "Moved Permanently")
                    .with_header(&format!("location: {}", location.trim_end_matches('/')))
            }
            ("POST", ["user", "repos"]) => match body.get("name") {
                Some(name) => Response::new(201, self.body("repository", &json!({ "name": name }))),
                None => Response::invalid("name", "missing_field"),
            },
            ("GET", ["search", what]) => match self.found(what) {
                Some(found) if request.query.get("q").is_some_and(|q| !q.is_empty()) => {
                    Response::ok(json!({
                        "total_count": found.len(), "incomplete_results": false, "items": found,
                    }))
                }
                Some(_) => Response::invalid("q", "missing"),
                None => Response::error(404, "Not Found"),
            },
            _ => Response::error(404, "Not Found"),
        }
    }

    fn found(&self, what: &str) -> Option<Vec<Value>> {
        let none = Value::Null;
        Some(match what {
            "repositories" => vec![self.body("repository", &json!({ "score": 1.0 }))],
            "code" => vec![self.body("found_code", &none)],
            "users" => vec![self.body("found_user", &none)],
            "issues" => self.issues.clone(),
            _ => return None,
        })
    }

    fn of_repository(&mut self, method: &str, path: &[&str], request: &Request) -> Response {
        let body = &request.body;
        let all = |kind: &str| Response::ok(json!([self.body(kind, &Value::Null)]));
        match (method, path) {
            ("GET", []) => Response::ok(self.body("repository", &Value::Null)),
            ("POST", ["forks"]) => Response::new(202, self.body("fork", &Value::Null)),
            ("GET", ["commits"]) => all("listed_commit"),
            ("GET", ["commits", sha, "status"]) => {
                Response::ok(self.body("status", &json!({ "sha": sha })))
            }
            ("GET", ["releases"]) => all("release"),
            ("GET", ["releases", "latest"] | ["releases", "tags", "v1.0.0"]) => {
                Response::ok(self.body("release", &Value::Null))
            }
            (_, ["issues", of @ ..]) => self.of_issues(method, of, request),
            (_, ["pulls", of @ ..]) => self.of_pulls(method, of, body),
            (_, ["contents", file @ ..]) => self.of_contents(method, &file.join("/"), body),
            (_, ["git", of @ ..]) => self.of_git(method, of, body),
            _ => Response::error(404, "Not Found"),
        }
    }

    fn of_issues(&mut self, method: &str, path: &[&str], request: &Request) -> Response {
        let body = &request.body;
        match (method, path) {
            ("GET", []) => {
                let state = request.query.get("state").map_or("open", String::as_str);
                let is_listed =
                    |issue: &&Value| state == "all" || issue.get("state") == Some(&json!(state));
                Response::ok(
                    self.issues
                        .iter()
                        .rev()
                        .filter(is_listed)
                        .cloned()
                        .collect(),
                )
            }
            ("POST", []) if body.get("title").is_none() => {
                Response::invalid("title", "missing_field")
            }
            ("POST", []) => {
                let made = self.body("issue", &json!({ "number": self.issues.len() + 1 }));
                let made = with(&made, &self.expanded(body));
                self.issues.push(made.clone());
                Response::new(201, made)
            }
            (_, [number, more @ ..]) => {
                let found = number
                    .parse::<usize>()
                    .ok()
                    .and_then(|number| number.checked_sub(1));
                let Some(issue) = found.and_then(|at| self.issues.get(at)).cloned() else {
                    return Response::error(404, "Not Found");
                };
                match (method, more) {
                    ("GET", []) => Response::ok(issue),
                    ("PATCH", []) => {
                        let changed = with(&issue, &self.expanded(body));
                        if let Some(place) = found.and_then(|at| self.issues.get_mut(at)) {
                            *place = changed.clone();
                        }
                        Response::ok(changed)
                    }
                    ("POST", ["comments"]) => {
                        let made = self.body("comment", &json!({ "id": self.comments.len() + 1 }));
                        let made = with(&made, body);
                        self.comments.push(made.clone());
                        Response::new(201, made)
                    }
                    _ => Response::error(404, "Not Found"),
                }
            }
            _ => Response::error(404, "Not Found"),
        }
    }

    /// Returns what is written into an issue, as it is read: with whole labels, and when it was
    /// closed.
    fn expanded(&self, body: &Value) -> Value {
        let mut body = body.clone();
        if let Some(labels) = body.get_mut("labels").and_then(Value::as_array_mut) {
            for label in labels {
                *label = self.body("label", &json!({ "name": label }));
            }
        }
        if body.get("milestone").is_some() {
            let number = json!({ "number": body.get("milestone") });
            body = with(
                &body,
                &json!({ "milestone": self.body("milestone", &number) }),
            );
        }
        match body.get("state").and_then(Value::as_str) {
            Some("closed") => with(&body, &json!({ "closed_at": "2026-10-02T10:00:00Z" })),
            _ => body,
        }
    }

    fn of_pulls(&mut self, method: &str, path: &[&str], body: &Value) -> Response {
        let all = |kind: &str| Response::ok(json!([self.body(kind, &Value::Null)]));
        match (method, path) {
            ("GET", []) => Response::ok(self.pulls.iter().cloned().collect()),
            ("POST", []) => {
                let [title, text, draft] = ["title", "body", "draft"]
                    .map(|name| body.get(name).cloned().unwrap_or_default());
                let members =
                    json!({ "number": 1348, "title": title, "body": text, "draft": draft });
                let made = self.body("pull", &members);
                self.pulls.push(made.clone());
                Response::new(201, made)
            }
            (_, ["1347", more @ ..]) => match (method, more) {
                ("GET", []) => Response::ok(self.body("pull", &Value::Null)),
                ("GET", ["files"]) => all("changed_file"),
                ("GET", ["comments"]) => all("review_comment"),
                ("GET", ["reviews"]) => Response::ok(self.reviews.iter().cloned().collect()),
                ("POST", ["reviews"]) => {
                    let made = json!({ "body": body.get("body"), "state": "COMMENTED", "id": 81 });
                    let made = self.body("review", &made);
                    self.reviews.push(made.clone());
                    Response::ok(made)
                }
                ("PUT", ["merge"]) => Response::ok(self.body("merged", &Value::Null)),
                ("PUT", ["update-branch"])
                    if body.get("expected_head_sha") == Some(&json!("0")) =>
                {
                    Response::error(422, "expected_head_sha didn’t match current head ref.")
                }
                ("PUT", ["update-branch"]) => {
                    Response::new(202, json!({ "message": "Updating pull request branch." }))
                }
                _ => Response::error(404, "Not Found"),
            },
            _ => Response::error(404, "Not Found"),
        }
    }

    fn of_contents(&mut self, method: &str, path: &str, body: &Value) -> Response {
        let named = |path: &str| self.body("content", &json!({ "name": path, "path": path }));
        match (method, self.files.get(path)) {
            ("GET", Some((content, sha))) => {
                let content = json!({ "content": content, "encoding": "base64", "sha": sha });
                Response::ok(with(&named(path), &content))
            }
            ("GET", None) if path.is_empty() => {
                Response::ok(self.files.keys().map(|path| named(path)).collect())
            }
            ("PUT", old) if old.map(|(_, sha)| json!(sha)) != body.get("sha").cloned() => {
                match body.get("sha") {
                    Some(sha) => Response::error(409, &format!("{path} does not match {sha}")),
                    None => Response::error(422, "Invalid request.\n\n\"sha\" wasn't supplied."),
                }
            }
            ("PUT", old) => {
                let status = if old.is_some() { 200 } else { 201 };
                let content = body
                    .get("content")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let sha = format!("{:040x}", content.len());
                let file = with(&named(path), &json!({ "sha": sha }));
                let commit = self.body("git_commit", &json!({ "message": body.get("message") }));
                self.files
                    .insert(path.to_owned(), (content.to_owned(), sha));
                Response::new(status, json!({ "content": file, "commit": commit }))
            }
            _ => Response::error(404, "Not Found"),
        }
    }

    fn of_git(&mut self, method: &str, path: &[&str], body: &Value) -> Response {
        match (method, path) {
            ("GET", ["refs", "heads", branch @ ..]) => match self.branches.get(&branch.join("/")) {
                Some(reference) => Response::ok(reference.clone()),
                None => Response::error(404, "Not Found"),
            },
            ("POST", ["refs"]) => {
                let name = body.get("ref").and_then(Value::as_str).unwrap_or_default();
                let name = name.trim_start_matches("refs/heads/").to_owned();
                if self.branches.contains_key(&name) {
                    return Response::error(422, "Reference already exists");
                }
                let made = self.reference(&name, body);
                self.branches.insert(name, made.clone());
                Response::new(201, made)
            }
            ("PATCH", ["refs", "heads", branch @ ..]) => {
                let name = branch.join("/");
                let changed = self.reference(&name, body);
                self.branches.insert(name, changed.clone());
                Response::ok(changed)
            }
            ("POST", ["trees"]) => Response::new(201, self.body("tree", &Value::Null)),
            ("POST", ["commits"]) => {
                let commit = json!({ "message": body.get("message") });
                Response::new(201, self.body("git_commit", &commit))
            }
            _ => Response::error(404, "Not Found"),
        }
    }

    fn reference(&self, name: &str, body: &Value) -> Value {
        let object = json!({ "type": "commit", "sha": body.get("sha"), "url": "" });
        self.body(
            "reference",
            &json!({ "ref": format!("refs/heads/{name}"), "object": object }),
        )
    }
}
