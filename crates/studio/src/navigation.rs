//! How a person gets around: routes, the list of commands, categories and order of models, search, and the titles
//! of tabs.

pub mod categories;
pub mod commands;
pub mod model_order;
pub mod route;
pub mod search;
pub mod settings_link;
pub(crate) mod sort;
pub mod tab_title;
