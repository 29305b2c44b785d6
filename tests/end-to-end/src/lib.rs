//! Drives Atelier as a person would: the release build, served by the local service, in a real
//! browser, found by role and accessible name. [`fault`] stands between the page and the service
//! when a test is about what goes wrong.

pub mod browser;
mod chromium;
mod clipboard;
pub mod driver;
pub mod engine;
pub mod fault;
pub mod find;
mod firefox;
pub mod generation;
pub mod hearing;
pub mod http;
pub mod ledger;
pub mod look;
mod notice;
mod page_clock;
mod press;
pub mod release;
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
