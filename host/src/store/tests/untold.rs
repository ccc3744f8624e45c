//! Lists that an upstream has and does not tell.

use dormouse_config::OnChange;
use dormouse_upstream::UntoldLists;

use super::*;

const NONE: UntoldLists = UntoldLists {
    prompts: true,
    resources: true,
    templates: true,
};

/// Returns the offers of a tool and of one item of each other kind, with this description.
fn all(described: &str, able: &Value) -> Offered {
    let item = |member: &str, name: &str| {
        let item = json!({ member: name, "name": name, "description": described });
        vec![to_raw_value(&item).unwrap()]
    };
    Offered {
        prompts: item("name", "p"),
        resources: item("uri", "r:1"),
        templates: item("uriTemplate", "t:///{id}"),
        able: serde_json::from_value(able.clone()).unwrap(),
        ..offered(&[("x", described)])
    }
}

/// Returns the number of prompts, resources and templates that are shown, of items that are gone and
/// of items that wait.
fn shown(store: &Store, of: &Fingerprint) -> [usize; 5] {
    let known = store.known(of).unwrap();
    let listing = &known.listing;
    let lists = [&listing.prompts, &listing.resources, &listing.templates];
    let [prompts, resources, templates] = lists.map(Vec::len);
    [
        prompts,
        resources,
        templates,
        known.gone.len(),
        known.pending.len(),
    ]
}

#[test]
fn what_is_not_told_stays_as_it_is_known() {
    let changes = ChangePolicy::from(OnChange::Block);
    let (less, more) = (json!({}), json!({ "roots": {} }));
    for kinds in [[&less, &less], [&less, &more], [&more, &less]] {
        let (_folder, store, of) = fixture();
        let learn = |offered| store.learn(&of, offered, &changes, None).unwrap();
        learn(all("A", kinds[0]));
        learn(Offered {
            untold: NONE,
            able: serde_json::from_value(kinds[1].clone()).unwrap(),
            ..offered(&[("x", "A")])
        });
        assert_eq!(shown(&store, &of), [1, 1, 1, 0, 0], "{kinds:?}");
        // What is told to be gone is.
        let empty = Offered {
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            ..all("A", &more)
        };
        learn(empty.clone());
        learn(Offered {
            able: serde_json::from_value(less.clone()).unwrap(),
            ..empty
        });
        assert_eq!(shown(&store, &of), [0, 0, 0, 2, 0], "{kinds:?}");
    }
}

#[test]
fn what_is_not_told_at_first_waits_once_it_is() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy::default();
    let first = Offered {
        untold: NONE,
        ..offered(&[("x", "A")])
    };
    store.learn(&of, first, &changes, None).unwrap();
    assert_eq!(shown(&store, &of), [0; 5]);
    assert_eq!(names(&store, &of), ["x"]);
    let told = all("A", &json!({}));
    store.learn(&of, told, &changes, None).unwrap();
    // Resources are data.
    assert_eq!(shown(&store, &of), [0, 1, 0, 0, 2]);
}
