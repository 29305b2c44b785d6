//! Effects, one file each: what the browser does for us. No decisions here.

pub mod archive;
pub mod clipboard;
pub mod clock;
pub mod dates;
pub mod download;
pub mod early;
pub mod file;
pub mod frame;
pub mod head;
pub mod http;
pub mod leadership;
pub mod lifecycle;
pub mod local;
pub mod location;
pub mod notify;
pub mod panic;
pub mod picture;
pub mod random;
pub mod received;
pub mod sound;
pub mod storage;
pub mod style;
pub mod tables;
pub mod tabs;
pub mod thumbnails;
pub mod worker;
