//! Lookup of the cases of enums and variants by name.

use std::collections::HashMap;

use dormouse_wit::{Case, VariantCase};

/// Most cases that are searched one by one: most types have few.
const MAX_SCANNED_CASES: usize = 16;

/// Index of the cases of all types in one conversion. A type may have a thousand cases, and a
/// result a million values of it.
#[derive(Default)]
pub(super) struct CaseIndex<'a> {
    /// Positions of names, by the address of their type's cases in memory.
    types: HashMap<usize, HashMap<&'a str, usize>>,
}

impl<'a> CaseIndex<'a> {
    /// Returns the case of an enum with this WIT name.
    pub(super) fn of_enum(&mut self, cases: &'a [Case], name: &str) -> Option<&'a Case> {
        self.find(cases, |case| &case.wit, name)
    }

    /// Returns the case of a variant with this WIT name.
    pub(super) fn of_variant(
        &mut self,
        cases: &'a [VariantCase],
        name: &str,
    ) -> Option<&'a VariantCase> {
        self.find(cases, |case| &case.wit, name)
    }

    fn find<C>(&mut self, cases: &'a [C], wit: fn(&C) -> &str, name: &str) -> Option<&'a C> {
        if cases.len() <= MAX_SCANNED_CASES {
            return cases.iter().find(|case| wit(case) == name);
        }
        let places = self.types.entry(cases.as_ptr().addr());
        let places = places.or_insert_with(|| {
            let names = cases.iter().map(wit);
            names
                .enumerate()
                .map(|(place, name)| (name, place))
                .collect()
        });
        cases.get(*places.get(name)?)
    }
}
