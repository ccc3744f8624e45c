//! Calls that wait for an answer, between one request of a stateless client and
//! the next.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context as _;
use dormouse_protocol::{Awaited, ClientKey, SessionId};
use parking_lot::Mutex;
use rmcp::model::RequestId;
use subtle::ConstantTimeEq as _;
use tokio::task::AbortHandle;

use super::in_flight_call::Suspended;
use crate::mcp::messages::error_object::ErrorObject;

/// Time that a call waits for the answer to a question.
pub(in crate::mcp) const ANSWER_TIMEOUT: Duration = Duration::from_secs(900);

/// Most calls that may wait at once. Where there are more, the one that has waited longest is ended
/// of the client that has most: so no client ends the calls of others, and the person asked is the
/// least likely still to be there. Half of the pool of instances stays free for running calls.
const MAX_SUSPENDED_CALLS: usize = 64;

/// Time for which a call goes on waiting while another one waits for its instance: long enough for
/// an answer that is on its way, shorter than a person's patience.
const CONTENDED_TIMEOUT: Duration = Duration::from_secs(10);

/// Most ended calls whose reasons are kept.
const ENDED: usize = 1024;

/// Calls that wait. A client gets the number of its call with a keyed hash of it, which is valid only
/// for the request that the call began with.
pub(in crate::mcp) struct SuspendedCalls {
    me: Weak<Self>,
    key: [u8; blake3::KEY_LEN],
    waiting: Mutex<SuspendedCallsState>,
}

#[derive(Default)]
struct SuspendedCallsState {
    next: u64,
    /// Waiting calls, the oldest first.
    calls: BTreeMap<u64, SuspendedCall>,
    /// Calls that have ended, the latest last.
    ended: VecDeque<(u64, EndReason)>,
}

/// Waiting call, with the timer that ends it.
struct SuspendedCall {
    call: Suspended,
    _end: End,
}

/// Reason for which a call was ended.
#[derive(Clone, Copy)]
enum EndReason {
    Late,
    Hindered,
    Cancelled,
    TooMany,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late => write!(
                f,
                "was not answered within {} minutes",
                ANSWER_TIMEOUT.as_secs() / 60
            ),
            Self::Hindered => write!(
                f,
                "was not answered within {} s while another call waited for the same instance",
                CONTENDED_TIMEOUT.as_secs()
            ),
            Self::Cancelled => f.write_str("was cancelled"),
            Self::TooMany => write!(
                f,
                "was the oldest of its client's when more than {MAX_SUSPENDED_CALLS} waited"
            ),
        }
    }
}

/// Timer that ends a call which has waited for too long. Cancelled when this is dropped.
struct End(AbortHandle);

impl Drop for End {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl SuspendedCallsState {
    /// Returns the oldest call of the client that has most.
    fn to_spare(&self) -> Option<u64> {
        let mut shares: HashMap<ClientKey, usize> = HashMap::new();
        for waits in self.calls.values() {
            *shares.entry(waits.call.client()).or_default() += 1;
        }
        let numbers = self.calls.iter().map(|(number, waits)| {
            let share = shares.get(&waits.call.client()).copied();
            (Reverse(share), *number)
        });
        numbers.min().map(|(_, number)| number)
    }

    /// Removes a call that is to end. It is returned, because dropping it shuts down its instance,
    /// which must not be done under the lock.
    fn end(&mut self, number: u64, why: EndReason) -> Option<SuspendedCall> {
        let call = self.calls.remove(&number)?;
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((number, why));
        Some(call)
    }
}

/// Waits until a call has waited for too long, or too long while another one waits for its
/// instance.
async fn over(held: Option<Awaited>) -> EndReason {
    let hindered = async {
        match held {
            Some(mut held) => held.begins().await,
            None => std::future::pending().await,
        }
        tokio::time::sleep(CONTENDED_TIMEOUT).await;
    };
    tokio::select! {
        () = tokio::time::sleep(ANSWER_TIMEOUT) => EndReason::Late,
        () = hindered => EndReason::Hindered,
    }
}

impl SuspendedCalls {
    /// Makes a store with a key of its own, so that no state of another process is valid here.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub(in crate::mcp) fn new() -> anyhow::Result<Arc<Self>> {
        let mut key = [0; blake3::KEY_LEN];
        getrandom::fill(&mut key).context("the system gives no random numbers")?;
        Ok(Arc::new_cyclic(|me| Self {
            me: me.clone(),
            key,
            waiting: Mutex::default(),
        }))
    }

