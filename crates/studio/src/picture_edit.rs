//! Edits of a picture before it is used: `crop` has the geometry of its part, `edit` the edits and the size of the result, and
//! `ratio` the ratios that are offered.

pub mod crop;
pub mod edit;
pub mod ratio;
