//! Servers of which nothing is known: what agents are told of them, before and after a failed start.

use super::*;

/// Returns the description of the only tool.
async fn description(agent: &mut Agent) -> String {
    let list = agent.ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(list[0]["name"], "gone__discover", "{list}");
    list[0]["description"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_has_failed_is_told_and_how_to_try_again() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        b"[servers.gone]\ncommand = ['/nonexistent/program']\n",
    );
    let roster = home.open();
    let mut agent = Agent::legacy(&roster).await;
    let told = description(&mut agent).await;
    assert!(told.contains("has not been connected yet"), "{told}");
    let call = json!({ "name": "gone__get_current_time", "arguments": {} });
    let refused = agent.ask("tools/call", call.clone()).await["error"].clone();
    let refused = refused["message"].as_str().unwrap();
    assert_eq!(
        refused,
        "Unknown tool: `gone__get_current_time`\nnothing is known yet of what server `gone` offers\n\
         hint: `dormouse sync gone` finds out, and so does its tool `gone__discover`"
    );
    let discover = json!({ "name": "gone__discover", "arguments": {} });
    let failed = agent.ask("tools/call", discover).await["result"].clone();
    assert_eq!(failed["isError"], true, "{failed}");

    let told = description(&mut agent).await;
    assert!(told.contains("could not be connected when"), "{told}");
    // Why may be in a server's own words, which nobody has approved.
    assert!(!told.contains("nonexistent"), "{told}");
    let refused = agent.ask("tools/call", call).await["error"].clone();
    let refused = refused["message"].as_str().unwrap();
    assert!(
        refused.contains("offers\nits last start has failed: ")
            && refused.contains("gone__discover"),
        "{refused}"
    );
}
