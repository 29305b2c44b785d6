//! Atelier's front-end: effects (`browser`, `runner`), what the app knows (`session`, `catalog`)
//! and what a person sees (`view`). Decisions live in the crates `atelier-engine`, `atelier-studio`
//! and `atelier-contract`.

mod app;
pub mod archive;
mod awaited;
mod away;
pub mod batches;
pub mod boxed;
pub mod browser;
pub mod catalog;
mod contexts;
pub mod deferred;
pub mod gallery;
pub mod history_file;
mod kept_models;
mod learned;
mod leaving;
pub mod model_order;
pub mod navigation;
pub mod notices;
mod notifying;
pub mod offline;
mod outage;
mod output_file;
pub mod prefetch;
pub mod presets;
mod program;
mod returning;
pub mod runner;
pub mod secrets;
pub mod session;
mod shapes;
mod tab_title;
pub mod tables;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod view;

pub use app::App;
pub use contexts::Contexts;
