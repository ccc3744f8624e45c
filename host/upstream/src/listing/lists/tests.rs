//! Lists as they are read: what is left out, and their size together.

use dormouse_launch::{Launch, Stdio};

use super::*;

#[test]
fn lists_have_a_size_together() {
    let items = |sizes: &[usize]| -> Vec<Box<RawValue>> {
        let item = |size: &usize| format!("\"{}\"", "x".repeat(size - 2));
        let item = |size: &usize| RawValue::from_string(item(size)).unwrap();
        sizes.iter().map(item).collect()
    };
    for (tools, prompts, limit, expected, told) in [
        (&[4, 4][..], &[4][..], 12, (2, 1), &[][..]),
        (&[4, 4], &[4], 11, (2, 0), &[("prompts/list", 0)]),
        (&[4, 4], &[4, 3], 11, (2, 0), &[("prompts/list", 0)]),
        (
            &[4, 9, 3],
            &[3],
            12,
            (1, 0),
            &[("tools/list", 1), ("prompts/list", 0)],
        ),
        (&[], &[], 0, (0, 0), &[]),
    ] {
        let (mut tools, mut prompts) = (items(tools), items(prompts));
        let cut = std::cell::RefCell::new(Vec::new());
        let lists = [(&TOOLS, &mut tools), (&PROMPTS, &mut prompts)];
        truncate_together(lists, limit, |list, kept| {
            cut.borrow_mut().push((list.method, kept));
        });
        assert_eq!((tools.len(), prompts.len()), expected);
        assert_eq!(cut.into_inner(), told);
    }
}

#[test]
fn pages_are_read_in_linear_time() {
    let limits = UpstreamLimits {
        message_bytes: usize::MAX,
        list_bytes: usize::MAX,
        list_items: usize::MAX,
        ..UpstreamLimits::default()
    };
    let cut = UpstreamLimits {
        list_items: 10,
        ..limits
    };
    let launch = Launch::Stdio(Stdio::default());
    let secrets = ServerSecrets::new("x", &launch);
    let of = |item: &'static str| {
        move |size: usize| {
            let items = vec![item; size].join(",");
            format!(
                "{{\"tools\":[{items}],\"nextCursor\":\"{}\"}}",
                "x".repeat(size)
            )
        }
    };
    for (what, limits, item) in [
        (
            "tools",
            limits,
            r#"{"name":"x","inputSchema":{"type":"object"}}"#,
        ),
        ("odd ones", limits, r#"{"name":7}"#),
        ("what is no object", limits, "[]"),
        ("far too many", cut, "{}"),
    ] {
        dormouse_tests::growth::is_linear(what, 1_000, of(item), |page: &String| {
            let mut read = PartialList::default();
            let next = read.page(&TOOLS, page, &limits, &secrets, &|_| {});
            std::hint::black_box(next.unwrap().is_ok());
        });
    }
    // Cursors of all pages are compared.
    let pages = |size: usize| {
        let pages = (0..size).map(|page| format!("{{\"tools\":[],\"nextCursor\":\"{page}\"}}"));
        pages.collect::<Vec<_>>()
    };
    dormouse_tests::growth::is_linear("pages", 12, pages, |pages: &Vec<String>| {
        let mut read = PartialList::default();
        for page in pages {
            let next = read.page(&TOOLS, page, &limits, &secrets, &|_| {}).unwrap();
            assert!(next.is_ok());
        }
    });
}
