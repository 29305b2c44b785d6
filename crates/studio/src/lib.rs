//! The logic of the page: forms, batches, the gallery, the history. Its functions are pure, like the engine: the time,
//! random numbers and replies are arguments.
//!
//! - Submitting: [`form`] for one input, [`mask`] for a mask in it, [`compose`] for a table of inputs; [`share`] for links
//!   and programs.
//! - Submitted tasks: [`task`] for one, [`batch`] for many, [`history`] for all.
//! - Outputs: [`output`] for a file, [`gallery`] for all of them.
//! - Shared by all pages: [`navigation`] and [`list`] for pages and long lists, [`connection`] for services, [`fault`] for
//!   failures of the page, [`text`] for the wording that they share.
//!
//! The engine that runs tasks is in [`atelier_engine`], which does not depend on this crate.

/// Tasks that were sent together: names, progress, differences, and the layout of their grids.
pub mod batch;
/// The table in which a batch is composed: prompts, sweeps, imports, ranges, and its stored form.
pub mod compose;
/// Account limits, connection tests, and the cache of replies about models.
pub mod connection;
/// Decides what to do when the page or a part of it fails.
pub mod fault;
/// The form of a model: controls, seeds, presets, earlier inputs, and what blocks submission.
pub mod form;
/// The gallery of all outputs: search, layout, comparison, zoom and gestures.
pub mod gallery;
/// The list of all tasks, and its exports: archives, manifests, lineage.
pub mod history;
/// Long lists and grids: the rows to render, and focus by arrow keys.
pub mod list;
/// Masks that the user draws over a picture.
pub mod mask;
/// Routes, commands, categories, search, and the titles of tabs.
pub mod navigation;
/// Files of outputs: their types, names, copies, thumbnails and waveforms.
pub mod output;
/// Edits of a picture before it is used: crop, turns, size.
pub mod picture_edit;
/// Recipes in the metadata of files, of Atelier and of other programs.
pub mod recipe_file;
/// Links and programs that repeat a submission.
pub mod share;
/// Data and messages that a page shows for a task or for related tasks.
pub mod task;
/// Text for users: excerpts, plurals, dates, differences and encodings.
pub mod text;

#[cfg(test)]
mod testing;
