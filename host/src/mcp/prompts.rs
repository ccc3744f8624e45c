//! `prompts/list` and `prompts/get`.

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};

use super::handler::{Host, refusal, stateless};
use super::order::{Continued, Order};
use super::result::{complete, list};
use crate::roster::{Kind, names};

impl Host {
    pub(super) fn list_prompts(
        &self,
        params: Option<&Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let snapshot = self.common.roster.snapshot();
        list("prompts", params, context, |text| {
            snapshot.prompts().write_list(text);
        })
    }

    pub(super) async fn get_prompt(
        &self,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let refuse = |why: String| Err(ErrorData::invalid_params(why, None));
        let Some(Value::Object(mut params)) = params else {
            return refuse("`prompts/get` needs `params` with the `name` of a prompt".into());
        };
        let Some(Value::String(name)) = params.remove("name") else {
            return refuse("`prompts/get` needs the `name` of a prompt".into());
        };
        let continued = Continued::take(&mut params)?;
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(other) => {
                return refuse(format!(
                    "`arguments` of prompt `{name}` have to be an object, not `{other}`"
                ));
            }
        };
        let snapshot = self.common.roster.snapshot();
        let Some(offer) = snapshot.prompts().find(&name) else {
            let keys = snapshot.prompts().iter().map(|offer| offer.key.as_str());
            let hint = names::nearest(&name, keys)
                .map(|near| format!("\nhint: did you mean `{near}`?"))
                .unwrap_or_default();
            return refuse(format!("Unknown prompt: `{name}`{hint}"));
        };
        let order = Order {
            method: "prompts/get",
            key: name,
            server: offer.server().to_owned(),
            arguments,
        };
        let snapshot = snapshot.clone();
        let result = self
            .carry_out(
                order,
                continued,
                context,
                |roster, order, call| async move {
                    let offer = snapshot.offers(Kind::Prompt).find(&order.key);
                    let gone = || ErrorData::invalid_params("the prompt is gone", None);
                    let offer = offer.ok_or_else(gone)?;
                    roster
                        .prompt(offer, order.arguments, call)
                        .await
                        .map_err(refusal)
                },
            )
            .await?;
        Ok(complete(result, stateless(context)))
    }
}
