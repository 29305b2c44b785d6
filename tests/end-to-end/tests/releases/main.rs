//! Tests of deploying new releases: files of the previous release in a cache or an open page never mix with the next
//! release.

mod cache;
mod differences;
mod host;
mod open_page;
