//! Properties of everything that is done with bytes, whatever they are.

use dormouse_wit::section;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Returns one component of each kind.
fn good() -> Vec<Vec<u8>> {
    let adapter = adapter("dormouse:plugin/adapter@0.1.0", 2);
    let declared = by_name(&[("ask", tool("ask"))]);
    let object = json!({ "uri": "notes://all", "name": "notes" });
    let notes = with_items("resources", &[("notes://all", object)]);
    vec![
        typed(),
        with_interface(),
        front(&typed(), &words("Adds.")),
        back(&typed(), &section::encode(&words("Adds.")).unwrap()),
        front(&adapter, &declared),
        front(&resources("failed"), &notes),
    ]
}

/// Does everything that is done with bytes. It returns if nothing panics, and checks the few
/// properties that hold for any bytes.
fn all(bytes: &[u8]) {
    assert!(crate::addressed_bytes::with_addressed_bytes(bytes).starts_with(bytes));
    let findings = check(bytes);
    if listing::bytes(bytes).is_err() {
        assert!(!findings.is_empty(), "unreadable, but fine with `check`");
        assert!(inspect(bytes).is_err());
    }
    if let Ok(packed) = pack(bytes, None) {
        assert!(listing::bytes(&packed).is_ok() || listing::bytes(bytes).is_err());
    }
}

#[test]
fn the_components_of_these_tests_are_good() {
    for bytes in good() {
        listing::bytes(&bytes).unwrap();
        inspect(&bytes).unwrap();
        let packed = pack(&bytes, None).unwrap();
        // What was derived from types has no words.
        let mut findings = check(&packed);
        findings.retain(|one| !one.message.contains("no description"));
        assert_eq!(findings, []);
    }
}

#[test]
fn no_cut_panics() {
    for bytes in good() {
        for end in 0..bytes.len() {
            all(&bytes[..end]);
        }
    }
}

#[test]
fn no_changed_byte_panics() {
    for good in good() {
        for at in 0..good.len() {
            for change in [0x01, 0x40, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                all(&bytes);
            }
        }
    }
}

/// A change to a file: of a byte, or of its length.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0..4096_usize;
    prop_oneof![
        4 => (at.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => (at.clone(), 1..64_usize).prop_map(|(at, many)| Change::Remove(at, many)),
        1 => (at, prop::collection::vec(any::<u8>(), 1..32))
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_changes_panic(which in 0..6_usize, changes in prop::collection::vec(change(), 1..6)) {
        let mut bytes = good().swap_remove(which);
        for change in changes {
            let length = bytes.len();
            match change {
                Change::Set(at, byte) => bytes[at % length] = byte,
                Change::Remove(at, many) => {
                    let start = at % length;
                    bytes.drain(start..(start + many).min(length));
                }
                Change::Insert(at, new) => {
                    let at = at % (length + 1);
                    bytes.splice(at..at, new);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        all(&bytes);
    }

    #[test]
    fn no_section_panics(content in prop::collection::vec(any::<u8>(), 0..256)) {
        all(&section::insert(&typed(), &content).unwrap());
        let mut whole = u32::try_from(content.len()).unwrap().to_le_bytes().to_vec();
        whole.extend(content);
        all(&back(&typed(), &whole));
    }
}
