//! `dormouse:plugin/settings`: what the user has set for the plugin.

use serde_json::Value;

use super::InstanceState;
use crate::bindings::dormouse::plugin::settings;

impl settings::Host for InstanceState {
    fn get(&mut self, key: String) -> Option<String> {
        self.settings.get(&key).map(Value::to_string)
    }

    fn all(&mut self) -> String {
        Value::Object(self.settings.as_ref().clone()).to_string()
    }
}
