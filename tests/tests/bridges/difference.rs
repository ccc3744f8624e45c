//! Place at which two answers differ, so that a person sees it at a glance.

use serde_json::Value;

/// Fails with the first place at which two values differ.
#[track_caller]
pub(crate) fn assert_same(through: &Value, direct: &Value, what: &str) {
    if let Some(difference) = first(through, direct, "") {
        panic!("{what}: {difference}");
    }
}

fn first(through: &Value, direct: &Value, at: &str) -> Option<String> {
    match (through, direct) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let names = ours.keys().chain(theirs.keys());
            names.into_iter().find_map(|name| {
                let of = |members: &'_ serde_json::Map<String, Value>| members.get(name).cloned();
                let at = format!("{at}/{name}");
                match (of(ours), of(theirs)) {
                    (Some(through), Some(direct)) => first(&through, &direct, &at),
                    (Some(extra), None) => Some(format!("`{at}` is only in Dormouse's: {extra}")),
                    (None, missing) => missing.map(|it| format!("`{at}` is lost: {it}")),
                }
            })
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            let mut items = ours.iter().zip(theirs).enumerate();
            items.find_map(|(place, (ours, theirs))| first(ours, theirs, &format!("{at}/{place}")))
        }
        _ if through == direct => None,
        _ => Some(format!(
            "`{at}` differs\n  through Dormouse: {through}\n  directly:         {direct}"
        )),
    }
}
