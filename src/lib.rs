//! Atelier.
