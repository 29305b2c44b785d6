//! One release after another: what a browser has kept of the one before, or still runs of it, never
//! mixes with the next.

mod cache;
mod host;
mod open_page;