    /// Puts a call aside. Returns the `requestState` to take it back by.
    pub(in crate::mcp) fn put(&self, call: Suspended) -> String {
        let binding = call.binding();
        let mut waiting = self.waiting.lock();
        let number = waiting.next;
        waiting.next += 1;
        let me = self.me.clone();
        let held = call.held();
        let end = tokio::spawn(async move {
            let why = over(held).await;
            if let Some(calls) = me.upgrade() {
                let ended = calls.waiting.lock().end(number, why);
                drop(ended);
            }
        });
        let end = End(end.abort_handle());
        waiting
            .calls
            .insert(number, SuspendedCall { call, _end: end });
        let spared = match waiting.calls.len() > MAX_SUSPENDED_CALLS {
            true => waiting.to_spare(),
            false => None,
        };
        let dropped = spared.and_then(|number| waiting.end(number, EndReason::TooMany));
        drop(waiting);
        if dropped.is_some() {
            tracing::warn!(
                "more than {MAX_SUSPENDED_CALLS} calls wait for answers; the oldest of the client that has most is ended"
            );
        }
        drop(dropped);
        self.state(number, &binding)
    }

    /// Makes the state of a call, which nobody else can make: its number, with a keyed hash of that
    /// and of its request.
    fn state(&self, number: u64, binding: &[u8]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&number.to_le_bytes());
        hasher.update(binding);
        format!("{number}.{}", hasher.finalize())
    }

    /// Returns the number of the call that a state names, if that was given out for this request.
    fn number(&self, state: &str, binding: &[u8]) -> Option<u64> {
        let (number, _) = state.split_once('.')?;
        let number = number.parse().ok()?;
        let expected = self.state(number, binding);
        bool::from(state.as_bytes().ct_eq(expected.as_bytes())).then_some(number)
    }

    /// Takes a call back.
    ///
    /// # Errors
    /// The state is not one that this host gave out for this request, or its call
    /// waits no longer.
    pub(in crate::mcp) fn take(
        &self,
        state: &str,
        binding: &[u8],
    ) -> Result<Suspended, ErrorObject> {
        let refuse = |why: &str| {
            ErrorObject::invalid_params(format!(
                "`requestState` {why}\nhint: begin again, without it"
            ))
        };
        let number = self.number(state, binding);
        let number = number.ok_or_else(|| refuse("is not one of this request"))?;
        let mut waiting = self.waiting.lock();
        if let Some(waits) = waiting.calls.remove(&number) {
            return Ok(waits.call);
        }
        let mut ended = waiting.ended.iter();
        let ended = ended.find(|(ended, _)| *ended == number);
        Err(match ended {
            Some((_, why)) => refuse(&format!("names a call that has ended: it {why}")),
            None => refuse("names a call that waits no longer"),
        })
    }

    /// Ends the waiting call that a client knows by a request of its session, if there is one.
    pub(in crate::mcp) fn cancel(&self, session: SessionId, request: &RequestId) {
        let mut waiting = self.waiting.lock();
        let mut calls = waiting.calls.iter();
        let found = calls
            .find(|(_, waits)| waits.call.session() == Some(session) && waits.call.is_of(request));
        let found = found.map(|(number, _)| *number);
        let ended = found.and_then(|number| waiting.end(number, EndReason::Cancelled));
        drop(waiting);
        drop(ended);
    }

    /// Ends the calls of a session that is over.
    pub(in crate::mcp) fn end_session(&self, session: SessionId) {
        let mut ended = Vec::new();
        let mut waiting = self.waiting.lock();
        let numbers: Vec<u64> = waiting
            .calls
            .iter()
            .filter(|(_, waits)| waits.call.session() == Some(session))
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            ended.extend(waiting.calls.remove(&number));
        }
        drop(waiting);
        drop(ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_valid_for_its_request_in_its_host_alone() {
        let calls = SuspendedCalls::new().unwrap();
        let state = calls.state(7, b"a");
        assert_eq!(calls.number(&state, b"a"), Some(7));
        assert_eq!(calls.number(&state, b"b"), None);
        assert_eq!(SuspendedCalls::new().unwrap().number(&state, b"a"), None);
        let of_other = state.replacen('7', "8", 1);
        let (_, hash) = state.split_once('.').unwrap();
        for forged in [
            &*of_other,
            &format!("+{state}"),
            &state.to_uppercase(),
            "7.",
            "7",
            ".",
            "",
            hash,
            &format!("7.{}", &hash[1..]),
            &format!("7.ü{}", &hash[2..]),
            &format!("99999999999999999999.{hash}"),
        ] {
            assert_eq!(calls.number(forged, b"a"), None, "{forged}");
        }
    }
}
