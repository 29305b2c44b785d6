//! The cache of outputs in the browser: computes its size, and chooses the copies to evict.

use atelier_contract::json;
use atelier_engine::{Millis, Task, TaskKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::plural::agreeing;

mod copy_request;

pub use copy_request::CopyRequest;

/// The limits for the total size of the copies from which the user can choose, in bytes.
pub const LIMITS: [u64; 3] = [100_000_000, 500_000_000, MAX_LIMIT];

/// The limit for copies of favorites in bytes, which is independent of the chosen limit.
pub const MAX_LIMIT: u64 = 2_000_000_000;

/// The metadata of a copy. Browsers contain records of earlier versions, so names and types of its fields must not
/// change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedOutput {
    /// The name of the output; see [`TaskKey::output`].
    pub key: String,
    /// The address from which the output was fetched.
    pub url: String,
    /// The size of the copy in bytes.
    pub bytes: u64,
    /// When the copy was made, in ms since 1970-01-01 UTC.
    pub kept: Millis,
    /// When it was last shown, in ms since 1970-01-01 UTC.
    pub shown: Millis,
}

/// Parses the name of an output (see [`TaskKey::output`]) into its task and index.
pub fn parse_name(key: &str) -> Option<(TaskKey, usize)> {
    let (task, position) = key.rsplit_once('/')?;
    Some((TaskKey(task.to_owned()), position.parse().ok()?))
}

impl CachedOutput {
    /// Parses the stored form; `None` if it is invalid.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    /// Returns the stored form.
    pub fn to_value(&self) -> Value {
        json::encode(self)
    }
}

/// Returns the total size of the copies in bytes.
pub fn total(copies: &[CachedOutput]) -> u64 {
    let add = |total: u64, copy: &CachedOutput| total.saturating_add(copy.bytes);
    copies.iter().fold(0, add)
}

/// Returns the keys of the copies to evict so that a copy of `incoming` bytes fits: the least recently shown ones, and
/// no more than necessary. `None` if the new copy alone exceeds the limit, or if a copy would have to be evicted that
/// was shown later than the new one. `shown`: when the new one was last shown.
pub fn copies_to_evict(
    copies: &[CachedOutput],
    incoming: u64,
    limit: u64,
    shown: Millis,
) -> Option<Vec<String>> {
    let most = limit.checked_sub(incoming)?;
    let mut taken = total(copies);
    let mut least_recent: Vec<&CachedOutput> = copies.iter().collect();
    least_recent.sort_by_key(|copy| copy.shown);
    let mut evicted = Vec::new();
    for copy in least_recent {
        if taken <= most {
            break;
        }
        if copy.shown > shown {
            return None;
        }
        taken -= copy.bytes.min(taken);
        evicted.push(copy.key.clone());
    }
    Some(evicted)
}

/// Returns the limit if it is one of [`LIMITS`], else the middle one.
pub fn valid_limit(limit: u64) -> u64 {
    if LIMITS.contains(&limit) {
        limit
    } else {
        LIMITS[1]
    }
}

/// Returns the number of bytes that still fit.
pub fn free_space(copies: &[CachedOutput], limit: u64) -> u64 {
    limit.saturating_sub(total(copies))
}

/// Returns the copies that may be evicted and that count towards the limit: all except favorites.
pub fn evictable(mut copies: Vec<CachedOutput>, favorites: &[String]) -> Vec<CachedOutput> {
    copies.retain(|copy| !favorites.contains(&copy.key));
    copies
}

/// Returns the names of the outputs that are favorites.
pub fn favorites<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Vec<String> {
    let names = |task: &'a Task| task.favorites.iter().map(|at| task.key.output(*at));
    tasks.into_iter().flat_map(names).collect()
}

/// The messages about the copies in this browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheMessages {
    /// The number of copies and their total size: `2 copies, 1.8 MB`.
    pub count: String,
    /// The reason why there are copies although the cache is off.
    pub reason: Option<&'static str>,
    /// The reason why no copies can be deleted.
    pub undeletable_reason: Option<&'static str>,
}

/// Returns the messages. `is_wanted`: whether all outputs are cached, not only favorites.
pub fn messages(copies: &[CachedOutput], favorites: &[String], is_wanted: bool) -> CacheMessages {
    let of_favorites = copies.iter().filter(|copy| favorites.contains(&copy.key));
    let of_favorites = of_favorites.count();
    let number = copies.len();
    let copies_word = agreeing(number, "copy", "copies");
    let reason = "Copies of favorites are kept even while Keep outputs is off.";
    CacheMessages {
        count: format!("{number} {copies_word}, {}", size(total(copies))),
        reason: (of_favorites > 0 && !is_wanted).then_some(reason),
        undeletable_reason: match copies.len() {
            0 => Some("Nothing is kept."),
            all if all == of_favorites => Some("Only favorites are kept, and they stay."),
            _ => None,
        },
    }
}

/// Formats a number of bytes, such as `12.3 MB`.
pub fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    // Round up, so that the size of a small file is not 0.
    let tenths = bytes.div_ceil(unit / 10);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        tenth => format!("{}.{tenth} {name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests;
