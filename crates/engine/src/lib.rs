//! The decisions.
