//! The tools of `wit/`, each with its route in GitHub's REST API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use files::{Content, Push, WrittenFile};
use issues::{Issue, IssueComment, IssueList, IssueUpdate, NewIssue};
use pulls::{BranchUpdate, Merge, NewPullRequest, PullRequest, PullRequestList, Review};
use releases::{Release, ReleaseList, Repository};
use repositories::{CommitList, Fork, NewBranch, NewRepository, RepositorySearch};
use search::{CodeSearch, IssueSearch, UserSearch};
use serde_json::{Value, json};

use crate::http::send;
use crate::members::{
    CHANGED_FILE, FILE, FOLDER_ENTRY, FORK, FOUND_REPOSITORIES, Members, PULL_REQUEST, REFERENCE,
    RELEASE, REPOSITORY, REVIEW, REVIEW_COMMENT, STATUS, WRITTEN_FILE,
};

struct GitHub;

dormouse_sdk::plugin!(GitHub);

/// Result of a tool: JSON as text, or what is wrong.
type Answer = Result<String, String>;

impl issues::Guest for GitHub {
    fn create_issue(of: NewIssue) -> Answer {
        send("POST", "/repos/{owner}/{repo}/issues", of).map(whole)
    }

    fn get_issue(of: Issue) -> Answer {
        send("GET", "/repos/{owner}/{repo}/issues/{issue_number}", of).map(whole)
    }

    fn list_issues(of: IssueList) -> Answer {
        send("GET", "/repos/{owner}/{repo}/issues", of).map(whole)
    }

    fn update_issue(of: IssueUpdate) -> Answer {
        send("PATCH", "/repos/{owner}/{repo}/issues/{issue_number}", of).map(whole)
    }

    fn add_issue_comment(of: IssueComment) -> Answer {
        send(
            "POST",
            "/repos/{owner}/{repo}/issues/{issue_number}/comments",
            of,
        )
        .map(whole)
    }
}

impl pulls::Guest for GitHub {
    fn create_pull_request(of: NewPullRequest) -> Answer {
        send("POST", "/repos/{owner}/{repo}/pulls", of).map(only(PULL_REQUEST))
    }

    fn get_pull_request(of: PullRequest) -> Answer {
        send("GET", "/repos/{owner}/{repo}/pulls/{pull_number}", of).map(only(PULL_REQUEST))
    }

    fn list_pull_requests(of: PullRequestList) -> Answer {
        send("GET", "/repos/{owner}/{repo}/pulls", of).map(only(PULL_REQUEST))
    }

    fn get_pull_request_files(of: PullRequest) -> Answer {
        send("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/files", of).map(only(CHANGED_FILE))
    }

    fn get_pull_request_status(of: PullRequest) -> Answer {
        let pull = send("GET", "/repos/{owner}/{repo}/pulls/{pull_number}", &of)?;
        let head = json!({ "owner": of.owner, "repo": of.repo, "sha": pull.pointer("/head/sha") });
        send("GET", "/repos/{owner}/{repo}/commits/{sha}/status", head).map(only(STATUS))
    }

    fn get_pull_request_comments(of: PullRequest) -> Answer {
        send(
            "GET",
            "/repos/{owner}/{repo}/pulls/{pull_number}/comments",
            of,
        )
        .map(only(REVIEW_COMMENT))
    }

    fn get_pull_request_reviews(of: PullRequest) -> Answer {
        send(
            "GET",
            "/repos/{owner}/{repo}/pulls/{pull_number}/reviews",
            of,
        )
        .map(only(REVIEW))
    }

    fn create_pull_request_review(of: Review) -> Answer {
        send(
            "POST",
            "/repos/{owner}/{repo}/pulls/{pull_number}/reviews",
            of,
        )
        .map(only(REVIEW))
    }

    fn update_pull_request_branch(of: BranchUpdate) -> Answer {
        let done = send(
            "PUT",
            "/repos/{owner}/{repo}/pulls/{pull_number}/update-branch",
            of,
        );
        done.map(|_| whole(json!({ "success": true })))
    }

    fn merge_pull_request(of: Merge) -> Answer {
        send("PUT", "/repos/{owner}/{repo}/pulls/{pull_number}/merge", of).map(whole)
    }
}

impl files::Guest for GitHub {
    fn get_file_contents(of: Content) -> Answer {
        let found = contents(&of.owner, &of.repo, &of.path, of.branch.as_deref())?;
        Ok(if found.is_array() {
            only(FOLDER_ENTRY)(found)
        } else {
            only(FILE)(decoded(found))
        })
    }

    fn create_or_update_file(of: WrittenFile) -> Answer {
        let sha = of.sha.map(Value::from).or_else(|| {
            // Where there is no such file yet, it is made.
            let old = contents(&of.owner, &of.repo, &of.path, Some(&of.branch)).ok()?;
            old.get("sha").cloned()
        });
        let file = json!({
            "owner": of.owner,
            "repo": of.repo,
            "path": of.path,
            "message": of.message,
            "content": STANDARD.encode(of.content),
            "branch": of.branch,
            "sha": sha,
        });
        send("PUT", "/repos/{owner}/{repo}/contents/{+path}", file).map(only(WRITTEN_FILE))
    }

