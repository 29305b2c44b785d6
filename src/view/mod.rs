//! What a person sees. Views hold as little logic as they can: they show signals and pass on what
//! people do.

pub mod batch;
pub mod form;
pub mod gallery;
pub mod integrations;
pub mod lightbox;
pub mod model;
pub mod models;
pub mod parts;
pub mod settings;
pub mod shell;
pub mod task;
pub mod tasks;
