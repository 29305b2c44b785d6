mod again;
mod batches;
mod credentials;
mod hand;
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
