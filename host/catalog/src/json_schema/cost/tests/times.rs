//! Steps against the time that validating takes.

use std::time::Duration;

use dormouse_tests::growth::cpu_time;

use super::{cases, unevaluated_cases, *};
use crate::json_schema::cost::steps::count;

/// Most times as long that a step of a keyword may take as one of the yardstick's.
const MOST: f64 = 20.0;

/// Most attempts: one neighbour can spoil a measurement.
const ATTEMPTS: u32 = 5;

/// Returns the time of a step, in seconds.
fn step(what: &str, schema: &Value, value: &Value) -> f64 {
    let cost = SchemaCost::of(schema).unwrap();
    let steps = cost.steps(schema, value);
    let steps = steps.unwrap_or_else(|| panic!("{what} takes too many steps"));
    let validator = crate::validator(schema).unwrap();
    let time = |rounds: u32| {
        let start = cpu_time();
        for _ in 0..rounds {
            validator.problems(value, 1).unwrap();
        }
        (cpu_time() - start) / rounds
    };
    let rounds = (Duration::from_millis(4).as_nanos() / time(1).as_nanos().max(1)).clamp(1, 200);
    let least = (0..2).map(|_| time(u32::try_from(rounds).unwrap())).min();
    least.unwrap().as_secs_f64() / steps.validating.max(1_000) as f64
}

/// No keyword takes much longer than the steps that are counted for it, so that their number
/// bounds the time of validating.
#[test]
fn a_step_of_any_keyword_takes_about_as_long() {
    let yardstick = json!({ "items": { "type": "integer" } });
    let numbers = json!(vec![1; 50_000]);
    for (what, schema, value) in cases::of_keywords()
        .into_iter()
        .chain(unevaluated_cases::of_unevaluated())
    {
        let mut least = (f64::MAX, 0.0);
        for attempt in 1.. {
            let of_it = step(&what, &schema, &value);
            let usual = step("type", &yardstick, &numbers);
            if of_it / usual < least.0 {
                least = (of_it / usual, of_it);
            }
            if least.0 < MOST || attempt == ATTEMPTS {
                break;
            }
        }
        let (times, time) = least;
        eprintln!(
            "{what}: {times:.2} times as long, {:.1} ns a step",
            time * 1e9
        );
        assert!(
            times < MOST,
            "a step of {what} takes {times:.1} times as long as usual"
        );
    }
}

/// A pattern or reference is read once, however many values it is for: counting is done before it is
/// known whether a value takes long.
#[test]
fn long_patterns_and_references_take_no_longer_to_count_for_each_value() {
    let pattern = |braces: usize| {
        let schema = json!({ "items": { "pattern": format!("[{}]", "{".repeat(braces)) } });
        (schema, json!(vec![""; 50_000]))
    };
    let reference = |levels: usize| {
        let mut schema = json!({ "type": "integer" });
        for _ in 0..=levels {
            schema = json!({ "$defs": { "a": schema } });
        }
        let reference = format!("#/$defs/a{}", "/$defs/a".repeat(levels));
        schema["items"] = json!({ "$ref": reference });
        (schema, json!(vec![1; 50_000]))
    };
    let time = |(schema, value): &(Value, Value)| {
        let start = cpu_time();
        assert!(count(schema, value, u64::MAX).is_some());
        cpu_time() - start
    };
    for (what, short, long) in [
        ("a pattern", pattern(1), pattern(8_000)),
        ("a reference", reference(0), reference(100)),
    ] {
        let times = |of| (0..ATTEMPTS).map(|_| time(of)).min().unwrap().as_secs_f64();
        let ratio = times(&long) / times(&short);
        eprintln!("{what}: {ratio:.2} times as long");
        assert!(ratio < 3.0, "{what}: {ratio:.2} times as long");
    }
}
