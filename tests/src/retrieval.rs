//! Queries and the tools that answer them (`tests/fixtures/retrieval`), and how good a search is at
//! finding these.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when its data is not as it should be"
)]

use serde_json::Value;

use crate::artifacts;

/// A tool, as it was declared.
pub struct RetrievalTool {
    /// Name of its server.
    pub server: String,
    /// Its name.
    pub name: String,
    /// Description of what it does.
    pub description: String,
    /// Schema of its arguments.
    pub input_schema: String,
}

/// A query and what answers it.
pub struct RetrievalQuery {
    /// The query.
    pub text: String,
    /// Sets of places of tools: one of each is needed.
    pub wanted: Vec<Vec<usize>>,
}

/// Tools, and queries for them.
pub struct RetrievalData {
    /// The tools.
    pub tools: Vec<RetrievalTool>,
    /// The queries.
    pub queries: Vec<RetrievalQuery>,
}

/// Places of the first hit for each set of tools that a query needs, for each query.
pub struct RetrievalRanks(Vec<Vec<Option<usize>>>);

/// Largest number of hits that is looked at.
const MAX_HITS: usize = 20;

impl RetrievalData {
    /// Returns 55 single steps of tasks over 527 tools.
    pub fn steps() -> Self {
        Self::live("livemcp-dev-steps.jsonl", |query| {
            vec![query["gold"].clone()]
        })
    }

    /// Returns 49 whole tasks over the same tools.
    pub fn tasks() -> Self {
        Self::live("livemcp-dev-tasks.jsonl", |query| {
            query["gold_sets"].as_array().unwrap().clone()
        })
    }

    /// Returns 47 graded queries over 45 tools: one of them is wanted by each.
    pub fn graded() -> Self {
        let tools: Value = serde_json::from_str(&read("golden-v1-tools.json")).unwrap();
        let tools = tools["tools"].as_array().unwrap().iter();
        let tools = tools.map(|tool| (text(tool, "tool_id"), tool["schema"].to_string(), tool));
        let tools: Vec<_> = tools.collect();
        let ids: Vec<_> = tools.iter().map(|(id, ..)| id.clone()).collect();
        let queries: Value = serde_json::from_str(&read("golden-v1-queries.json")).unwrap();
        let queries = queries["queries"].as_array().unwrap().iter();
        let queries = queries.map(|query| {
            let labels = query["labels"].as_array().unwrap().iter();
            let best = labels.filter(|label| label["relevance"] == 2);
            RetrievalQuery {
                text: text(query, "query"),
                wanted: best
                    .map(|label| vec![place(&ids, &label["tool_id"])])
                    .collect(),
            }
        });
        Self {
            queries: queries.collect(),
            tools: tools
                .iter()
                .map(|(id, schema, tool)| {
                    let (server, name) = id.split_once(':').unwrap();
                    RetrievalTool {
                        server: server.to_owned(),
                        name: name.to_owned(),
                        description: text(tool, "description"),
                        input_schema: schema.clone(),
                    }
                })
                .collect(),
        }
    }

    fn live(queries: &str, sets: fn(&Value) -> Vec<Value>) -> Self {
        let tools: Vec<Value> = serde_json::from_str(&read("livemcp-tools.json")).unwrap();
        let ids: Vec<_> = tools.iter().map(|tool| text(tool, "id")).collect();
        let queries = read(queries);
        let queries = queries.lines().map(|line| {
            let query: Value = serde_json::from_str(line).unwrap();
            let set = |set: &Value| {
                let set = set.as_array().unwrap().iter();
                set.map(|id| place(&ids, id)).collect()
            };
            RetrievalQuery {
                text: text(&query, "query"),
                wanted: sets(&query).iter().map(set).collect(),
            }
        });
        Self {
            queries: queries.collect(),
            tools: tools
                .iter()
                .map(|tool| RetrievalTool {
                    server: text(tool, "server"),
                    name: text(tool, "name"),
                    description: text(tool, "description"),
                    input_schema: tool["inputSchema"].to_string(),
                })
                .collect(),
        }
    }

    /// Asks a search, which returns places of tools, for all queries.
    pub fn ranks(&self, search: impl Fn(&str, usize) -> Vec<usize>) -> RetrievalRanks {
        let ranks = self.queries.iter().map(|query| {
            let hits = search(&query.text, MAX_HITS);
            let rank = |set: &Vec<usize>| hits.iter().position(|hit| set.contains(hit));
            query.wanted.iter().map(rank).collect()
        });
        RetrievalRanks(ranks.collect())
    }
}

impl RetrievalRanks {
    /// Returns the share of a query's sets of which a tool is among so many first hits, on average.
    pub fn recall(&self, hits: usize) -> f64 {
        let shares = self.0.iter().map(|ranks| {
            let found = ranks
                .iter()
                .filter(|rank| rank.is_some_and(|rank| rank < hits));
            found.count() as f64 / ranks.len() as f64
        });
        shares.sum::<f64>() / self.0.len() as f64
    }

    /// Returns the reciprocal of the place of the first hit, on average.
    pub fn mean_reciprocal_rank(&self) -> f64 {
        let first = self.0.iter().map(|ranks| ranks.iter().flatten().min());
        let values = first.map(|first| first.map_or(0.0, |first| 1.0 / (*first as f64 + 1.0)));
        values.sum::<f64>() / self.0.len() as f64
    }
}

fn read(file: &str) -> String {
    let folder = artifacts::workspace().join("tests/fixtures/retrieval");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn place(ids: &[String], id: &Value) -> usize {
    let place = ids.iter().position(|known| id == known);
    place.unwrap_or_else(|| panic!("no tool is {id}"))
}
