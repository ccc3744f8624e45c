//! Servers with many tools beside those with few: a gateway that fronts what its user needs, and
//! one whose tools are made to be found.

use dormouse_tests::retrieval::RetrievalData;

use super::{retrieval, search, tool};
use crate::{SearchIndex, ToolDocument};

/// Servers that stay beside the gateway.
const BESIDE: [&str; 3] = ["desktop-commander", "playwright", "basic-memory"];

/// Returns the share of what tasks need of one server that is among ten hits, where so many tools of
/// others are that server's.
fn found_of_gateway(number: usize, beside: &[&str]) -> f64 {
    let mut data = RetrievalData::tasks();
    let mut fronted = vec![None; data.tools.len()];
    let mut tools = Vec::new();
    let mut left = number;
    for (place, mut tool) in std::mem::take(&mut data.tools).into_iter().enumerate() {
        if !beside.contains(&tool.server.as_str()) {
            if left == 0 {
                continue;
            }
            left -= 1;
            "gateway".clone_into(&mut tool.server);
            fronted[place] = Some(tools.len());
        }
        tools.push(tool);
    }
    data.tools = tools;
    let index = retrieval::index(&data);
    let (mut found, mut needed) = (0, 0);
    for query in &data.queries {
        let hits = search(&index, &query.text, 10);
        for set in &query.wanted {
            let set: Vec<usize> = set.iter().filter_map(|place| fronted[*place]).collect();
            needed += usize::from(!set.is_empty());
            found += usize::from(set.iter().any(|tool| hits.contains(tool)));
        }
    }
    f64::from(u32::try_from(found).unwrap()) / f64::from(u32::try_from(needed).unwrap())
}

/// A server that is the only one with tools that fit keeps its places, however many it has and
/// whichever stray words others have.
#[test]
fn a_gateway_with_many_tools_is_found_beside_small_servers() {
    for (number, least) in [(60, 0.7), (120, 0.49), (300, 0.42), (450, 0.44)] {
        let found = found_of_gateway(number, &BESIDE);
        assert!(found >= least, "{number}: {found}");
    }
}

/// What is compared closely is not halved for others that have nothing.
#[test]
fn a_server_alone_is_searched_as_a_whole() {
    let found = found_of_gateway(usize::MAX, &[]);
    assert!(found >= 0.45, "{found}");
}

/// Mail servers, and one that has nothing but tools for mail.
fn mail_tools<'a>(names: &'a [(String, &'a str)]) -> Vec<ToolDocument<'a>> {
    let mut tools = vec![
        tool(
            "gmail",
            "send_email",
            "Sends an email message to a recipient.",
        ),
        tool(
            "outlook",
            "send_mail",
            "Sends a mail from the Outlook account of the user.",
        ),
        tool(
            "smtp",
            "send_message",
            "Sends a message by SMTP to an email address.",
        ),
        tool("gmail", "list_gmail", "Lists the folders of gmail."),
        tool("outlook", "list_outlook", "Lists the folders of outlook."),
        tool("smtp", "list_smtp", "Lists the folders of smtp."),
    ];
    let stuffed = names.iter();
    tools.extend(stuffed.map(|(name, text)| tool("evil", name, text)));
    tools
}

/// Whatever number of tools is made for one question, there is room on the page for those of others:
/// for one where they are few and say it in different words, for three where they say it in the same.
#[test]
fn tools_that_are_stuffed_for_a_question_keep_no_other_server_off_the_page() {
    let same = [(
        "send_email_message",
        "Sends an email message to a recipient by mail.",
    )];
    let varied = [
        ("send_email_message", same[0].1),
        ("send_email_to", "Sends an email."),
        ("email_message", "Email messages for recipients."),
        ("send_message_mail", "Sends a message."),
        ("mail_send", "Mail is sent."),
        ("message_email_send", "A message by email is sent."),
    ];
    for stuffed in [&same[..], &varied] {
        for number in [12, 20, 66, 130, 300, 600] {
            let names = stuffed.iter().cycle().take(number).enumerate();
            let names = names.map(|(place, (name, text))| (format!("{name}_{place}"), *text));
            let names: Vec<_> = names.collect();
            let index = SearchIndex::new(mail_tools(&names));
            for query in [
                "send an email message to bob",
                "send email",
                "mail the report to my boss",
            ] {
                let hits = search(&index, query, 10);
                let others = hits.iter().filter(|hit| **hit < 6).count();
                let is_varied = stuffed.len() > 1;
                let least = if is_varied && number < 66 { 1 } else { 3 };
                assert!(others >= least, "{number} {query}: {hits:?}");
                let senders = hits.iter().filter(|hit| **hit < 3).count();
                let is_known = number == 66 && !is_varied;
                assert!(senders == 3 || !is_known, "{query}: {hits:?}");
            }
        }
    }
}

/// A server with ever more names that are like a question has three that come first for it, and the
/// others are found behind what fits.
#[test]
fn names_that_begin_with_a_question_take_three_places_for_it() {
    let names: Vec<_> = (0..66)
        .map(|number| format!("create_note_{number}"))
        .collect();
    let mut tools: Vec<_> = names.iter().map(|name| tool("evil", name, "")).collect();
    tools.push(tool("notes", "create_note_in_folder", "Creates a note."));
    tools.push(tool("paper", "create_notes", "Creates notes."));
    let index = SearchIndex::new(tools);
    for query in ["create_note", "create note", "createnot"] {
        let hits = search(&index, query, 10);
        let first: Vec<_> = hits.iter().take(5).filter(|hit| **hit >= 66).collect();
        assert_eq!(first.len(), 2, "{query}: {hits:?}");
        assert_eq!(hits.len(), 10, "{query}: {hits:?}");
    }
}
