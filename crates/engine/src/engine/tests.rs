mod again;
mod attempts;
mod batches;
mod credentials;
mod hand;
mod key_validity;
mod knock;
mod late;
mod polls;
mod properties;
mod removal;
mod returns;
mod rounds;
mod rules;
mod tabs;
mod waits;
mod world;

pub use world::task;
