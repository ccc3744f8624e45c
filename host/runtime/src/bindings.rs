//! The host's side of `dormouse:plugin`, generated from the contract's WIT.

wasmtime::component::bindgen!({
    path: "../../wit/plugin",
    world: "imports",
    imports: {
        "dormouse:plugin/client.ask": async | trappable,
        "dormouse:plugin/upstream.request": async | trappable,
    },
});
