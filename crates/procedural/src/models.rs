//! The models, one file each.

mod fluxfield;
mod repaint;
mod reverie;
mod silk;
mod strata;
mod tessera;

pub use fluxfield::Fluxfield;
pub use repaint::Repaint;
pub use reverie::Reverie;
pub use silk::Silk;
pub use strata::Strata;
pub use tessera::Tessera;
