//! Batch mode: what is composed is sent once, in calls of up to ten and in order; it is watched,
//! repeated and taken away as a whole; and a thousand items are as smooth as twenty.

mod archive;
mod composing;
mod edit_again;
mod exploring;
mod failures;
mod interruptions;
mod keys;
mod labelled_grid;
mod left;
mod lines;
mod long_prompts;
mod outputs;
mod page;
mod panes;
mod queued;
mod sending;
mod size;
mod studio;
mod tables;
mod tabs;
mod translated;
mod undo;
