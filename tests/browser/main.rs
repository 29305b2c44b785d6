//! Tests of the real components in a real browser, with HTTP calls to the real local service.
//!
//! `./dev test browser` starts the service and the fault proxy in front of it (`tests/end-to-end/src/fault.rs`). The tests
//! are compiled with their addresses.

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
