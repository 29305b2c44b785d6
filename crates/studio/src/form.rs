//! The form of a model. `control` chooses the control of each parameter; `field` and `folded` determine how the control
//! is shown; `sheet` opens and closes a form that is a bar at the bottom of the screen; `preset`, `prompt_history`,
//! `rerun` and `reuse` fill the form; `undo` reverts changes; `upload` decides about files of
//! the user; `media_list` is a list of them; `blocker` reports why the form can't be sent.

pub mod blocker;
pub mod control;
pub mod double_click;
pub mod field;
pub mod folded;
pub mod input_json;
pub mod media_list;
pub mod parameter_name;
pub mod preset;
pub mod prompt_history;
pub mod refused_input;
pub mod rerun;
pub mod reuse;
pub mod seed;
pub mod sheet;
pub mod undo;
pub mod upload;
pub mod vocabulary;
