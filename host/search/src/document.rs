//! Description of a tool that can be searched for.

/// A tool, as its server has declared it and as agents see it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolDocument<'a> {
    /// Name of its server.
    pub server: &'a str,
    /// Name by which agents call it.
    pub name: &'a str,
    /// Name that its server knows it by.
    pub own_name: &'a str,
    /// Title for people.
    pub title: Option<&'a str>,
    /// Description of what it does, for a model.
    pub description: Option<&'a str>,
    /// JSON Schema of its arguments, as text. One that is no JSON says nothing.
    pub input_schema: Option<&'a str>,
}
