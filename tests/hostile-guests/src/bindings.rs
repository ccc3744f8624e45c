//! Bindings that wit-bindgen makes of the guests' world, once for all of them.

#![allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::restriction,
    reason = "generated; the interface is described where it is written"
)]

wit_bindgen::generate!({
    path: "wit",
    world: "hostile-guest",
    pub_export_macro: true,
    export_macro_name: "export_guest",
    default_bindings_module: "dormouse_hostile_guests::bindings",
});

/// Makes a guest of a function that tries things.
#[macro_export]
macro_rules! guest {
    ($attempt:path) => {
        struct HostileGuest;

        impl $crate::bindings::Guest for HostileGuest {
            fn attempt(granted: String, other: String) -> Vec<$crate::bindings::Outcome> {
                $attempt(&granted, &other)
            }

            fn get(url: String) -> Result<String, String> {
                $crate::request::get(&url)
            }
        }

        $crate::bindings::export_guest!(HostileGuest);
    };
}