    fn push_files(of: Push) -> Answer {
        let (owner, repo) = (&of.owner, &of.repo);
        let head = head(owner, repo, &of.branch)?;
        let entry = |file: &files::File| json!({ "path": file.path, "mode": "100644", "type": "blob", "content": file.content });
        let files: Vec<_> = of.files.iter().map(entry).collect();
        let tree = json!({ "owner": owner, "repo": repo, "tree": files, "base_tree": head });
        let tree = send("POST", "/repos/{owner}/{repo}/git/trees", tree)?;
        let commit = json!({
            "owner": owner,
            "repo": repo,
            "message": of.message,
            "tree": tree.get("sha"),
            "parents": [head],
        });
        let commit = send("POST", "/repos/{owner}/{repo}/git/commits", commit)?;
        let update = json!({
            "owner": owner,
            "repo": repo,
            "branch": of.branch,
            "sha": commit.get("sha"),
            "force": true,
        });
        send(
            "PATCH",
            "/repos/{owner}/{repo}/git/refs/heads/{+branch}",
            update,
        )
        .map(only(REFERENCE))
    }
}

impl repositories::Guest for GitHub {
    fn search_repositories(of: RepositorySearch) -> Answer {
        let query = json!({ "q": of.query, "page": of.page, "per_page": of.per_page });
        send("GET", "/search/repositories", query).map(only(FOUND_REPOSITORIES))
    }

    fn create_repository(of: NewRepository) -> Answer {
        send("POST", "/user/repos", of).map(only(REPOSITORY))
    }

    fn fork_repository(of: Fork) -> Answer {
        send("POST", "/repos/{owner}/{repo}/forks", of).map(only(FORK))
    }

    fn create_branch(of: NewBranch) -> Answer {
        let from = match of.from_branch {
            Some(branch) => branch,
            None => default_branch(&of.owner, &of.repo)?,
        };
        let branch = json!({
            "owner": of.owner,
            "repo": of.repo,
            "ref": format!("refs/heads/{}", of.branch),
            "sha": head(&of.owner, &of.repo, &from)?,
        });
        send("POST", "/repos/{owner}/{repo}/git/refs", branch).map(only(REFERENCE))
    }

    fn list_commits(of: CommitList) -> Answer {
        send("GET", "/repos/{owner}/{repo}/commits", of).map(whole)
    }
}

impl search::Guest for GitHub {
    fn search_code(of: CodeSearch) -> Answer {
        send("GET", "/search/code", of).map(whole)
    }

    fn search_issues(of: IssueSearch) -> Answer {
        send("GET", "/search/issues", of).map(whole)
    }

    fn search_users(of: UserSearch) -> Answer {
        send("GET", "/search/users", of).map(whole)
    }
}

impl releases::Guest for GitHub {
    fn list_releases(of: ReleaseList) -> Answer {
        send("GET", "/repos/{owner}/{repo}/releases", of).map(only(RELEASE))
    }

    fn get_latest_release(of: Repository) -> Answer {
        send("GET", "/repos/{owner}/{repo}/releases/latest", of).map(only(RELEASE))
    }

    fn get_release_by_tag(of: Release) -> Answer {
        send("GET", "/repos/{owner}/{repo}/releases/tags/{tag}", of).map(only(RELEASE))
    }
}

/// Returns what a file or a folder is, as the API has it.
fn contents(owner: &str, repo: &str, path: &str, branch: Option<&str>) -> Result<Value, String> {
    let of = json!({ "owner": owner, "repo": repo, "path": path, "ref": branch });
    send("GET", "/repos/{owner}/{repo}/contents/{+path}", of)
}

fn default_branch(owner: &str, repo: &str) -> Result<String, String> {
    let of = json!({ "owner": owner, "repo": repo });
    let repository = send("GET", "/repos/{owner}/{repo}", of)?;
    let branch = repository.get("default_branch").and_then(Value::as_str);
    branch
        .map(str::to_owned)
        .ok_or_else(|| format!("`{owner}/{repo}` has no branch yet"))
}

/// Returns the commit that a branch is at.
fn head(owner: &str, repo: &str, branch: &str) -> Result<Value, String> {
    let of = json!({ "owner": owner, "repo": repo, "branch": branch });
    let reference = send("GET", "/repos/{owner}/{repo}/git/refs/heads/{+branch}", of)?;
    Ok(reference
        .pointer("/object/sha")
        .cloned()
        .unwrap_or_default())
}

/// Decodes the content of a file, which comes as lines of base64.
fn decoded(mut file: Value) -> Value {
    if let Some(content) = file.get_mut("content")
        && let Some(encoded) = content.as_str()
        && let Ok(bytes) = STANDARD.decode(encoded.split_whitespace().collect::<String>())
    {
        *content = String::from_utf8_lossy(&bytes).into();
    }
    file
}

/// Writes an answer of the API for the agent.
fn whole(answer: Value) -> String {
    format!("{answer:#}")
}

/// Writes only some of its members.
fn only(members: &'static Members) -> impl Fn(Value) -> String {
    |answer| whole(members.of(answer))
}
