//! Features of shared dependencies, so that they are the same whatever part of the
//! workspace is built. There is no code here: `Cargo.toml` says why.
