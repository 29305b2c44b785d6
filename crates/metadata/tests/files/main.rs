//! Reads and writes files of every format.

mod common;
mod hostile;
mod read;
mod write;
