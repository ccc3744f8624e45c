//! Changes of lists and of resources that a server announces.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_its_tools_is_noticed_in_both_eras() {
    for era in [&[][..], &["modern"]] {
        let odd = odd(era);
        odd.call("change", json!({ "tool": "new" })).await.unwrap();
        let noticed = async {
            while !odd.policy.told().iter().any(|told| told.ends_with(" new")) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LIMIT, noticed).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_asked_for_the_resources_that_somebody_wants_to_hear_of() {
    let table = [
        (&[][..], json!(["subscribe odd://x", "unsubscribe odd://x"])),
        (&["modern"], json!(null)),
    ];
    for (era, after) in table {
        let odd = odd(era);
        let heard = async |expected: Value| {
            let heard = async {
                loop {
                    let stats = odd.text("stats").await;
                    let stats: Value = serde_json::from_str(&stats).unwrap();
                    if stats["wanted"] == expected {
                        return;
                    }
                }
            };
            let heard = tokio::time::timeout(LIMIT, heard).await;
            heard.unwrap_or_else(|_| panic!("{expected} {era:?}"));
        };
        let one = odd.upstream.subscribe("odd://x");
        let two = odd.upstream.subscribe("odd://x");
        drop(one);
        let first = if era.is_empty() {
            "subscribe odd://x"
        } else {
            "odd://x"
        };
        heard(json!([first])).await;
        drop(two);
        heard(after).await;
    }
}
