//! What outsiders say takes linear time.

use std::hint::black_box;

use dormouse_tests::growth::is_linear;

use super::{search, tool};
use crate::SearchIndex;
use crate::server_documents::ServerDocuments;

#[test]
fn long_texts_of_a_tool_take_linear_time() {
    let long = |number: usize| "readTheFile 文件 12 ".repeat(number);
    is_linear("a description", 500, long, |text: &String| {
        black_box(ServerDocuments::analyse("a", [tool("a", "b", text)]));
    });
    is_linear("a name", 500, long, |text: &String| {
        black_box(ServerDocuments::analyse("a", [tool("a", text, "")]));
    });
}

#[test]
fn a_large_schema_takes_linear_time() {
    let schema = |number: usize| {
        let one =
            |one| format!(r#""name{one}": {{"description": "one of many", "enum": ["a", "b"]}}"#);
        let all: Vec<_> = (0..number).map(one).collect();
        format!(r#"{{"properties": {{{}}}}}"#, all.join(","))
    };
    is_linear("a schema", 100, schema, |schema: &String| {
        let tool = crate::ToolDocument {
            input_schema: Some(schema),
            ..tool("a", "b", "")
        };
        black_box(ServerDocuments::analyse("a", [tool]));
    });
}

#[test]
fn many_tools_take_linear_time() {
    let tools = |number: usize| {
        let names = (0..number).map(|number| format!("read_file_{number}"));
        names.collect::<Vec<_>>()
    };
    let index = |names: &Vec<String>| {
        SearchIndex::new(
            names
                .iter()
                .map(|name| tool("a", name, "Reads a file from a disk.")),
        )
    };
    is_linear("an index", 200, tools, |names: &Vec<String>| {
        black_box(index(names));
    });
    is_linear(
        "a search among many tools",
        500,
        |number| index(&tools(number)),
        |index: &SearchIndex| {
            for query in [
                "read_file",
                "raed_file_77",
                "files that are read",
                "reed a fiel",
            ] {
                black_box(search(index, query, 10));
            }
        },
    );
}

#[test]
fn a_long_query_takes_linear_time() {
    let index = SearchIndex::new([tool("files", "read_file", "Reads a file.")]);
    let long = |number: usize| "read it, then find whatever is_not_there. ".repeat(number);
    is_linear("a query", 100, long, |query: &String| {
        black_box(search(&index, query, 10));
    });
}
