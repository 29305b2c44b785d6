//! Logic of the page: forms, batches, the gallery, the history. Pure, like the engine: the time, random numbers
//! and replies are arguments.
//!
//! - To submit: [`form`] for one input, [`compose`] for a table of them; [`share`] for links and programs.
//! - What was submitted: [`task`] for one task, [`batch`] for many of them, [`history`] for all.
//! - What came of it: [`output`] for a file, [`gallery`] for all of them.
//! - Around them: [`navigation`] and [`list`] for pages and long lists, [`connection`] for services, [`fault`] for
//!   failures of the page, [`text`] for the wording that they share.
//!
//! What drives a task is in [`atelier_engine`], which knows nothing of this crate.

/// Tasks that were sent together: names, progress, differences, and how their grids are laid out.
pub mod batch;
/// The table in which a batch is composed: prompts, sweeps, imports, ranges, and what is stored of it.
pub mod compose;
/// What a service says of an account and its models.
pub mod connection;
/// What to do when a part of the page, or the page itself, fails.
pub mod fault;
/// The form of a model: controls, seeds, presets, earlier inputs, and what blocks submission.
pub mod form;
/// Every output in one place: search, layout, comparison, zoom and gestures.
pub mod gallery;
/// The list of all tasks, and what is written of them: archives, manifests, lineage.
pub mod history;
/// Long lists: which rows are drawn, and where arrow keys lead.
pub mod list;
/// Routes, commands, categories, search, and the titles of tabs.
pub mod navigation;
/// Files of outputs: their types, names, copies, thumbnails and waveforms.
pub mod output;
/// Links and programs that repeat a submission.
pub mod share;
/// What a page shows of one task, or of tasks that belong together.
pub mod task;
/// Text for people: excerpts, plurals, dates, differences and encodings.
pub mod text;

#[cfg(test)]
mod testing;
