//! Drives the release build of Atelier in a real browser. The local service serves it, and tests find elements by
//! role and accessible name. The proxy of [`fault`] between the page and the service injects faults.

pub mod browser;
mod chromium;
mod clipboard;
pub mod driver;
pub mod engine;
pub mod fault;
pub mod find;
mod firefox;
pub mod generation;
pub mod http;
pub mod ledger;
pub mod models_file;
mod notice;
mod page_clock;
mod press;
pub mod received_refusals;
pub mod release;
pub mod screenshot;
pub mod service;
pub mod site;
pub mod story;
pub mod studio;
mod touch;
pub mod tour;
pub mod wait;
mod webkit;

pub type Error = Box<dyn std::error::Error + Send + Sync>;
pub type Result<T> = std::result::Result<T, Error>;
