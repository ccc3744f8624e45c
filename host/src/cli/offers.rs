//! `dormouse prompts` and `dormouse resources`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::output::{AlignedTable, PLAIN, STRONG};
use super::{Format, describe, output, tools};
use crate::roster::{OfferKind, Places, Roster};

#[derive(Debug, Args)]
#[command(
    after_help = "No plugin is run for this: they are declared in the plugins' files.\n\
    With a server's name it says more about each; with --json it prints them as agents get them."
)]
pub(super) struct OffersArgs {
    /// Only this server's, in detail.
    server: Option<String>,
    #[command(flatten)]
    format: Format,
}

impl OffersArgs {
    pub(super) fn prompts(self, places: Places) -> anyhow::Result<ExitCode> {
        self.run(places, &[OfferKind::Prompt], "PROMPT")
    }

    pub(super) fn resources(self, places: Places) -> anyhow::Result<ExitCode> {
        self.run(
            places,
            &[OfferKind::Resource, OfferKind::Template],
            "RESOURCE",
        )
    }

    fn run(self, places: Places, kinds: &[OfferKind], heading: &str) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places)?;
        roster.save();
        let snapshot = roster.snapshot();
        let server = self.server.as_deref();
        if let Some(server) = server {
            tools::known(&snapshot, server)?;
        }
        let all = kinds.iter().flat_map(|kind| {
            let offers = snapshot.offers(*kind).iter();
            offers.filter_map(|offer| Some((*kind, offer, &offer.declared()?.object)))
        });
        let all = all.filter(|(_, offer, _)| server.is_none_or(|name| offer.server() == name));
        if self.format.json {
            let rows = all.map(|(kind, offer, object)| {
                let object_name = match kind {
                    OfferKind::Prompt => "prompt",
                    OfferKind::Resource => "resource",
                    OfferKind::Template => "template",
                };
                json!({ kind.member(): offer.key, "server": offer.server(), object_name: object })
            });
            output::print_json(&rows.collect::<Vec<_>>())?;
            return Ok(ExitCode::SUCCESS);
        }
        if server.is_some() {
            let long = all.map(|(kind, offer, object)| match kind {
                OfferKind::Prompt => describe::prompt(object, &offer.key),
                OfferKind::Resource | OfferKind::Template => describe::resource(object, &offer.key),
            });
            output::print(&long.collect::<Vec<_>>().join("\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = AlignedTable::new(&[heading, "WHAT IT IS FOR"]);
        for (_, offer, object) in all {
            let words = describe::words(object);
            table.row([
                (STRONG, offer.key.clone()),
                (PLAIN, output::first_line(&words, 80)),
            ]);
        }
        output::print(&table.render())?;
        Ok(ExitCode::SUCCESS)
    }
}
