//! Members of the API's objects that agents are shown: a whole pull request is 20 KB of links.

use serde_json::Value;

/// Members of an object, or of each object of a list.
#[derive(Debug)]
pub enum Members {
    /// All that there are.
    All,
    /// These, in this order, each with its own members.
    These(&'static [(&'static str, &'static Self)]),
}

/// Lists members by their names; one that is an object itself has `: MEMBERS` behind it.
macro_rules! members {
    ($($name:ident $(: $of:ident)?),+ $(,)?) => {
        &Members::These(&[$((stringify!($name), members!(@ $($of)?))),+])
    };
    (@) => { &Members::All };
    (@ $of:ident) => { $of };
}

/// Repository.
pub const REPOSITORY: &Members = members![
    id, node_id, name, full_name, private, owner: OWNER, html_url, description, fork, url,
    created_at, updated_at, pushed_at, git_url, ssh_url, clone_url, default_branch,
];
/// Repository that was made as a copy of another one.
pub const FORK: &Members = members![
    id, node_id, name, full_name, private, owner: OWNER, html_url, description, fork, url,
    created_at, updated_at, pushed_at, git_url, ssh_url, clone_url, default_branch,
    parent: REPOSITORY, source: REPOSITORY,
];
/// Results of a search for repositories.
pub const FOUND_REPOSITORIES: &Members =
    members![total_count, incomplete_results, items: REPOSITORY];
const OWNER: &Members = members![login, id, node_id, avatar_url, url, html_url, type];
const USER: &Members = members![login, id, avatar_url, url, html_url];

/// Reference of git: a branch or a tag.
pub const REFERENCE: &Members = members![ref, node_id, url, object: OBJECT];
const OBJECT: &Members = members![sha, type, url];

/// File, with its content.
pub const FILE: &Members = members![
    name, path, sha, size, url, html_url, git_url, download_url, type, content, encoding,
    _links: FILE_LINKS,
];
const FILE_LINKS: &Members = members![self, git, html];
/// File or folder within a folder.
pub const FOLDER_ENTRY: &Members = members![
    type,
    size,
    name,
    path,
    sha,
    url,
    git_url,
    html_url,
    download_url
];
/// File that was written, and the commit of that.
pub const WRITTEN_FILE: &Members = members![content: FILE, commit: COMMIT];
const COMMIT: &Members = members![
    sha, node_id, url, html_url, author: AUTHOR, committer: AUTHOR, message, tree: TREE,
    parents: PARENT,
];
const AUTHOR: &Members = members![name, email, date];
const TREE: &Members = members![sha, url];
const PARENT: &Members = members![sha, url, html_url];

/// Pull request.
pub const PULL_REQUEST: &Members = members![
    url, id, node_id, html_url, diff_url, patch_url, issue_url, number, state, locked, title,
    user: USER, body, created_at, updated_at, closed_at, merged_at, merge_commit_sha,
    assignee: USER, assignees: USER, requested_reviewers: USER, labels: LABEL, head: BRANCH,
    base: BRANCH,
];
const LABEL: &Members = members![id, node_id, url, name, color, default, description];
const BRANCH: &Members = members![label, ref, sha, user: USER, repo: REPOSITORY];
/// File that a pull request changes.
pub const CHANGED_FILE: &Members = members![
    sha,
    filename,
    status,
    additions,
    deletions,
    changes,
    blob_url,
    raw_url,
    contents_url,
    patch,
];
/// Status of a commit, with that of each check.
pub const STATUS: &Members = members![state, statuses: CHECK, sha, total_count];
const CHECK: &Members = members![
    url,
    state,
    description,
    target_url,
    context,
    created_at,
    updated_at
];
/// Review of a pull request.
pub const REVIEW: &Members = members![
    id, node_id, user: USER, body, state, html_url, pull_request_url, commit_id, submitted_at,
    author_association,
];
/// Comment on a line of a pull request.
pub const REVIEW_COMMENT: &Members = members![
    url, id, node_id, pull_request_review_id, diff_hunk, path, position, original_position,
    commit_id, original_commit_id, user: USER, body, created_at, updated_at, html_url,
    pull_request_url, author_association, _links: COMMENT_LINKS,
];
const COMMENT_LINKS: &Members = members![self: LINK, html: LINK, pull_request: LINK];
const LINK: &Members = members![href];

/// Release.
pub const RELEASE: &Members = members![
    id, tag_name, name, body, html_url, published_at, prerelease, draft, author: USER,
];

impl Members {
    /// Returns a value with these members only. What is no object stays as it is.
    #[must_use]
    pub fn of(&self, value: Value) -> Value {
        match (self, value) {
            (Self::These(members), Value::Object(mut object)) => {
                let kept = members.iter().filter_map(|(name, members)| {
                    Some(((*name).to_owned(), members.of(object.remove(*name)?)))
                });
                Value::Object(kept.collect())
            }
            (Self::These(_), Value::Array(items)) => {
                items.into_iter().map(|item| self.of(item)).collect()
            }
            (_, value) => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{COMMENT_LINKS, FOUND_REPOSITORIES, PULL_REQUEST};

    #[test]
    fn what_is_shown_has_its_members_in_order() {
        let found = json!({
            "items": [{ "owner": { "id": 1, "login": "turtle" }, "name": "pond", "id": 7, "watchers": 3 }],
            "total_count": 1,
        });
        let shown = FOUND_REPOSITORIES.of(found).to_string();
        let expected = r#"{"total_count":1,"items":[{"id":7,"name":"pond","owner":{"login":"turtle","id":1}}]}"#;
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_no_object_stays() {
        let pulls = json!([{ "head": { "repo": null, "sha": "1" }, "labels": [] }, "odd", null]);
        assert_eq!(
            PULL_REQUEST.of(pulls.clone()).to_string(),
            r#"[{"labels":[],"head":{"sha":"1","repo":null}},"odd",null]"#
        );
        let links = json!({ "self": { "href": "x", "more": 1 } });
        assert_eq!(COMMENT_LINKS.of(links), json!({ "self": { "href": "x" } }));
    }
}
