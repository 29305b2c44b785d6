mod batches;
mod credentials;
mod properties;
mod rounds;
mod rules;
mod tabs;
mod world;
mod returns;
