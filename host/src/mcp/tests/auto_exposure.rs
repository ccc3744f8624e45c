//! Agents that are shown tools in the way that is decided by what these cost and by their client.

use dormouse_policy::exposure::{DecisionReason, ShownMode, TooManyTools};

use super::exposure::deferred;
use super::*;
use crate::mcp::count_deciding_texts;
use crate::mcp::exposure::decision;

#[tokio::test(flavor = "multi_thread")]
async fn auto_lists_all_within_the_budget_and_else_what_the_client_can_take() {
    for (client, expose, first) in [
        ("test", "exposure.mode = 'auto'", "math__add"),
        (
            "test",
            "exposure = { mode = 'auto', budget = 1 }",
            "math__add",
        ),
        ("test", TINY, "search_tools"),
        ("Cline", TINY, "list_servers"),
        ("claude-code", TINY, "math__add"),
        ("Zed", TINY, "search_tools"),
    ] {
        let home = match expose == TINY {
            true => many(expose),
            false => {
                let home = Home::new();
                home.write("a.wasm", &component(&[ADD]));
                let server = "[servers.math]\ncomponent = 'a.wasm'\n";
                home.write("dormouse.toml", format!("{expose}\n{server}").as_bytes());
                home
            }
        };
        let mut agent = Agent::of(&home.open());
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": client, "version": "1"},
        });
        agent.ask("initialize", hello).await;
        let names = agent.names().await;
        let is_right = names[0].starts_with(first);
        assert!(is_right, "{client} {expose}: {}", names[0]);
        // A request that belongs to no session gets what all such get.
        let listed = agent.ask("tools/list", stateless(json!({}))).await["result"]["tools"].clone();
        let is_listed = listed[0]["name"].as_str().unwrap().starts_with("math__");
        assert_eq!(is_listed, expose != TINY, "{client}");
    }
}

/// A home with a server of 200 tools, which cannot cost less than what stands for them.
fn many(exposure: &str) -> Home {
    let home = Home::new();
    let named = |text: &str, number: usize| text.replace("add\"", &format!("add{number}\""));
    let functions = (0..200).map(|number| (named(ADD.0, number), named(ADD.1, number)));
    let functions: Vec<_> = functions.collect();
    let functions = functions
        .iter()
        .map(|(core, lifted)| (core.as_str(), lifted.as_str()));
    home.write("a.wasm", &component(&functions.collect::<Vec<_>>()));
    let text = format!("{exposure}\n[servers.math]\ncomponent = 'a.wasm'\n");
    home.write("dormouse.toml", text.as_bytes());
    home
}

/// What is counted decides from the next start on, and the same at each.
#[test]
fn counts_decide_in_place_of_estimates() {
    let cost = |home: &Home| match decision(&home.open().snapshot(), None).reason {
        DecisionReason::WithinBudget {
            tokens,
            is_estimate,
            ..
        }
        | DecisionReason::NothingNeeded(TooManyTools::Tokens {
            tokens,
            is_estimate,
            ..
        }) => (tokens, is_estimate),
        other => panic!("{other}"),
    };
    let home = many("exposure.budget = 100");
    let (estimated, is_estimate) = cost(&home);
    assert!(is_estimate);
    count_deciding_texts(&home.open()).unwrap();
    let (counted, is_estimate) = cost(&home);
    assert!(
        !is_estimate && counted != estimated,
        "{counted} {estimated}"
    );

    // With a budget between both they decide differently.
    let budget = (counted + estimated) / 2;
    let home = many(&format!("exposure.budget = {budget}"));
    let mode = |roster: &Roster| decision(&roster.snapshot(), None).mode;
    let modes = match counted < estimated {
        true => [ShownMode::Search, ShownMode::Direct],
        false => [ShownMode::Direct, ShownMode::Search],
    };
    let running = home.open();
    assert_eq!(mode(&running), modes[0]);
    count_deciding_texts(&running).unwrap();
    // Not in the midst of a session.
    assert_eq!(mode(&running), modes[0]);
    for _ in 0..2 {
        assert_eq!(mode(&home.open()), modes[1]);
    }
}

/// What is within the budget by any count is not counted.
#[test]
fn nothing_is_counted_where_it_decides_nothing() {
    for (exposure, counts) in [
        ("", false),
        ("exposure.budget = 1000000", false),
        ("exposure = { budget = 100, mode = 'search' }", false),
        ("exposure.budget = 100", true),
    ] {
        let home = match exposure {
            "" => deferred("").0,
            exposure => many(exposure),
        };
        count_deciding_texts(&home.open()).unwrap();
        assert_eq!(
            home.path("cache/tokens.json").exists(),
            counts,
            "{exposure}"
        );
    }
}

/// Exposure with a budget that many tools exceed.
const TINY: &str = "exposure = { budget = 100, mode = 'auto' }";
