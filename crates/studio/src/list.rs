//! Long lists: which rows are drawn, and where arrow keys lead.

pub mod arrow_keys;
pub mod grouped_grid;
pub mod window;
