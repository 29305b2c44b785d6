//! Batch mode: what is composed is sent once, in calls of up to ten and in order; it is watched,
//! repeated and taken away as a whole; and a thousand items are as smooth as twenty.

mod archive;
mod composing;
mod exploring;
mod failures;
mod interruptions;
mod keys;
mod lines;
mod page;
mod sending;
mod size;
mod studio;
mod tables;
mod tabs;
