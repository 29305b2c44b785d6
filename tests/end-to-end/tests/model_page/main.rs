//! The page of a model: nothing typed is lost, no press is swallowed, and none is paid twice.

mod again;
mod form;
mod kept_place;
mod missing;
mod phone;
mod presses;
mod reuse;
mod studio;
mod typed;
