//! Files that a trusted project's secrets are read from: those that its user was shown.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use dormouse_tests::recording_host::RecordingHost;
use dormouse_tests::{Client, Home, artifacts};
use serde_json::{Value, json};

struct Project {
    home: Home,
    host: RecordingHost,
}

impl Project {
    /// Makes a trusted project with a plugin whose requests have a file's text, `conf/key`, and a file of
    /// the user's that is no matter of the project.
    fn trusted(before: impl FnOnce(&Path)) -> Self {
        let home = Home::new().unwrap();
        let host = RecordingHost::answering("it is well").unwrap();
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        put(&home.path().join("private"), "the-users-own");
        before(&project);
        let at = format!("http://{}", host.authority());
        let guest = artifacts::guest("http").unwrap();
        let own = format!(
            "[servers.asks]\ncomponent = '{}'\ngrants.http = ['{at}']\n[servers.asks.secrets]\n\
             key = {{ file = 'conf/key', hosts = ['{at}'], header = 'X-Key' }}\n",
            guest.display()
        );
        fs::write(project.join("dormouse.toml"), own).unwrap();
        let mut trust = home.command(&["trust", "--yes"]);
        let trusted = trust.current_dir(&project).output().unwrap();
        assert!(trusted.status.success(), "{trusted:?}");
        Self { home, host }
    }

    /// Removes the record of where its files were shown.
    fn forget_where(&self) {
        fs::remove_file(self.data().join("project-folders.json")).unwrap();
    }

    fn data(&self) -> std::path::PathBuf {
        self.home.path().join("cache/data/dormouse")
    }

    fn folder(&self) -> std::path::PathBuf {
        self.home.path().join("project")
    }

    fn serve(&self) -> Client {
        Client::start(self.home.command(&["serve"]).current_dir(self.folder())).unwrap()
    }

    fn send(&self, client: &mut Client) -> Value {
        let arguments = json!({
            "method": "GET", "scheme": "http", "authority": self.host.authority(),
            "path": "/a", "headers": [], "body": "",
        });
        client.call("asks__send", arguments).unwrap()
    }
}

/// Makes a folder with a file in it that its user alone can read.
fn put(folder: &Path, text: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("key"), text).unwrap();
    fs::set_permissions(folder.join("key"), Permissions::from_mode(0o600)).unwrap();
}

/// What its user was shown is not there any more when it has become a link, or when a folder on the way
/// has, whether it was there at all.
#[test]
fn a_file_of_a_secret_that_becomes_a_link_is_not_sent() {
    let link_file = |project: &Path| {
        fs::remove_file(project.join("conf/key")).unwrap();
        symlink("../../private/key", project.join("conf/key")).unwrap();
    };
    let link_folder = |project: &Path| symlink("../private", project.join("conf")).unwrap();
    let there = |project: &Path| put(&project.join("conf"), "the-projects");
    type Step<'s> = &'s dyn Fn(&Path);
    let cases: [(Step<'_>, Step<'_>); 2] = [(&there, &link_file), (&|_| {}, &link_folder)];
    let cases = cases
        .into_iter()
        .flat_map(|case| [(case, false), (case, true)]);
    for ((before, after), is_forgotten) in cases {
        let project = Project::trusted(before);
        // Of a project that an older version has trusted, nothing is recorded.
        if is_forgotten {
            project.forget_where();
        }
        // In a host that runs, and in one that is started then.
        let mut running = project.serve();
        after(&project.folder());
        let mut started = project.serve();
        for client in [&mut running, &mut started] {
            let refused = project.send(client).to_string();
            assert!(refused.contains("a link"), "{refused}");
        }
        let received = project.host.received();
        assert!(received.is_empty(), "{received:?}");
        // Trusted once more, it is what its user is shown then.
        let mut trust = project.home.command(&["trust", "--yes"]);
        let trusted = trust.current_dir(project.folder()).output().unwrap();
        let shown = String::from_utf8(trusted.stdout).unwrap();
        assert!(shown.contains("private/key"), "{shown}");
    }
}

/// What a project names takes room that others need: nothing of it is left where it is trusted no longer.
#[test]
fn of_a_project_that_is_trusted_no_longer_no_paths_are_kept() {
    let project = Project::trusted(|project| put(&project.join("conf"), "the-projects"));
    let records = ["project-folders.json", "project-secrets.json"];
    let is_recorded = || {
        let texts = records.map(|name| fs::read_to_string(project.data().join(name)).unwrap());
        texts.map(|text| text.contains("conf/key"))
    };
    assert_eq!(is_recorded(), [true, true]);
    let mut revoke = project.home.command(&["trust", "--revoke"]);
    let revoked = revoke.current_dir(project.folder()).output().unwrap();
    assert!(revoked.status.success(), "{revoked:?}");
    assert_eq!(is_recorded(), [false, false]);
}

/// What is in its file no plugin reads, of whichever server, wherever its user works, and also where a
/// file of the project has changed, which a plugin may have done that was granted its folder.
#[test]
fn no_plugin_is_granted_a_folder_with_a_secret_of_a_project_in_it() {
    let project = Project::trusted(|project| put(&project.join("conf"), "the-projects"));
    let mut client = project.serve();
    project.send(&mut client);
    assert!(project.host.received()[0].contains("x-key: the-projects\r\n"));
    let files = artifacts::plugin("filesystem").unwrap();
    let folder = project.folder().join("conf");
    let grants = format!("grants.fs = [{{ path = '{}' }}]\n", folder.display());
    project.home.server_with("files", &files, &grants).unwrap();
    let key = folder.join("key").display().to_string();
    let reading = |client: &mut Client| {
        let read = client.call("files__read_text_file", json!({ "path": key }));
        read.unwrap().to_string()
    };
    let elsewhere = || Client::start(&mut project.home.command(&["serve"])).unwrap();
    // What an older version has trusted is recorded by the first host that works in it.
    fs::remove_file(project.data().join("project-secrets.json")).unwrap();
    let mut clients = vec![project.serve(), elsewhere()];
    let file = project.folder().join("dormouse.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text + "#").unwrap();
    clients.extend([project.serve(), elsewhere()]);
    for client in &mut clients {
        let read = reading(client);
        assert!(!read.contains("the-projects"), "{read}");
        let whys = ["takes values from", "has a secret of the project"];
        assert!(whys.iter().any(|why| read.contains(why)), "{read}");
    }
    // Whose secrets are no matter of trust any more are those of anybody.
    let mut revoke = project.home.command(&["trust", "--revoke"]);
    let revoked = revoke.current_dir(project.folder()).output().unwrap();
    assert!(revoked.status.success(), "{revoked:?}");
    let read = reading(&mut elsewhere());
    assert!(read.contains("the-projects"), "{read}");
}
