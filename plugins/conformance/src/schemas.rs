//! The tools whose schemas are JSON and not WIT: keywords of JSON Schema 2020-12
//! that no WIT type has. Agents get to see them as they are in `tools.json`.

use dormouse_sdk::Adapter;
use dormouse_sdk::mcp::CallToolResult;

struct Schemas;

dormouse_sdk::adapter!(Schemas, tools = "tools.json");

impl Adapter for Schemas {
    fn call_tool(name: String, arguments: String) -> Result<String, String> {
        let text = format!("`{name}` was called with {arguments}");
        Ok(CallToolResult::new([text]).into())
    }
}
