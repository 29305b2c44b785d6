//! Files of outputs: what an input reveals about them in advance, their types and names, cached copies, thumbnails and
//! waveforms. Addresses and kinds of outputs are in [`atelier_contract::output`].

pub mod download_name;
pub mod expected_output;
pub mod file_name;
pub mod file_type;
pub mod output_access;
pub mod output_cache;
pub mod thumbnail;
pub mod waveform;
