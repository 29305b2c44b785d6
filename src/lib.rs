//! The page of Atelier: `boot` starts it, `state` contains its state as signals, `runner` drives tasks, `view` contains the
//! views, and `browser` and `files` use features of the browser. Decisions are in the crates `atelier-engine`,
//! `atelier-studio` and `atelier-contract`.

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
