//! Tests that no submitted task is lost or paid for twice, and that no call is made before the time in `Retry-After`,
//! while the page, the network and the service fail in various ways.

mod cancel;
mod events;
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
