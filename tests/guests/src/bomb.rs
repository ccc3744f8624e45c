//! Takes all the memory it can get.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Bomb;

dormouse_sdk::plugin!(Bomb, world = "bomb");

impl Guest for Bomb {
    fn grow() -> u64 {
        let mut taken: Vec<Vec<u8>> = Vec::new();
        loop {
            // Written to, so that it is really taken.
            taken.push(vec![1; 1 << 20]);
            if std::hint::black_box(&taken).len() > 1 << 20 {
                return taken.len() as u64;
            }
        }
    }
}
