//! `prompts/list` and `prompts/get`.

use dormouse_catalog::ListedItem;
use dormouse_protocol::Answer;
use serde_json::{Map, Value};

use super::commands;
use super::result::{complete, list};
use crate::mcp::calls::plugin_request::{NamedParams, PluginRequest};
use crate::mcp::client::compatibility;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::{Host, refusal};
use crate::roster::names;

impl Host {
    pub(in crate::mcp) fn list_prompts(
        &self,
        params: &Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let snapshot = self.snapshot();
        list("prompts", params, context, |text| {
            snapshot.prompts().write_list(text);
            commands::append(text);
        })
    }

    pub(in crate::mcp) async fn get_prompt(
        &self,
        params: Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let NamedParams {
            name,
            mut arguments,
            continued,
        } = NamedParams::take(params, &context.request.original, "prompts/get", "prompt")?;
        let snapshot = self.snapshot();
        let approves = commands::approves(&snapshot, &name, &arguments.values, context.may_decide);
        if let Some(server) = approves {
            let order = PluginRequest {
                method: "prompts/get",
                key: name,
                server: server?,
                arguments,
            };
            let asked = self.carry_out(
                order,
                continued,
                context,
                |roster, order, call| async move {
                    let outcome = roster.ask_to_approve(&order.server, &call).await;
                    let outcome = outcome
                        .map_err(|error| ErrorObject::internal_error(format!("{error:#}")))?;
                    Ok(commands::approved(&order.server, &outcome).into())
                },
            );
            return Ok(complete(asked.await?, context.era()));
        }
        if let Some(said) = commands::run(
            &self.common.roster,
            &snapshot,
            &name,
            &arguments.values,
            context.may_decide,
        ) {
            return Ok(complete(said?.into(), context.era()));
        }
        let Some(offer) = snapshot.prompts().find(&name) else {
            let keys = snapshot.prompts().iter().map(|offer| offer.key.as_str());
            let hint = names::nearest(&name, keys)
                .map(|near| format!("\nhint: did you mean `{near}`?"))
                .unwrap_or_default();
            let why = format!("Unknown prompt: `{name}`{hint}");
            return Err(ErrorObject::invalid_params(why));
        };
        let offer = offer.clone();
        if !offer.declared().is_some_and(ListedItem::is_typed) {
            arguments.text = context.request.original.object("arguments");
        }
        let order = PluginRequest {
            method: "prompts/get",
            key: name,
            server: offer.server().to_owned(),
            arguments,
        };
        let result = self
            .carry_out(
                order,
                continued,
                context,
                |roster, order, call| async move {
                    let got = roster.prompt(&offer, order.arguments, call).await;
                    got.map_err(refusal)
                },
            )
            .await?;
        let result = compatibility::result(result, context.unknown_content);
        Ok(complete(result, context.era()))
    }
}
