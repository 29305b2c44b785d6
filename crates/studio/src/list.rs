//! Long lists and grids: computes which rows to render, and where arrow keys move the focus.

pub mod arrow_keys;
pub mod grouped_grid;
pub mod window;
