//! The state of the app, as signals at its root, and effects that react to their changes as long as the page is open.

pub mod aspect_ratios;
pub mod batches;
pub mod cached_models;
pub mod catalog;
pub mod contexts;
pub mod file_settings;
pub mod gallery;
pub mod known_files;
pub mod media_lists;
pub mod model_order;
pub mod navigation;
pub mod notices;
pub mod notification_choice;
pub mod outage;
pub mod presets;
pub mod retry_signal;
pub mod secrets;
pub mod session;
pub mod tab_title;
pub mod tables;
pub mod theme;
pub mod unavailable_models;
pub mod unload_guard;
pub mod uploads;
