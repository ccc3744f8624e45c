//! Fuzz target of what agents send over stdio.

use dormouse_jsonrpc::{Envelope, Line, MessageLimits};
use rmcp::model::RequestId;

use super::messages::message_room::TakenRoom;
use super::stdio::input::{Incoming, text};

/// Lines of agents: each request is answered under its own id, and no notification is.
pub fn incoming(data: &[u8]) {
    let Some(Ok(line)) = text(Line::Whole(data.to_vec())) else {
        return;
    };
    let read = Incoming::read(&line, &TakenRoom::default());
    let line = line.trim_start_matches('\u{feff}');
    let Ok(envelope) = Envelope::read(line, &MessageLimits::default()) else {
        let is_kept = !matches!(
            &read,
            Incoming::Refused(..) | Incoming::Response(_, Err(_)) | Incoming::Nothing
        );
        assert!(!is_kept, "what is no message was taken for one");
        return;
    };
    let id = envelope.id.as_ref();
    let id: Option<RequestId> = id.and_then(|id| serde_json::from_str(id.as_str()).ok());
    let is_request = envelope.method.is_some() && id.is_some();
    let is_notification = envelope.method.is_some() && envelope.id.is_none();
    match read {
        Incoming::Nothing => assert!(!is_request, "nobody answers a request"),
        Incoming::Refused(under, _) => {
            assert!(!is_notification, "a notification is answered");
            assert!(
                !is_request || under == id,
                "it is answered under another id"
            );
        }
        Incoming::Request(request) => assert_eq!(Some(request.id), id),
        Incoming::Response(under, _) => assert_eq!(Some(under), id),
        Incoming::Notification(_) => assert!(!is_request),
    }
}
