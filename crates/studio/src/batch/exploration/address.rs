//! Reads and writes positions in a batch as parts of a URL.

use atelier_contract::path;
use atelier_engine::BatchKey;

use super::Exploration;

impl Exploration {
    /// Formats a position in a batch for the URL: `prompt=dusk&panes=60@key`. It contains values instead of indexes,
    /// because a retry or removal may add a value to an axis or remove one.
    pub fn address(&self, batch: &BatchKey, position: &[usize]) -> String {
        let axes = self.axes.iter().zip(position);
        let values = axes.filter_map(|(axis, place)| {
            let value = in_address(axis.values.get(*place)?);
            let parameter = path::segment(&axis.parameter);
            Some(format!("{parameter}={}", path::segment(&value)))
        });
        let values: Vec<String> = values.collect();
        format!("{}@{}", values.join("&"), batch.0)
    }

    /// Returns the position of these values. For an unknown value, it is at the start of the axis.
    pub fn position(&self, values: &[(String, String)]) -> Vec<usize> {
        let axes = self.axes.iter().enumerate();
        axes.map(|(nth, axis)| {
            let is_of_axis = |pair: &&(String, String)| pair.0 == axis.parameter;
            // A parameter may have the same name as the axis of copies.
            let in_order = values.get(nth).filter(is_of_axis);
            let (_, value) = in_order.or_else(|| values.iter().find(is_of_axis))?;
            axis.values
                .iter()
                .position(|known| in_address(known) == *value)
        })
        .map(Option::unwrap_or_default)
        .collect()
    }
}

/// Returns the address of a batch at the start of every axis.
pub fn beginning(batch: &BatchKey) -> String {
    format!("@{}", batch.0)
}

/// Parses an [`Exploration::address`] into the batch, and the values by their parameters.
pub fn read_address(text: &str) -> Option<(BatchKey, Vec<(String, String)>)> {
    let (values, key) = text.split_once('@')?;
    let pairs = values.split('&').filter_map(|pair| pair.split_once('='));
    let values = pairs.map(|(parameter, value)| (path::decode(parameter), path::decode(value)));
    (!key.is_empty()).then(|| (BatchKey(key.to_owned()), values.collect()))
}

/// Shortens a long value for the URL, and appends a checksum that distinguishes it from similar values.
fn in_address(value: &str) -> String {
    const LONGEST: usize = 60;
    const SHOWN: usize = 40;
    match value.char_indices().nth(LONGEST) {
        None => value.to_owned(),
        Some(_) => {
            let start: String = value.chars().take(SHOWN).collect();
            format!("{start}…{:08x}", checksum(value))
        }
    }
}

/// Computes the FNV-1a hash, which must be the same in every release.
fn checksum(text: &str) -> u32 {
    let add = |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, add)
}
