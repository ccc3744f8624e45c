//! Prints without end.

use super::*;

#[test]
fn is_cut_and_stays_out_of_the_protocol() {
    let mut host = Host::with("flood");
    let start = Instant::now();
    host.client
        .text("flood__flood", json!({ "megabytes": 64 }))
        .unwrap();
    assert!(start.elapsed() < Duration::from_secs(20));
    host.stays_well();
}

#[test]
fn is_cut_where_its_user_says() {
    let host = Host::with_more("flood", "[servers.flood.limits]\noutput = '10KiB'");
    let call = ["-v", "call", "flood", "flood", r#"{"megabytes":1}"#];
    let output = host.home.run(&call).unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    let told = "printed more than 10240 bytes; the rest is dropped";
    assert!(log.contains(told), "{log:.2000}");
    assert!(
        (10 << 10..12 << 10).contains(&log.len()),
        "{} bytes",
        log.len()
    );
    host.stays_well();
}
