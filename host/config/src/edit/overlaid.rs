//! Tables of servers that come from elsewhere, together with the overlays that their user has
//! written for them: of both, one table that says what both said.

use toml_edit::{Array, Item, TableLike, Value};

use crate::Filter;

/// Keys of which a user's overlay says more, each name for itself.
const EACH_FOR_ITSELF: [&str; 5] = ["env", "headers", "limits", "settings", "tools_on_change"];

/// Merges a user's overlay into the table of its server, as [`crate::Overlay::apply`] applies it.
pub(super) fn merge(overlay: &dyn TableLike, table: &mut dyn TableLike) {
    for (key, said) in overlay.iter() {
        let merged = match table.get(key) {
            Some(own) => merged(key, said, own),
            None => said.clone(),
        };
        table.insert(key, merged);
        // What its user has noted above it.
        if let (Some(said), Some(mut own)) = (overlay.key(key), table.key_mut(key)) {
            *own.leaf_decor_mut() = said.leaf_decor().clone();
        }
    }
}

/// Returns what a key of an overlay and the same one of the server come to.
fn merged(key: &str, said: &Item, own: &Item) -> Item {
    match key {
        "clients" => with_each(said, own, str::eq, |rule, own| {
            let (Some(rule), Some(own)) = (rule.as_table_like_mut(), own.as_table_like()) else {
                return;
            };
            merge_rules(rule, own);
        }),
        // Names of headers are the same in capitals.
        "headers" => with_each(said, own, str::eq_ignore_ascii_case, |_, _| {}),
        _ if EACH_FOR_ITSELF.contains(&key) => with_each(said, own, str::eq, |_, _| {}),
        "exclude_tools" | "from" => in_either(said, own),
        "include_tools" => in_both(said, own),
        _ => said.clone(),
    }
}

/// Returns a table of an overlay with what only the server's own one has. `both` changes what is in
/// both.
fn with_each(
    said: &Item,
    own: &Item,
    is_same: fn(&str, &str) -> bool,
    both: impl Fn(&mut Item, &Item),
) -> Item {
    let mut all = said.clone();
    let (Some(table), Some(own)) = (all.as_table_like_mut(), own.as_table_like()) else {
        return all;
    };
    for (name, item) in own.iter() {
        let same = table.iter().find(|(other, _)| is_same(other, name));
        let same = same.map(|(other, _)| other.to_owned());
        match same.and_then(|same| table.get_mut(&same)) {
            Some(said) => both(said, item),
            None => {
                table.insert(name, item.clone());
            }
        }
    }
    all
}

/// Adds the rule that a client's own file has for a server to the one that the overlay has for that
/// client: each may forbid more, and neither less.
fn merge_rules(rule: &mut dyn TableLike, own: &dyn TableLike) {
    for (key, own) in own.iter() {
        let merged = match (key, rule.get(key)) {
            ("exclude_tools", Some(said)) => in_either(said, own),
            ("include_tools", Some(said)) => in_both(said, own),
            ("enabled", Some(said)) if own.as_bool() == Some(true) => said.clone(),
            _ => own.clone(),
        };
        rule.insert(key, merged);
    }
}

/// Returns the list of what is in either of two.
fn in_either(said: &Item, own: &Item) -> Item {
    let known = texts(said);
    let mut all = said.clone();
    if let Some(array) = all.as_array_mut() {
        let more = texts(own).into_iter();
        array.extend(more.filter(|text| !known.contains(text)));
    }
    all
}

/// Returns the list of what is in both of two.
fn in_both(said: &Item, own: &Item) -> Item {
    let filter = Filter {
        include: Some(texts(said)),
        exclude: Vec::new(),
        also: vec![texts(own)],
    };
    let both = filter.single_include().unwrap_or_default();
    Item::Value(Value::Array(both.into_iter().collect::<Array>()))
}

fn texts(item: &Item) -> Vec<String> {
    let items = item.as_array().into_iter().flatten();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    use super::*;

    #[test]
    fn what_its_user_has_noted_stays() {
        let said = "# why\nexclude_tools = ['b'] # that\n# slow\nlimits = { timeout = '5s' }\n";
        let said: DocumentMut = said.parse().unwrap();
        let mut own: DocumentMut = "command = ['x']\nexclude_tools = ['a']\n".parse().unwrap();
        merge(said.as_table(), own.as_table_mut());
        assert_eq!(
            own.to_string(),
            "command = ['x']\n# why\nexclude_tools = ['b', \"a\"] # that\n# slow\n\
             limits = { timeout = '5s' }\n"
        );
    }
}
