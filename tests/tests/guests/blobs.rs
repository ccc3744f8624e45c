//! Bytes, in both directions: as many as the limits say, and no more.

use super::*;

fn data(result: &Value) -> usize {
    result["content"][0]["data"].as_str().unwrap().len()
}

/// Returns the length of so many bytes as base64.
fn base64(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

#[test]
fn are_as_many_as_the_limit_says() {
    let mut host = Host::with("blobs");
    for bytes in [0, 1, 4_000_000, 6_000_000] {
        let result = host.client.call("blobs__image", json!({ "bytes": bytes }));
        assert_eq!(data(&result.unwrap()), base64(bytes));
    }
    // A little more is counted, much more is not even looked at.
    let hint = "set `result` in `[servers.blobs.limits]`";
    let error = host.fails("blobs__image", json!({ "bytes": 6_500_000 }), hint);
    assert!(error.contains("8388608"), "{error}");
    let error = host.fails("blobs__image", json!({ "bytes": 60_000_000 }), hint);
    assert!(error.contains("8388608"), "{error}");
    assert!(!error.contains("crash"), "{error}");
    host.stays_well();
}

#[test]
fn are_more_where_the_user_says_so() {
    let limits = "[servers.blobs.limits]\nresult = \"24MiB\"";
    let mut host = Host::with_more("blobs", limits);
    let result = host
        .client
        .call("blobs__image", json!({ "bytes": 16_000_000 }));
    assert_eq!(data(&result.unwrap()), base64(16_000_000));
    host.stays_well();
}

#[test]
fn are_limited_on_their_way_in_too() {
    let limits = "[servers.blobs.limits]\nresult = \"1MiB\"";
    let mut host = Host::with_more("blobs", limits);
    let given = |bytes: usize| json!({ "data": "A".repeat(base64(bytes)) });
    let length = host.client.call("blobs__length", given(600_000)).unwrap();
    assert_eq!(length["structuredContent"]["result"], 600_000);
    let hint = "set `result` in `[servers.blobs.limits]`";
    let error = host.fails("blobs__length", given(900_000), hint);
    assert!(
        error.contains("1200000 bytes of base64 where 1048576"),
        "{error}"
    );
    host.stays_well();
}

/// A photograph, read by the plugin that most users will read one with.
#[test]
fn are_those_of_a_file() {
    let home = Home::new().unwrap();
    let folder = home.path().join("photos");
    std::fs::create_dir(&folder).unwrap();
    let photo = folder.join("photo.jpg");
    std::fs::write(&photo, vec![7; 4_000_000]).unwrap();
    let grants = format!(
        "[servers.files.grants]\nfs = [{{ path = '{}', mode = \"ro\" }}]",
        folder.display()
    );
    let plugin = dormouse_tests::artifacts::plugin("filesystem").unwrap();
    home.server_with("files", &plugin, &grants).unwrap();
    let mut client = home.serve().unwrap();
    let result = client.call("files__read_media_file", json!({ "path": photo }));
    assert_eq!(data(&result.unwrap()), base64(4_000_000));
}
