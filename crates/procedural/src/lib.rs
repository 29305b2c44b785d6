//! Models that compute files from an input: pictures, films and music, from a prompt, parameters and a seed.
//! Deterministic and without AI, network, clock or storage.

pub mod draw;
mod input;
mod model;
mod models;
mod pictures;
mod schema;

pub use input::Input;
pub use model::{About, Error, FAIL_WORD, File, Frame, Job, Model};

/// Identifies the code that draws: the same code draws the same pictures.
pub const DRAWING: &str = env!("DRAWING");

/// Returns all models, in the order of a list.
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
