//! Files of outputs: their number and shape as expected from the input, their types and names, cached copies,
//! thumbnails and waveforms. For addresses and kinds of outputs, see [`atelier_contract::output`].

pub mod download_name;
pub mod expected_output;
pub mod file_name;
pub mod file_type;
pub mod name_pattern;
pub mod output_access;
pub mod output_cache;
pub mod thumbnail;
pub mod upload_copy;
pub mod waveform;
