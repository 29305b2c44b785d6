//! Routes, the command list, categories and order of models, search, and tab titles.

pub mod categories;
pub mod commands;
pub mod model_order;
pub mod route;
pub mod search;
pub mod settings_link;
pub(crate) mod sort;
pub mod tab_title;
