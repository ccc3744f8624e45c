//! Grants that the user is asked for while a guest runs.

use std::sync::Arc;

use dormouse_policy::HttpGrant;
use dormouse_protocol::MAX_WAIT_FOR_OTHER;

use super::InstanceState;
use crate::grant_questions::GrantAnswer;

impl InstanceState {
    /// Asks the user of the running call for a grant. The call's deadline waits with it.
    pub(super) async fn ask_user_for(&mut self, wanted: HttpGrant) {
        let (Some(questions), Some(call)) = (&self.grant_questions, &self.call) else {
            return;
        };
        let listener = Arc::clone(&call.listener);
        let session = &questions.session;
        let asking = async {
            let _turn = session.turn(MAX_WAIT_FOR_OTHER).await;
            // Another call may have been answered meanwhile.
            if !self.network.is_askable(&wanted) {
                return GrantAnswer::NotAsked;
            }
            let answer = questions.asker.ask(&self.server, &wanted, &listener).await;
            // Before the turn is another call's, which would ask the same again.
            match answer {
                GrantAnswer::Session => session.grant(wanted.clone()),
                GrantAnswer::Refused => session.refuse(wanted.clone()),
                GrantAnswer::Once | GrantAnswer::NotAsked => {}
            }
            answer
        };
        let answered = call.pace.wait(call.unless_cancelled(asking)).await;
        if let Ok(Some(GrantAnswer::Once)) = answered {
            self.network.grant_once(wanted);
        }
    }
}
