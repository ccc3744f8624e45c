//! Memory of the host for an instance of a component beside linear memories and tables.

use dormouse_wit::component_types::each_type;
use wasmparser::{ComponentType, Payload};

mod scope;
mod sent_types;

use super::payloads::{MAX_NESTED_COMPONENTS, UnreadableComponent, payloads};
use scope::{FootprintScope, MAX_KNOWN};
use sent_types::SentTypes;

/// Bytes that an engine keeps for each component instance.
const COMPONENT_INSTANCE_BYTES: u64 = 1 << 10;

/// A component has more parts than are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooManyParts {
    /// Components in one another.
    #[error("it has components nested more than {MAX_NESTED_COMPONENTS} levels deep")]
    Nested,
    /// Modules in a component, or under several numbers there.
    #[error(
        "one component of it has more than {MAX_KNOWN} modules, those by another number included"
    )]
    Modules,
    /// Components in a component, likewise.
    #[error(
        "one component of it has more than {MAX_KNOWN} components, those by another number included"
    )]
    Components,
}

/// Memory of the host for one instance of a component beside linear memories and tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceFootprint {
    /// Number of component instances, itself included; `u64::MAX` where that cannot be told.
    pub component_instances: u64,
    /// Number of those that have code of their own, in each of which one function can wait for
    /// another.
    pub with_code: u64,
    /// Bytes of all of them, without core instances that an engine makes for itself.
    pub bytes: u64,
    /// Most flags of one type, where there are futures or streams of a defined type; 0 where there
    /// are none.
    pub sent_flags: usize,
    /// Whether there are futures or streams of a defined type, not a primitive one.
    pub sends_values: bool,
}

impl InstanceFootprint {
    fn add(&mut self, other: Self) {
        self.component_instances = self
            .component_instances
            .saturating_add(other.component_instances);
        self.with_code = self.with_code.saturating_add(other.with_code);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Computes the memory of the host for one instance of a component beside linear memories and
/// tables. Counts declarations, without validating them. Where these do not tell, because
/// components are passed around in the component, all numbers are `u64::MAX`.
///
/// # Errors
/// It has so many parts that no tool takes it. Nothing has validated it yet, and what is kept of
/// each part takes more than the part does in the file.
pub fn instance_footprint(component: &[u8]) -> Result<InstanceFootprint, TooManyParts> {
    let mut scopes = Vec::new();
    let mut whole = InstanceFootprint::default();
    let mut sent = SentTypes::default();
    for payload in payloads(component) {
        let payload = match payload {
            Ok(payload) => payload,
            Err(UnreadableComponent::TooDeep) => return Err(TooManyParts::Nested),
            Err(UnreadableComponent::Damaged) => break,
        };
        match payload {
            Payload::Version { encoding, .. } => scopes.push(FootprintScope::new(encoding)),
            Payload::End(_) => match scopes.pop() {
                Some(FootprintScope::Module(bytes)) => {
                    if let Some(FootprintScope::Component(outer)) = scopes.last_mut() {
                        outer.knows_module(Some(bytes))?;
                    }
                }
                Some(FootprintScope::Component(ended)) => {
                    let mut takes = ended.takes;
                    takes.add(InstanceFootprint {
                        component_instances: 1,
                        with_code: u64::from(ended.has_code),
                        bytes: COMPONENT_INSTANCE_BYTES,
                        ..InstanceFootprint::default()
                    });
                    match scopes.last_mut() {
                        Some(FootprintScope::Component(outer)) => {
                            outer.knows_component(Some(takes))?;
                        }
                        _ => whole = takes,
                    }
                }
                None => {}
            },
            Payload::ComponentTypeSection(section) => {
                let section = component.get(section.range()).unwrap_or_default();
                let mut resources = 0;
                each_type(section, |ty| {
                    sent.read(ty);
                    resources += u64::from(matches!(ty, ComponentType::Resource { .. }));
                });
                if let Some(FootprintScope::Component(this)) = scopes.last_mut() {
                    this.takes_canonical(resources);
                }
            }
            payload => FootprintScope::read(&mut scopes, payload)?,
        }
    }
    whole.sends_values = sent.has_values;
    if sent.has_values {
        whole.sent_flags = sent.max_flags;
    }
    Ok(whole)
}

#[cfg(test)]
mod tests;
