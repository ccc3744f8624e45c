//! `completion/complete`.

use dormouse_protocol::Answer;
use dormouse_runtime::{Arguments, Completion, Reference, completion};
use serde_json::{Map, Value};

use super::commands;
use super::result::complete;
use crate::mcp::calls::plugin_request::{Continuation, PluginRequest};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::{Host, refusal};
use crate::roster::{Offer, OfferKind};

/// A request, taken apart.
struct Request {
    kind: OfferKind,
    key: String,
    argument: String,
    value: String,
    context: Vec<(String, String)>,
}

impl Host {
    pub(in crate::mcp) async fn complete_argument(
        &self,
        params: Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let request = request(&params)?;
        let snapshot = self.snapshot();
        let of_command = match request.kind {
            OfferKind::Prompt => commands::complete(&request.key, &snapshot),
            OfferKind::Resource | OfferKind::Template => None,
        };
        if let Some(servers) = of_command {
            return Ok(complete(
                fitting(servers, &request.value).into(),
                context.era(),
            ));
        }
        let Some(offer) = snapshot.offers(request.kind).find(&request.key) else {
            let what = match request.kind {
                OfferKind::Prompt => "prompt",
                OfferKind::Resource | OfferKind::Template => "resource template",
            };
            let mut collisions = snapshot.collisions().iter();
            let collision = collisions.find(|c| c.what == what && c.name == request.key);
            let why = match collision {
                Some(collision) => collision.to_string(),
                None => format!("Unknown {what}: `{}`", request.key),
            };
            return Err(ErrorObject::invalid_params(why));
        };
        if !offer.has(&request.argument) {
            let Request { key, argument, .. } = request;
            let why = format!("Unknown argument: `{argument}` is none of `{key}`");
            return Err(ErrorObject::invalid_params(why));
        }
        let cases = offer.cases(&request.argument);
        if cases.is_none() && offer.completes() {
            return self.ask_to_complete(offer, request, context).await;
        }
        let result = fitting(cases.unwrap_or_default(), &request.value);
        Ok(complete(result.into(), context.era()))
    }

    async fn ask_to_complete(
        &self,
        offer: &Offer,
        request: Request,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let own = offer.declared().map(|declared| declared.key.clone());
        let own = own.unwrap_or_default();
        let completion = Completion {
            of: match request.kind {
                OfferKind::Prompt => Reference::Prompt(own),
                OfferKind::Resource | OfferKind::Template => Reference::Template(own),
            },
            argument: request.argument,
            value: request.value,
            context: request.context,
        };
        let order = PluginRequest {
            method: "completion/complete",
            key: offer.key.clone(),
            server: offer.server().to_owned(),
            arguments: Arguments::default(),
        };
        let result = self
            .carry_out(
                order,
                Continuation::default(),
                context,
                |roster, order, call| async move {
                    let completed = roster.complete(&order.server, completion, call).await;
                    completed.map_err(refusal)
                },
            )
            .await?;
        Ok(complete(result, context.era()))
    }
}

/// Returns the values that begin with the typed text, regardless of case.
fn fitting(mut values: Vec<String>, typed: &str) -> Value {
    let typed = typed.to_lowercase();
    values.retain(|value| value.to_lowercase().starts_with(&typed));
    let total = Some(values.len());
    completion(values, total, false)
}

fn request(params: &Map<String, Value>) -> Result<Request, ErrorObject> {
    let refuse = |why: &str| ErrorObject::invalid_params(why.to_owned());
    let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
    let of = params.get("ref").unwrap_or(&Value::Null);
    let (kind, key) = match of.get("type").and_then(Value::as_str) {
        Some("ref/prompt") => (OfferKind::Prompt, text(of, "name")),
        Some("ref/resource") => (OfferKind::Template, text(of, "uri")),
        _ => {
            return Err(refuse(
                "`ref` has to be of type `ref/prompt` or `ref/resource`",
            ));
        }
    };
    let key = key.ok_or_else(|| refuse("`ref` needs the `name` of a prompt or a `uri`"))?;
    let argument = params.get("argument").unwrap_or(&Value::Null);
    let needs = || refuse("`argument` needs a `name` and a `value`, both strings");
    let context = params.get("context");
    let context = context.and_then(|context| context.get("arguments")?.as_object());
    Ok(Request {
        kind,
        key,
        value: text(argument, "value").ok_or_else(needs)?,
        argument: text(argument, "name").ok_or_else(needs)?,
        context: context
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect(),
    })
}
