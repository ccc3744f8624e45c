//! Search among tools: how good it is at finding what real tasks need, and how long it takes.

use std::time::Instant;

use anyhow::Result;
use dormouse_search::{SearchIndex, SearchOptions, ToolDocument};
use dormouse_tests::retrieval::{RetrievalData, RetrievalRanks};

use super::report::Report;

/// Numbers of tools for which times are measured, with the most that a query is meant to take, in
/// milliseconds.
const SIZES: [(usize, f64); 2] = [(1_000, 1.0), (100_000, 20.0)];

/// Prints recall for steps, tasks and graded queries, and times of queries.
pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    println!("\nRetrieval");
    let steps = RetrievalData::steps();
    let ranks = all_ranks(&steps);
    for hits in [1, 3, 10] {
        report.value(&format!("steps, recall@{hits}"), ranks.recall(hits), "");
    }
    report.value("steps, MRR", ranks.mean_reciprocal_rank(), "");
    missing(report, "steps, missing@5", &ranks, 5, 0.22);
    let ranks = all_ranks(&RetrievalData::tasks());
    for hits in [5, 20] {
        report.value(&format!("tasks, recall@{hits}"), ranks.recall(hits), "");
    }
    missing(report, "tasks, missing@10", &ranks, 10, 0.55);
    let ranks = all_ranks(&RetrievalData::graded());
    for hits in [1, 3] {
        report.value(&format!("graded, recall@{hits}"), ranks.recall(hits), "");
    }
    report.value("graded, MRR", ranks.mean_reciprocal_rank(), "");
    missing(report, "graded, missing@5", &ranks, 5, 0.05);
    for (tools, most) in SIZES {
        times(report, &steps, tools, most, rounds);
    }
    Ok(())
}

/// Notes the share of what is wanted that is not among so many first hits, with the most that it is
/// meant to be.
fn missing(report: &mut Report, name: &str, ranks: &RetrievalRanks, hits: usize, most: f64) {
    report.target(name, 1.0 - ranks.recall(hits), most, "");
}

fn all_ranks(data: &RetrievalData) -> RetrievalRanks {
    let index = index(data, data.tools.len());
    data.ranks(|query, limit| {
        let options = SearchOptions {
            server: None,
            limit,
        };
        let hits = index.search(query, &options).into_iter();
        hits.map(|hit| hit.tool).collect()
    })
}

/// Returns an index of so many tools: those of the data again and again, on other servers each time.
fn index(data: &RetrievalData, tools: usize) -> SearchIndex {
    let all: Vec<_> = data.tools.iter().cycle().take(tools).collect();
    let names = all.iter().enumerate().map(|(number, tool)| {
        let round = number / data.tools.len();
        let suffix = if round == 0 {
            String::new()
        } else {
            round.to_string()
        };
        let server = format!("{}{suffix}", tool.server);
        (format!("{server}__{}", tool.name), server)
    });
    let names: Vec<_> = names.collect();
    let documents = all.iter().zip(&names);
    SearchIndex::new(documents.map(|(tool, (name, server))| ToolDocument {
        server,
        name,
        own_name: &tool.name,
        title: None,
        description: Some(&tool.description),
        input_schema: Some(&tool.input_schema),
    }))
}

/// Measures how long an index of so many tools takes to make, and a query of a step to answer.
fn times(report: &mut Report, data: &RetrievalData, tools: usize, most: f64, rounds: usize) {
    let start = Instant::now();
    let index = index(data, tools);
    let name = format!("{tools} tools, index made");
    report.value(&name, start.elapsed().as_secs_f64() * 1e3, "ms");
    let mut all = Vec::new();
    for _ in 0..rounds.min(5) {
        for query in &data.queries {
            let start = Instant::now();
            std::hint::black_box(index.search(&query.text, &SearchOptions::default()));
            all.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    all.sort_by(f64::total_cmp);
    let at = |share: usize| {
        all.get(all.len() * share / 100)
            .copied()
            .unwrap_or(f64::NAN)
    };
    report.target(
        &format!("{tools} tools, a query, median"),
        at(50),
        most,
        "ms",
    );
    report.value(
        &format!("{tools} tools, a query, 95th percentile"),
        at(95),
        "ms",
    );
}
