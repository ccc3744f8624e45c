//! `[discovery]`.

use super::*;

impl DocumentReader<'_> {
    pub(super) fn discovery(&mut self, item: &Item) -> DiscoveryConfig {
        let mut discovery = DiscoveryConfig::default();
        // Whoever is not to be asked may be what cannot be read.
        let nobody = Some(Vec::new());
        let Some(table) = self.table(item, "discovery") else {
            discovery.clients = nobody;
            return discovery;
        };
        let mut is_nobody_asked = false;
        for (key, item) in table.iter() {
            let here = format!("discovery.{key}");
            match key {
                "clients" => {
                    let before = self.problem_count;
                    discovery.clients = Some(self.clients(item, &here));
                    is_nobody_asked |= self.problem_count > before;
                }
                "pass_env" => discovery.pass_env = self.pass_env(item, &here),
                "inputs" => discovery.inputs = self.inputs(item, &here),
                "filled_in" => self.set(&mut discovery.filled_in, item, &here, bytes),
                "fetch" => {
                    let choices = [
                        ("on-demand", Fetch::OnDemand),
                        ("background", Fetch::Background),
                    ];
                    discovery.fetch = self.choice(item, &here, &choices).unwrap_or_default();
                }
                _ => {
                    self.unknown(table, key, "`[discovery]`", DISCOVERY);
                    let meant = nearest(key, DISCOVERY.iter().copied());
                    is_nobody_asked |= matches!(meant, None | Some("clients"));
                }
            }
        }
        if is_nobody_asked {
            discovery.clients = nobody;
        }
        discovery
    }

    pub(super) fn clients(&mut self, item: &Item, at: &str) -> Vec<Client> {
        let mut clients = Vec::new();
        for (index, item) in self.items(item, at).iter().enumerate() {
            let at = format!("{at}[{index}]");
            match self.string(item, &at).map(str::parse) {
                Some(Ok(client)) => clients.push(client),
                Some(Err(hint)) => {
                    let message = format!("`{at}` cannot be {}", self.shown(item));
                    self.problem(item.span(), message, Some(hint));
                }
                None => {}
            }
        }
        clients
    }
}
