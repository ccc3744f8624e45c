//! Checks of what is configured of exposure: that it names what there is, and leaves agents something.

use super::Rows;
use crate::cli::output;
use crate::roster::Roster;

impl Rows {
    /// Checks which tools agents see, and the names that decide it.
    pub(super) fn exposure(&mut self, roster: &Roster) {
        for name in roster.unmatched_names() {
            self.warning(name.table.replacen('.', " ", 1), name.to_string());
        }
        let snapshot = roster.snapshot();
        let tools = snapshot.tools().len();
        let hidden = snapshot.hidden_tools();
        let number: usize = hidden.iter().map(|hidden| hidden.number).sum();
        let told = hidden
            .iter()
            .map(|hidden| format!("\n{}: {hidden}", hidden.server));
        let told: String = told.collect();
        if number > 0 && tools == 0 {
            let all = output::counted(number as u64, "tool");
            self.warning("tools", format!("agents see none of {all}{told}"));
        } else if snapshot.collisions().is_empty() {
            self.ok("tools", format!("{tools}, no two of one name{told}"));
        }
    }
}
