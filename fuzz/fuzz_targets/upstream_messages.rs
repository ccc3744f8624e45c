#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dormouse_upstream::fuzz::upstream_messages(data));
