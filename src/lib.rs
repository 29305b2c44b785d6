//! Atelier's front-end, by room: what starts the page (`boot`), what the app knows (`state`), what drives tasks
//! (`runner`), what a person sees (`view`), and what talks to the browser (`browser`, `files`). Decisions live in the
//! crates `atelier-engine`, `atelier-studio` and `atelier-contract`.

mod boot;
pub mod browser;
mod files;
mod reactive;
mod runner;
mod state;
#[cfg(test)]
mod testing;
pub mod view;

pub use boot::app::App;
pub use state::contexts::Contexts;
