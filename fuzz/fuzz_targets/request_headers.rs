#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dormouse_egress::fuzz::request_headers(data));
