//! Prints without end.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Flood;

dormouse_sdk::plugin!(Flood, world = "flood");

use std::io::Write as _;

impl Guest for Flood {
    fn flood(megabytes: u32) -> u64 {
        let line = [b'x'; 1 << 10];
        let mut taken = 0;
        for _ in 0..u64::from(megabytes) << 10 {
            let out = std::io::stdout().write(&line).unwrap_or(0);
            let err = std::io::stderr().write(&line).unwrap_or(0);
            taken += (out + err) as u64;
        }
        taken
    }
}
