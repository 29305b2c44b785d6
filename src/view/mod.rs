//! The user interface. Views show signals and forward events; they contain as little logic as possible.

pub mod batch;
pub mod form;
pub mod gallery;
pub mod integrations;
pub mod lightbox;
pub mod mask;
pub mod model;
pub mod models;
pub mod parts;
pub mod picture_editor;
pub mod settings;
pub mod shell;
pub mod task;
pub mod tasks;
