mod batches;
mod credentials;
mod properties;
mod returns;
mod rounds;
mod rules;
mod tabs;
mod world;
