//! Answers as they are written: messages, streams of events, and the memory of long ones.

pub(in crate::mcp::http) mod answer;
pub(in crate::mcp::http) mod answer_room;
pub(in crate::mcp::http) mod sse;
pub(in crate::mcp::http) mod written;
