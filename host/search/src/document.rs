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

impl ToolDocument<'_> {
    /// Returns the length of all its texts but for the server's name.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [self.title, self.description, self.input_schema];
        let texts = texts.into_iter().flatten();
        let texts = texts.chain([self.name, self.own_name]).map(str::len);
        texts.fold(0, usize::saturating_add)
    }

    /// Returns it with its names and title alone.
    pub(crate) fn without_texts(self) -> Self {
        Self {
            description: None,
            input_schema: None,
            ..self
        }
    }
}
