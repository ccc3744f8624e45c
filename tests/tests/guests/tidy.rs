//! A cancelled call is told so, has a while to end by itself, and holds up no other call: over
//! stdio and HTTP, in both eras.

use super::*;
use dormouse_tests::http::{Request, Server, Session};
use dormouse_tests::wire::stateless;

/// Time for which other calls may notice a call that was cancelled: its grace, and time for a slow
/// machine.
const SOON: Duration = Duration::from_secs(5);

fn able() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// Client of either era, which hears all that is logged.
struct Agent {
    _home: Home,
    client: Client,
    stateless: bool,
}

impl Agent {
    fn new(stateless: bool) -> Self {
        let home = Home::new().unwrap();
        home.guests(&["tidy", "echo"]).unwrap();
        let mut command = home.command(&["serve"]);
        let client = match stateless {
            true => Client::spawn(&mut command),
            false => Client::start_able(&mut command, able()),
        };
        Self {
            _home: home,
            client: client.unwrap(),
            stateless,
        }
    }

    fn send(&mut self, tool: &str, more: Value) -> u64 {
        let mut params = json!({ "name": tool, "arguments": {} });
        if self.stateless {
            params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "info" });
            params = stateless(params, able());
        }
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        self.client.send("tools/call", params).unwrap()
    }

    fn answer(&mut self, tool: &str, more: Value) -> Value {
        let id = self.send(tool, more);
        self.client.answer(id).unwrap()
    }

    fn count(&mut self) -> Value {
        let answer = self.answer("tidy__count", json!({}));
        answer["result"]["structuredContent"]["result"].clone()
    }

    fn logs(&mut self, what: &str) {
        let heard = self.client.notification("notifications/message", SOON);
        assert_eq!(heard.unwrap()["params"]["data"], what);
    }

    fn cancel(&mut self, id: u64) {
        let cancelled = json!({ "requestId": id });
        let told = self.client.notify("notifications/cancelled", cancelled);
        told.unwrap();
    }

    /// Checks that no answer came to any of these calls, and that the host ends when it is told to.
    fn has_no_answers(mut self, ids: &[u64]) {
        for id in ids {
            let within = Duration::from_millis(10);
            assert!(self.client.answer_within(*id, within).is_err());
        }
        assert!(self.client.close(Duration::from_secs(6)).unwrap().success());
    }
}

#[test]
fn ends_by_itself_is_heard_to_the_last_and_keeps_its_instance() {
    for stateless in [false, true] {
        let mut agent = Agent::new(stateless);
        assert_eq!(agent.count(), 1);
        let mut cancelled = Vec::new();
        for (tool, count) in [("tidy__watch", 2), ("tidy__spin", 3)] {
            let id = agent.send(tool, json!({}));
            agent.logs("working");
            agent.cancel(id);
            agent.logs("tidying up");
            assert_eq!(agent.count(), count, "{tool}, stateless: {stateless}");
            cancelled.push(id);
        }
        agent.has_no_answers(&cancelled);
    }
}

#[test]
fn is_ended_where_it_does_not_and_nobody_else_waits_for_that() {
    for stateless in [false, true] {
        let mut agent = Agent::new(stateless);
        assert_eq!(agent.count(), 1);
        let echo = json!({ "arguments": { "text": "well" } });
        agent.answer("echo__echo", echo.clone());
        let id = agent.send("tidy__ignore", json!({}));
        agent.logs("working");
        agent.cancel(id);
        let start = Instant::now();
        let answer = agent.answer("echo__echo", echo);
        assert_eq!(client::text(&answer["result"]), Some("well"));
        assert!(
            start.elapsed() < Duration::from_millis(400),
            "{:?}",
            start.elapsed()
        );
        // Its own session has to wait for the instance, which is a new one then.
        assert_eq!(agent.count(), 1);
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
        agent.has_no_answers(&[id]);
    }
}

/// A plugin that asks when its call is cancelled gets no answer, and time to make up for that.
#[test]
fn is_told_while_it_asks() {
    let mut agent = Agent::new(false);
    assert_eq!(agent.count(), 1);
    let id = agent.send("tidy__ask", json!({}));
    let asked = agent.client.notification("elicitation/create", SOON);
    let asked = asked.unwrap();
    agent.cancel(id);
    agent.logs("tidying up");
    let withdrawn = agent.client.notification("notifications/cancelled", SOON);
    assert_eq!(withdrawn.unwrap()["params"]["requestId"], asked["id"]);
    assert_eq!(agent.count(), 2);
    agent.has_no_answers(&[id]);
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {} })
}

