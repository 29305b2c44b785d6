//! Atelier's local service: implements INTERFACE.md on one machine.
//!
//! By default it runs *procedural* models ([`atelier_procedural`]): pictures, clips and pieces of music computed from
//! the prompt, the parameters and a seed, without AI or network. That lets users try Atelier without an account, and
//! tests the front-end and the Python files against a real implementation. A models file adds remote models
//! ([`model_file`], [`runner`]).
//!
//! - Tasks are stored in SQLite, or in PostgreSQL for several processes, and survive a restart or a kill ([`store`]).
//! - A bounded thread pool runs them ([`worker`]), round-robin by owner ([`turns`]).
//! - Outputs are files, served with their types, byte ranges and CORS ([`outputs`]).
//! - The two Python files are rendered from the same schemas ([`python`]).

pub mod access;
pub mod accounts;
pub mod agents;
pub mod app;
pub mod auth;
pub mod backend;
mod changes;
pub mod cleanup;
pub mod cli;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod command;
pub mod config;
pub mod connections;
pub mod doctor;
pub mod failure;
pub mod idempotency;
pub mod limit;
pub mod logging;
pub mod mcp;
pub mod metrics;
pub mod model;
pub mod model_file;
pub mod models;
#[cfg(not(feature = "cluster"))]
mod no_cluster;
pub mod old_secrets;
pub mod openai_images;
pub mod origin;
pub mod outputs;
pub mod picture;
pub mod private;
pub mod python;
pub mod readiness;
pub mod recipe;
pub mod report;
pub mod routes;
pub mod runner;
pub mod sample;
pub mod secrets;
pub mod site;
pub mod start_error;
pub mod state;
pub mod store;
pub mod turns;
pub mod uploads;
pub mod webhooks;
pub mod worker;

pub use app::{serve, work};
pub use cli::Cli;
pub use config::Config;
pub use start_error::StartError;
