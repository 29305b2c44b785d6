mod again;
mod batches;
mod credentials;
mod hand;
mod key_validity;
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
