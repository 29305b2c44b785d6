//! Copies of outputs that are kept in the browser: how much room they take, and which of them make
//! way for another.

use atelier_contract::json;
use atelier_engine::{Millis, Task, TaskKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::plural::agreeing;

mod copy_request;

pub use copy_request::CopyRequest;

/// How much room the copies may take together, in bytes: what a person chooses from.
pub const LIMITS: [u64; 3] = [100_000_000, 500_000_000, MAX_LIMIT];

/// The room for copies of favorites, in bytes, whatever was chosen for the others.
pub const MAX_LIMIT: u64 = 2_000_000_000;

/// The facts about a copy, without its bytes. Records of earlier visits must stay readable: names and shapes do not
/// change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedOutput {
    /// The output's name, see [`TaskKey::output`].
    pub key: String,
    /// The address that it was fetched from.
    pub url: String,
    /// The length of the copy.
    pub bytes: u64,
    /// When the copy was made, in ms since 1970.
    pub kept: Millis,
    /// When a person last had it before them, in ms since 1970.
    pub shown: Millis,
}

/// The task and the position of an output, by its name (see [`TaskKey::output`]).
pub fn place(key: &str) -> Option<(TaskKey, usize)> {
    let (task, position) = key.rsplit_once('/')?;
    Some((TaskKey(task.to_owned()), position.parse().ok()?))
}

impl CachedOutput {
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    pub fn to_value(&self) -> Value {
        json::encode(self)
    }
}

/// The bytes of all copies together.
pub fn total(copies: &[CachedOutput]) -> u64 {
    let add = |total: u64, copy: &CachedOutput| total.saturating_add(copy.bytes);
    copies.iter().fold(0, add)
}

/// The keys of the copies that have to go so that so many more bytes fit: those that no person has
/// looked at for longest, and no more of them than needed. `None` if it would not fit into all the
/// room there is, or one would have to go that was looked at after `shown`, when what comes was.
pub fn make_room(
    copies: &[CachedOutput],
    incoming: u64,
    limit: u64,
    shown: Millis,
) -> Option<Vec<String>> {
    let room = limit.checked_sub(incoming)?;
    let mut taken = total(copies);
    let mut longest_unseen: Vec<&CachedOutput> = copies.iter().collect();
    longest_unseen.sort_by_key(|copy| copy.shown);
    let mut going = Vec::new();
    for copy in longest_unseen {
        if taken <= room {
            break;
        }
        if copy.shown > shown {
            return None;
        }
        taken -= copy.bytes.min(taken);
        going.push(copy.key.clone());
    }
    Some(going)
}

/// Gives the limit that a person has chosen among [`LIMITS`], or the middle one if none was.
pub fn chosen(limit: u64) -> u64 {
    if LIMITS.contains(&limit) {
        limit
    } else {
        LIMITS[1]
    }
}

/// How many more bytes fit in addition to these copies.
pub fn room(copies: &[CachedOutput], limit: u64) -> u64 {
    limit.saturating_sub(total(copies))
}

/// The copies that may have to be evicted, and whose bytes count: all but the favorites.
pub fn without(mut copies: Vec<CachedOutput>, favorites: &[String]) -> Vec<CachedOutput> {
    copies.retain(|copy| !favorites.contains(&copy.key));
    copies
}

/// The names of the outputs that are favorites.
pub fn favorites<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Vec<String> {
    let names = |task: &'a Task| task.favorites.iter().map(|at| task.key.output(*at));
    tasks.into_iter().flat_map(names).collect()
}

/// The message about the copies in this browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// `2 copies, 1.8 MB`.
    pub count: String,
    /// Why there are any, where none seem to be wanted.
    pub why: Option<&'static str>,
    /// Why none can be deleted.
    pub why_none_goes: Option<&'static str>,
}

/// `is_wanted`: a copy of each output is to be kept, and not of favorites alone.
pub fn told(copies: &[CachedOutput], favorites: &[String], is_wanted: bool) -> Told {
    let of_favorites = copies.iter().filter(|copy| favorites.contains(&copy.key));
    let of_favorites = of_favorites.count();
    let number = copies.len();
    let copies_word = agreeing(number, "copy", "copies");
    let why = "Copies of favorites are kept even while Keep outputs is off.";
    Told {
        count: format!("{number} {copies_word}, {}", size(total(copies))),
        why: (of_favorites > 0 && !is_wanted).then_some(why),
        why_none_goes: match copies.len() {
            0 => Some("Nothing is kept."),
            all if all == of_favorites => Some("Only favorites are kept, and they stay."),
            _ => None,
        },
    }
}

/// A number of bytes in words, e.g. `12.3 MB`.
pub fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    // Rounded up: what is there is never shown as nothing.
    let tenths = bytes.div_ceil(unit / 10);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        tenth => format!("{}.{tenth} {name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests;
