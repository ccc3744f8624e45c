//! Items of an iterator that goes forward only, from the last to the first.

/// Items that are in memory at once.
const AT_ONCE: usize = 1024;

/// Returns the items of an iterator from the last to the first. It is run twice, and few of its items
/// are in memory at once: of a long text, they take many times its memory together.
pub(super) fn reversed<I: Iterator + Clone>(mut items: I) -> impl Iterator<Item = I::Item> {
    let mut starts = vec![items.clone()];
    while items.nth(AT_ONCE - 1).is_some() {
        starts.push(items.clone());
    }
    starts.into_iter().rev().flat_map(|start| {
        let some: Vec<_> = start.take(AT_ONCE).collect();
        some.into_iter().rev()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_items_are_there_in_reverse() {
        for count in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 5 * AT_ONCE] {
            let reversed: Vec<_> = reversed(0..count).collect();
            let expected: Vec<_> = (0..count).rev().collect();
            assert_eq!(reversed, expected, "{count}");
        }
    }
}
