//! A hostile service, or one that is broken in ways that the interface does not exclude: the page shows replies as text,
//! loses no task, and continues to work.

mod addresses;
mod files;
mod foreign_tables;
mod host;
mod inputs;
mod large;
mod policy;
mod progress;
mod replies;
mod secrets;
mod service;
mod sizes;
mod stopped;
mod stored_data;
mod studio;
mod texts;
