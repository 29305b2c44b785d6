//! The page of a model: nothing typed is lost, no press is swallowed, and none is paid twice.

mod again;
mod filmstrip;
mod foot;
mod form;
mod kept_place;
mod missing;
mod moving;
mod notified;
mod phone;
mod place;
mod presses;
mod recipe;
mod refused;
mod reuse;
mod studio;
mod typed;
