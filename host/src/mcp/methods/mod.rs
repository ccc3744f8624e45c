//! Answers to each kind of request.

pub(in crate::mcp) mod commands;
pub(in crate::mcp) mod completion;
pub(in crate::mcp) mod instructions;
pub(in crate::mcp) mod listen;
pub(in crate::mcp) mod pages;
pub(in crate::mcp) mod prompts;
pub(in crate::mcp) mod resources;
pub(in crate::mcp) mod result;
pub(in crate::mcp) mod self_description;
pub(in crate::mcp) mod tools;
pub(in crate::mcp) mod trust_tool;
