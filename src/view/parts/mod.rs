//! Pieces that several views are made of.

pub mod answer;
pub mod away;
pub mod cached_output;
pub mod confirm;
pub mod copy_button;
pub mod deferred;
pub mod dialog;
pub mod failure;
pub mod glyph;
pub mod heart;
pub mod held;
pub mod list;
pub mod media;
pub mod question;
pub mod segment;
pub mod ticker;
pub mod viewport;
pub mod waveform;