fn says(server: &Server, what: &str, times: usize) {
    let start = Instant::now();
    while server.said().matches(what).count() < times {
        let said = server.said();
        assert!(start.elapsed() < SOON, "not {times} times `{what}`: {said}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The host's own log has the message, since no client listens any more.
#[test]
fn is_told_over_http_when_its_client_goes_or_cancels() {
    let home = Home::new().unwrap();
    home.guests(&["tidy"]).unwrap();
    let server = home.serve_http(&["-vv"]).unwrap();
    for (times, tool) in [(1, "tidy__watch"), (2, "tidy__spin")] {
        let request = Request::stateless(1, "tools/call", call(tool));
        let left = server.begin(&request).unwrap();
        says(&server, "working", times);
        drop(left);
        says(&server, "tidying up", times);
    }
    let session = Session::open(&server).unwrap();
    let count = || {
        let request = session.request(1, "tools/call", call("tidy__count"));
        let result = server.ask(&request).unwrap().result().unwrap();
        result["structuredContent"]["result"].clone()
    };
    assert_eq!(count(), 1);
    // At once, and when it has got a stream meanwhile.
    for (times, wait) in [(3, 0), (4, 300)] {
        let request = session.request(2, "tools/call", call("tidy__watch"));
        let _waits = server.begin(&request).unwrap();
        says(&server, "working", times);
        std::thread::sleep(Duration::from_millis(wait));
        let cancelled = json!({ "requestId": 2 });
        let told = session.notify(&server, "notifications/cancelled", cancelled);
        told.unwrap();
        says(&server, "tidying up", times);
        assert_eq!(count(), times - 1);
    }
    // A default run is quiet about what plugins log.
    let quiet = home.serve_http(&[]).unwrap();
    let request = Request::stateless(1, "tools/call", call("tidy__spin"));
    drop(quiet.begin(&request).unwrap());
    assert!(!quiet.said().contains("working"), "{}", quiet.said());
}

mod on_the_shelf {
    use super::*;

    fn asks(agent: &mut Agent) -> (u64, Value) {
        let id = agent.send("tidy__ask", json!({}));
        let asked = agent.client.answer(id).unwrap();
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        (id, asked["result"]["requestState"].clone())
    }

    fn goes_on(agent: &mut Agent, state: &Value) -> Value {
        let more = json!({
            "requestState": state,
            "inputResponses": { "ask": { "action": "accept", "content": {} } }
        });
        agent.answer("tidy__ask", more)
    }

    fn refused(answer: &Value, why: &str) {
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
        assert!(message.contains("hint: begin again"), "{message}");
    }

    #[test]
    fn ends_when_it_is_cancelled() {
        let mut agent = Agent::new(true);
        assert_eq!(agent.count(), 1);
        let (id, state) = asks(&mut agent);
        agent.cancel(id);
        let start = Instant::now();
        assert_eq!(agent.count(), 2);
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
        refused(&goes_on(&mut agent, &state), "it was cancelled");
    }

    #[test]
    fn ends_when_another_call_needs_its_instance() {
        let mut agent = Agent::new(true);
        assert_eq!(agent.count(), 1);
        let (_, state) = asks(&mut agent);
        let start = Instant::now();
        assert_eq!(agent.count(), 2);
        assert!(start.elapsed() < 3 * SOON, "{:?}", start.elapsed());
        let answer = goes_on(&mut agent, &state);
        refused(&answer, "while another call waited for the same instance");
    }

    /// An answer that comes in time is taken, even if another call waits.
    #[test]
    fn goes_on_when_it_is_answered() {
        let mut agent = Agent::new(true);
        let (_, state) = asks(&mut agent);
        let waits = agent.send("tidy__count", json!({}));
        let within = Duration::from_millis(500);
        assert!(agent.client.answer_within(waits, within).is_err());
        let answer = goes_on(&mut agent, &state);
        let text = client::text(&answer["result"]).unwrap();
        assert!(text.starts_with("Accept"), "{text}");
        let counted = agent.client.answer(waits).unwrap();
        let counted = &counted["result"]["structuredContent"]["result"];
        assert_eq!(counted, 1);
    }
}
