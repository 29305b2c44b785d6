//! What a person sees. Views hold as little logic as they can: they show signals and pass on what
//! people do.

pub mod batch;
pub mod card_keys;
pub mod commands;
mod copy_by_hand;
pub mod deferred_dialogs;
pub mod dialogs;
pub mod first_picture;
pub mod form;
pub mod gallery;
pub mod integrations;
pub mod left_place;
pub mod lightbox;
pub mod missing;
pub mod model;
pub mod model_card;
pub mod models;
pub mod models_said;
pub mod notice_list;
pub mod pages;
pub mod parts;
pub mod send_unstored;
pub mod settings;
pub mod shell;
pub mod shortcuts;
pub mod status;
pub mod task;
pub mod tasks;
pub mod undo;
