//! Procedural models that compute images, videos and music from a prompt, parameters and a seed. Deterministic; no AI,
//! network, clock or storage.

pub mod draw;
mod input;
mod model;
mod models;
mod pictures;
mod schema;

pub use input::Input;
pub use model::{About, Error, FAIL_WORD, File, Frame, Job, Model};

/// A hash of this crate's source code, which determines its output.
pub const SOURCE_HASH: &str = env!("SOURCE_HASH");

/// The width of a poster in pixels: enough for a card of 320 px on a high-density screen.
pub const POSTER_WIDTH: u32 = 512;
/// The height of a poster, in pixels.
pub const POSTER_HEIGHT: u32 = 320;
/// The target size of a poster file, in bytes.
pub const POSTER_BYTES: usize = 20_000;

/// Returns all models, in the order of the list.
pub fn models() -> Vec<Box<dyn Model>> {
    vec![
        Box::new(models::Strata),
        Box::new(models::Fluxfield),
        Box::new(models::Tessera),
        Box::new(models::Repaint),
        Box::new(models::Silk),
        Box::new(models::Reverie),
    ]
}

#[cfg(test)]
mod tests;
