//! Secrets that the user is asked for while a guest runs, because they have no text.

use std::sync::Arc;

use dormouse_protocol::{Capability, MAX_WAIT_FOR_OTHER};
use hyper::HeaderMap;
use url::Url;

use super::InstanceState;
use crate::grant_questions::SecretAnswer;

/// Most questions for one secret in one call: who says that one is there is asked again where it is not.
const MAX_QUESTIONS: usize = 3;

impl InstanceState {
    /// Asks the user of the running call for the secrets that a request would have and that have no
    /// text. The call's deadline waits with it. Those that stay missing are told as the request is sent.
    pub(super) async fn ask_user_for_secrets(&mut self, url: &Url, headers: &HeaderMap) {
        let (Some(questions), Some(call)) = (&self.grant_questions, &mut self.call) else {
            return;
        };
        let listener = Arc::clone(&call.listener);
        if !listener.may_decide() || !listener.supports(Capability::ElicitationForm) {
            return;
        }
        let secrets = self.network.http().secrets();
        let session = &questions.session;
        loop {
            let looked_up = call.unless_cancelled(secrets.missing(url, headers)).await;
            let Some(Some(missing)) = looked_up else {
                return;
            };
            let questions_before = call.secret_questions.get(missing.secret()).copied();
            let questions_before = questions_before.unwrap_or_default();
            if questions_before >= MAX_QUESTIONS || !session.may_ask_for_secret(missing.secret()) {
                return;
            }
            let mut is_asked = false;
            let asking = async {
                let _turn = session.turn(MAX_WAIT_FOR_OTHER).await;
                // Another call may have been answered meanwhile.
                if !session.may_ask_for_secret(missing.secret()) {
                    return SecretAnswer::NotAsked;
                }
                if secrets.missing(url, headers).await.as_ref() != Some(&missing) {
                    return SecretAnswer::Done(None);
                }
                is_asked = true;
                let asker = &questions.asker;
                let answer = asker
                    .ask_for_secret(&self.server, &missing, &listener)
                    .await;
                // Its user may have mended what its command needs.
                secrets.forget_failures();
                // Before the turn is another call's, which would ask the same again.
                match &answer {
                    SecretAnswer::Done(Some(now)) => secrets.rebind(now),
                    SecretAnswer::Refused => session.refuse_secret(missing.secret()),
                    SecretAnswer::Done(None) | SecretAnswer::NotAsked => {}
                }
                answer
            };
            let answered = call.pace.wait(call.unless_cancelled(asking)).await;
            if is_asked {
                let name = missing.secret().to_owned();
                call.secret_questions.insert(name, questions_before + 1);
            }
            let Ok(Some(SecretAnswer::Done(_))) = answered else {
                return;
            };
        }
    }
}
