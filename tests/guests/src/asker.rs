//! Asks its agent all that can be asked.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_sdk::client::{
    self, Answer, AskError, Capabilities, Field, ModelPreferences, Reply, Sampling,
};
use dormouse_sdk::{Content, PromptMessage};
use serde_json::json;

struct Asker;

dormouse_sdk::plugin!(Asker, world = "asker");

fn name() -> Field<String> {
    Field::text("name")
}

fn greeting(reply: Reply<String>) -> String {
    match reply {
        Reply::Accept(name) => format!("Hello, {name}!"),
        Reply::Decline => "declined".into(),
        Reply::Cancel => "cancelled".into(),
    }
}

impl Guest for Asker {
    fn able() -> Vec<String> {
        let supported = client::supported();
        let all = [
            ("form", Capabilities::ELICITATION_FORM),
            ("url", Capabilities::ELICITATION_URL),
            ("sampling", Capabilities::SAMPLING),
            ("roots", Capabilities::ROOTS),
        ];
        let able = all
            .into_iter()
            .filter(|(_, flag)| supported.contains(*flag));
        able.map(|(name, _)| name.to_owned()).collect()
    }

    fn greet() -> Result<String, String> {
        let reply = client::elicit("user_name", "What is your name?", name())?;
        Ok(greeting(reply))
    }

    fn add(count: u32) -> Result<String, String> {
        let mut sum = 0;
        for index in 1..=count {
            dormouse_sdk::progress(f64::from(index), Some(f64::from(count)), "one more");
            let id = format!("number_{index}");
            match client::elicit(&id, &format!("Number {index}?"), Field::integer("number"))? {
                Reply::Accept(number) => sum += number,
                _ => return Err("no number, no sum".into()),
            }
        }
        Ok(sum.to_string())
    }

    fn show_page(url: String) -> Result<String, String> {
        let action = client::open("page", "Please sign in.", &url)?;
        Ok(action.to_string())
    }

    fn sample(prompt: String) -> Result<String, String> {
        let sampled = client::sample("thought", Sampling::new(prompt, 100))?;
        Ok(format!("{} said: {}", sampled.model, sampled.text()))
    }

    fn folders() -> Result<Vec<String>, String> {
        Ok(client::roots()?.into_iter().map(|root| root.uri).collect())
    }

    fn everything() -> Result<String, String> {
        let answers = client::ask(&[
            client::form("user_name", "What is your name?", &name()),
            client::prompted("thought", Sampling::new("Say something nice.", 50)),
            client::list_roots("folders"),
        ])?;
        let told = answers.into_iter().map(|answer| match answer {
            Answer::Elicited(elicited) => elicited.content.unwrap_or_default(),
            Answer::Sampled(sampled) => sampled.text(),
            Answer::Roots(roots) => roots.len().to_string(),
        });
        Ok(told.collect::<Vec<_>>().join("; "))
    }

    fn survey() -> Result<String, String> {
        let form = (
            Field::text("city").with_title("City").with_length(1, 40),
            Field::integer("days").with_range(1, 14).optional(),
            Field::choice("tone", [("kind", "Kind"), ("blunt", "Blunt")]),
            Field::choices("times", [("am", "Morning"), ("pm", "Afternoon")]),
            Field::boolean("metric").with_default(true),
        );
        match client::elicit("survey", "Where to?", form)? {
            Reply::Accept((city, days, tone, times, metric)) => {
                Ok(format!("{city} {days:?} {tone} {times:?} {metric}"))
            }
            _ => Err("no city, no weather".into()),
        }
    }

    fn think() -> Result<String, String> {
        let sampling = Sampling::new("And what is this?", 50)
            .with_content(Content::image([1], "image/png"))
            .with_history([PromptMessage::user("Hello"), PromptMessage::assistant("Hi")])
            .with_system_prompt("Be brief.")
            .with_temperature(0.5)
            .with_stop_sequences(["END"])
            .with_model(ModelPreferences {
                hints: vec!["small".into()],
                speed_priority: Some(1.0),
                ..ModelPreferences::default()
            });
        Ok(client::sample("thinking", sampling)?.text())
    }

    fn nonsense() -> Result<String, String> {
        let schema = json!({ "type": "no such type" });
        client::elicit("nonsense", "What?", schema)?;
        Ok("was asked".into())
    }

    fn twins() -> Result<String, String> {
        let one = client::form("twin", "One?", &name());
        match client::ask(&[one.clone(), one]) {
            Err(AskError::Invalid(why)) => Err(why),
            other => Ok(format!("{other:?}")),
        }
    }

    fn sample_long(messages: u32, kilobytes: u32) -> Result<String, String> {
        let text = "x".repeat(1024 * kilobytes as usize);
        let history = (0..messages).map(|_| PromptMessage::user(text.clone()));
        let sampling = Sampling::new("Which?", 50).with_history(history);
        Ok(client::sample("long", sampling)?.text())
    }

    #[allow(clippy::infinite_loop, reason = "that is what it is for")]
    fn hang() -> Result<String, String> {
        let reply = client::elicit("user_name", "What is your name?", name())?;
        let mut n = greeting(reply).len();
        loop {
            n = std::hint::black_box(n + 1);
        }
    }

    fn confirm_twice() -> Result<String, String> {
        let ask = || client::elicit("confirm", "Who?", name()).map(greeting);
        Ok(format!("{} {}", ask()?, ask()?))
    }

    fn greet_slowly(milliseconds: u64) -> Result<String, String> {
        let reply = client::elicit("user_name", "What is your name?", name())?;
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        Ok(greeting(reply))
    }
}
