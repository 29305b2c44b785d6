//! The real components in a real browser, speaking HTTP to the real local service.
//!
//! `./dev test browser` starts the service and, in front of it, the proxy that makes calls go wrong
//! on command (`tests/end-to-end/src/fault.rs`), and says at compile time where they are.

#![cfg(target_arch = "wasm32")]

mod find;
mod page;
mod wire;

mod errors;
mod fields;
mod form;
mod form_focus;
mod generate;
mod integrations;
mod models;
mod output_cache;
mod settings;
mod storage;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
