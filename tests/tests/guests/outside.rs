//! Resources outside of a plugin to which nothing was granted: it reaches none of them.

use std::net::{TcpListener, UdpSocket};

use super::*;

fn reach(client: &mut Client, what: &str, port: u16) -> String {
    let reach = json!({ "what": what, "port": port });
    client.text("network__reach", reach).unwrap()
}

#[test]
fn nothing_is_reached_that_was_not_granted() {
    let home = Home::new().unwrap();
    home.guests(&["network", "echo"]).unwrap();
    let mut command = home.command(&["serve"]);
    let mut client = Client::start(command.env("SECRET", "CANARY")).unwrap();

    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let ports = [&tcp.local_addr(), &udp.local_addr()].map(|at| at.as_ref().unwrap().port());
    for port in ports {
        for what in [
            "tcp",
            "tcp 6",
            "listen",
            "udp",
            "udp unbound",
            "resolve",
            "resolve far",
            "connect",
            "bind",
            "lookup",
            "spawn",
            "root",
            "file",
            "here",
        ] {
            let said = reach(&mut client, what, port);
            assert!(said.starts_with("error: "), "{what}: {said}");
        }
    }
    assert!(tcp.accept().is_err(), "somebody has connected");
    assert!(
        udp.recv(&mut [0; 8]).is_err(),
        "somebody has sent a datagram"
    );
    assert_eq!(reach(&mut client, "arguments", 0), "[]");
    assert_eq!(reach(&mut client, "variables", 0), "[]");
    // The host's stdin is MCP: it ends at once for a guest, which takes none of it.
    assert_eq!(reach(&mut client, "stdin", 0), "Ok(0) ");
    let text = client.text("echo__echo", json!({ "text": "well" }));
    assert_eq!(text.unwrap(), "well");
    // The test sees what is sent: somebody who may reach them does.
    std::net::TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
    tcp.set_nonblocking(false).unwrap();
    tcp.accept().unwrap();
}

/// An import that a host gives to no plugin cannot be called. Components of some toolchains import
/// all of WASI, so an import alone is no reason to refuse one.
#[test]
fn imports_that_nobody_is_given_cannot_be_called() {
    for import in [
        "wasi:http/outgoing-handler@0.2.0",
        "wasi:keyvalue/store@0.2.0",
        "wasi:cli/spawn@0.2.0",
        "somebody:process/spawn@1.0.0",
    ] {
        let home = Home::new().unwrap();
        home.guests(&["echo"]).unwrap();
        let wat = format!(
            r#"(component
                (import "{import}" (instance $outside
                    (export "go" (func (param "what" u32) (result u32)))))
                (core func $go (canon lower (func $outside "go")))
                (core module $m
                    (import "outside" "go" (func $go (param i32) (result i32)))
                    (func (export "go") (result i32) (call $go (i32.const 1))))
                (core instance $i (instantiate $m
                    (with "outside" (instance (export "go" (func $go))))))
                (func (export "go") (result u32) (canon lift (core func $i "go"))))"#
        );
        let bytes = wat::parse_str(&wat).unwrap();
        let file = home.plugin_file("bad.wasm", &bytes).unwrap();
        home.server("bad", &file).unwrap();
        let mut client = home.serve().unwrap();
        let error = client.error("bad__go", json!({})).unwrap();
        let (interface, _) = import.split_once('@').unwrap();
        for part in ["`bad`", interface] {
            assert!(error.contains(part), "no `{part}` in {error}");
        }
        let text = client.text("echo__echo", json!({ "text": "well" }));
        assert_eq!(text.unwrap(), "well");
    }
}
