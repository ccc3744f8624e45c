//! Files of plugins that are replaced or removed while a call runs.

use dormouse_tests::artifacts;
use dormouse_tests::recording_host::{self, RecordingHost};
use dormouse_tests::wait;

use super::*;

/// Packs the guest `http` so that one of its tools only reads.
fn packed_to_read(home: &Home) -> String {
    let wit = artifacts::workspace().join("tests/guests/wit/guests.wit");
    let wit = std::fs::read_to_string(wit).unwrap();
    let tool = "    export time-gets: ";
    assert!(wit.contains(tool), "{wit}");
    let reading = wit.replace(tool, &format!("    /// @readonly\n{tool}"));
    let file = home.path().join("reading.wit");
    std::fs::write(&file, reading).unwrap();
    let [component, wit, packed] = [
        artifacts::guest("http").unwrap(),
        file,
        home.path().join("own.wasm"),
    ]
    .map(|path| path.to_str().unwrap().to_owned());
    let pack = [
        "pack", &component, "--wit", &wit, "--world", "http", "-o", &packed,
    ];
    let output = home.run(&pack).unwrap();
    assert!(output.status.success(), "{output:?}");
    packed
}

/// It was judged by its own file, which only reads: none is there by then, or one that does not have the
/// tool, or one whose tool may destroy.
#[test]
fn a_call_goes_on_with_the_file_that_it_began_with() {
    for other in [None, Some("echo"), Some("http")] {
        let api = RecordingHost::start(|_| {
            std::thread::sleep(Duration::from_millis(50));
            recording_host::http("200 OK", "", "it is well")
        })
        .unwrap();
        let home = Home::new().unwrap();
        let file = packed_to_read(&home);
        let at = api.authority();
        let more = format!("grants.http = ['http://{at}']\n");
        home.server_with("http", file.as_ref(), &more).unwrap();
        let servers = std::fs::read_to_string(home.config()).unwrap();
        let exposure = "[exposure]\nmode = 'direct'\nconfirm = ['destructive']\n\n";
        std::fs::write(home.config(), format!("{exposure}{servers}")).unwrap();
        let mut client = Client::start(&mut home.command(&["serve"])).unwrap();
        let listed = client.tools().unwrap();
        let arguments = json!({ "authority": at, "count": 900, "in_flight": 1 });
        let call = json!({ "name": "http__time_gets", "arguments": arguments });
        client.send("tools/call", call).unwrap();
        let comes = |count: usize| {
            wait::until("more requests", || {
                anyhow::ensure!(api.received().len() >= count, "{other:?}");
                Ok(())
            })
            .unwrap();
        };
        comes(3);
        std::fs::remove_file(&file).unwrap();
        if let Some(other) = other {
            std::fs::copy(artifacts::guest(other).unwrap(), &file).unwrap();
        }
        wait::until("the other file to be noticed", || {
            anyhow::ensure!(client.tools()? != listed, "{other:?}");
            Ok(())
        })
        .unwrap();
        comes(api.received().len() + 3);
    }
}
