//! Asks its agent all that can be asked.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_sdk::client::{self, Answer, AskError, Capabilities, Reply};
use serde::Deserialize;
use serde_json::{Value, json};

struct Asker;

dormouse_sdk::plugin!(Asker, world = "asker");

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Number {
    number: i64,
}

fn name() -> Value {
    json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] })
}

fn number() -> Value {
    json!({ "type": "object", "properties": { "number": { "type": "integer" } }, "required": ["number"] })
}

fn greeting(reply: Reply<Name>) -> String {
    match reply {
        Reply::Accept(Name { name }) => format!("Hello, {name}!"),
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
        let reply = client::elicit("user_name", "What is your name?", &name())?;
        Ok(greeting(reply))
    }

    fn add(count: u32) -> Result<String, String> {
        let mut sum = 0;
        for index in 1..=count {
            dormouse_sdk::progress(f64::from(index), Some(f64::from(count)), "one more");
            let id = format!("number_{index}");
            match client::elicit(&id, &format!("Number {index}?"), &number())? {
                Reply::Accept(Number { number }) => sum += number,
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
        let sampled = client::sample("thought", &prompt, 100)?;
        Ok(format!("{} said: {}", sampled.model, sampled.text()))
    }

    fn folders() -> Result<Vec<String>, String> {
        Ok(client::roots()?.into_iter().map(|root| root.uri).collect())
    }

    fn everything() -> Result<String, String> {
        let answers = client::ask(&[
            client::form("user_name", "What is your name?", &name()),
            client::prompted("thought", "Say something nice.", 50),
            client::list_roots("folders"),
        ])?;
        let told = answers.into_iter().map(|answer| match answer {
            Answer::Elicited(elicited) => elicited.content.unwrap_or_default(),
            Answer::Sampled(sampled) => sampled.text(),
            Answer::Roots(roots) => roots.len().to_string(),
        });
        Ok(told.collect::<Vec<_>>().join("; "))
    }

    fn nonsense() -> Result<String, String> {
        let schema = json!({ "type": "no such type" });
        client::elicit::<Name>("nonsense", "What?", &schema)?;
        Ok("was asked".into())
    }

    fn twins() -> Result<String, String> {
        let one = client::form("twin", "One?", &name());
        match client::ask(&[one.clone(), one]) {
            Err(AskError::Invalid(why)) => Err(why),
            other => Ok(format!("{other:?}")),
        }
    }

    #[allow(clippy::infinite_loop, reason = "that is what it is for")]
    fn hang() -> Result<String, String> {
        let reply: Reply<Name> = client::elicit("user_name", "What is your name?", &name())?;
        let mut n = greeting(reply).len();
        loop {
            n = std::hint::black_box(n + 1);
        }
    }

    fn confirm_twice() -> Result<String, String> {
        let ask = || client::elicit("confirm", "Who?", &name()).map(greeting);
        Ok(format!("{} {}", ask()?, ask()?))
    }

    fn greet_slowly(milliseconds: u64) -> Result<String, String> {
        let reply = client::elicit("user_name", "What is your name?", &name())?;
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        Ok(greeting(reply))
    }
}
