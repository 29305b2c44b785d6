//! Batch mode: items are sent once and in order, in calls of up to ten. The user can watch, repeat and remove a batch
//! as a whole, and a thousand items are displayed as smoothly as twenty.

mod archive;
mod cancel;
mod composing;
mod edit_again;
mod exploring;
mod failures;
mod interruptions;
mod keys;
mod labelled_grid;
mod leftover_rows;
mod lines;
mod long_prompts;
mod outputs;
mod page;
mod panes;
mod pictures;
mod progress;
mod queued;
mod sending;
mod size;
mod studio;
mod tables;
mod tabs;
mod translated;
mod undo;
