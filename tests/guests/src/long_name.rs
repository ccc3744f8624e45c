//! Has a tool of a very long name.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct LongName;

dormouse_sdk::plugin!(LongName, world = "long-name");

impl Guest for LongName {
    fn a_tool_whose_author_was_never_told_that_names_are_to_be_short_and_so_goes_on_and_on_until_it_has_two_hundred_characters_which_is_more_than_any_client_of_today_would_show_to_its_model_or_to_its_user_an()
    -> String {
        "called".to_owned()
    }
}
