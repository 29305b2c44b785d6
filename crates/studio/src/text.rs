//! Text for users: excerpts, plurals, dates, differences and encodings. For durations, see
//! [`atelier_engine::duration`].

pub mod calendar;
pub(crate) mod decimal;
pub mod diff;
pub mod encoding;
pub mod excerpt;
pub mod fold;
pub mod plural;
pub mod timestamp;
