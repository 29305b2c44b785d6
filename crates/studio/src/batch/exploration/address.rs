//! Reads and writes the place in a batch that a page's address names.

use atelier_contract::path;
use atelier_engine::BatchKey;

use super::Exploration;

impl Exploration {
    /// A batch and a position in it, as the address has them: `prompt=dusk&panes=60@key`. By values, since an axis
    /// that gains or loses one, as by a retry of other inputs or by what is removed, would make a place another.
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

    /// The position that has these values; the beginning of each axis that they say nothing known about.
    pub fn position(&self, wanted: &[(String, String)]) -> Vec<usize> {
        let axes = self.axes.iter().enumerate();
        axes.map(|(nth, axis)| {
            let is_meant = |pair: &&(String, String)| pair.0 == axis.parameter;
            // A parameter may be called as the axis of copies is.
            let in_order = wanted.get(nth).filter(is_meant);
            let (_, value) = in_order.or_else(|| wanted.iter().find(is_meant))?;
            axis.values
                .iter()
                .position(|known| in_address(known) == *value)
        })
        .map(Option::unwrap_or_default)
        .collect()
    }
}

/// The address of a batch at the beginning of every axis.
pub fn beginning(batch: &BatchKey) -> String {
    format!("@{}", batch.0)
}

/// Reads [`Exploration::address`]: the batch, and the values by their parameters.
pub fn read_address(text: &str) -> Option<(BatchKey, Vec<(String, String)>)> {
    let (values, key) = text.split_once('@')?;
    let pairs = values.split('&').filter_map(|pair| pair.split_once('='));
    let values = pairs.map(|(parameter, value)| (path::decode(parameter), path::decode(value)));
    (!key.is_empty()).then(|| (BatchKey(key.to_owned()), values.collect()))
}

/// A value as the address has it: of a long text its beginning, and a number that tells it from others.
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

/// FNV-1a: the same in every release, as an address has to be.
fn checksum(text: &str) -> u32 {
    let add = |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, add)
}
