//! The tools of `wit/`, each with its place in Google's REST API.

use serde_json::Value;
use tools::{Event, EventList, EventUpdate, NewEvent};

use crate::http::send;
use crate::request::Request;

struct Calendar;

dormouse_sdk::plugin!(Calendar);

impl tools::Guest for Calendar {
    fn list_calendars() -> Result<String, String> {
        send(&Request::new("GET", &["users", "me", "calendarList"])?)
    }

    fn list_events(of: EventList) -> Result<String, String> {
        let mut request = Request::new("GET", &["calendars", &of.calendar_id, "events"])?;
        // Each time of a recurring event is an event of its own; only those have an order.
        request.add_parameter("singleEvents", Some("true"));
        request.add_parameter("orderBy", Some("startTime"));
        for (name, value) in [
            ("timeMin", &of.time_min),
            ("timeMax", &of.time_max),
            ("timeZone", &of.time_zone),
            ("q", &of.query),
            ("pageToken", &of.page_token),
        ] {
            request.add_parameter(name, value.as_deref());
        }
        send(&request)
    }

    fn create_event(of: NewEvent) -> Result<String, String> {
        let request = Request::new("POST", &["calendars", &of.calendar_id, "events"])?;
        send(&request.with_event(json(&of)?))
    }

    fn update_event(of: EventUpdate) -> Result<String, String> {
        let path = ["calendars", &of.calendar_id, "events", &of.event_id];
        send(&Request::new("PATCH", &path)?.with_event(json(&of)?))
    }

    fn delete_event(of: Event) -> Result<String, String> {
        let path = ["calendars", &of.calendar_id, "events", &of.event_id];
        send(&Request::new("DELETE", &path)?.with_event(json(&of)?))
    }
}

/// Returns arguments as the agent has written them.
fn json(arguments: &impl serde::Serialize) -> Result<Value, String> {
    serde_json::to_value(arguments).map_err(|error| error.to_string())
}
