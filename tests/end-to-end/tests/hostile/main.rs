//! A service that means harm, or is broken in every way that its interface does not rule out: the
//! page shows what it is told as text, loses nothing, and goes on.

mod addresses;
mod files;
mod foreign_tables;
mod host;
mod inputs;
mod large;
mod policy;
mod replies;
mod secrets;
mod service;
mod sizes;
mod stopped;
mod stored_data;
mod studio;
mod texts;
