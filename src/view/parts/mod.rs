//! Pieces that several views are made of.

pub mod as_of;
pub mod away;
pub mod cached_output;
pub mod click;
pub mod confirm;
pub mod copy_button;
pub mod deferred;
pub mod dialog;
pub mod double_click_guard;
pub mod failure;
pub mod favorites_chip;
pub mod focus;
pub mod glyph;
pub mod heart;
pub mod list;
pub mod media;
pub mod no_account;
pub mod page_title;
pub mod question;
pub mod segment;
pub mod status_note;
pub mod ticker;
pub mod viewport;
pub mod waveform;
