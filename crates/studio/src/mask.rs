//! Masks that the user draws over a picture: `target` finds the picture of a mask parameter, `bitmap` has the pixels, `drawing`
//! the undoable changes, `view` the part that is shown, `png` the file, `pictures` remembers which picture a mask belongs to, and
//! `words` has the texts.

pub mod bitmap;
pub mod drawing;
pub mod pictures;
pub mod png;
pub mod target;
pub mod view;
pub mod words;
