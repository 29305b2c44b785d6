//! Nothing that a person submits is lost or paid twice, and no service is called before it wants to
//! be: whatever happens to the page, the network and the service in between.

mod everything;
mod failures;
mod handover;
mod interruptions;
mod keys;
mod leading;
mod limits;
mod newer;
mod settings;
mod storage;
mod studio;
mod tabs;
mod unstored;
