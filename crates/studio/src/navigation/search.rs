//! Fuzzy text search: ignores case, accents and word order, and matches prefixes and small typos.
//!
//! Texts are prepared once as [`Searchable`], so that a key press only compares words.

pub mod days;

use crate::navigation::sort;
use crate::text::fold;

/// The maximum number of characters to search in a field, because prompts can be very long.
const MAX_CHARS: usize = 1000;
/// The maximum number of letters to compare in a word. Longer words are usually data.
const MAX_LETTERS: usize = 48;
/// The penalty per field after the first, so that matches in a name rank before matches in a description.
const FIELD: u32 = 4;
/// The minimum number of letters of a prefix that may have a typo. Shorter prefixes would match too many words.
const MIN_PREFIX_LETTERS: usize = 6;
/// The minimum number of letters of a word that counts as an id.
const MIN_ID_LETTERS: u8 = 16;

/// The minimum number of digits for a match with the prefix of a number.
const MIN_DIGITS: usize = 3;
/// The penalty for a typo. It is so large that matches without typos rank before all others.
const TYPO: u32 = 1000;

/// Text that is prepared for searching.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Searchable {
    /// The concatenated folded words.
    text: String,
    words: Vec<Word>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    start: u32,
    len: u16,
    letters: u8,
    field: u8,
    /// A bit set of the letters that occur, which excludes most words without comparing them.
    mask: u32,
}

/// The text in a search box, prepared for comparisons.
#[derive(Debug, Clone, Default)]
pub struct Query {
    words: Vec<QueryWord>,
}

#[derive(Debug, Clone)]
struct QueryWord {
    text: String,
    letters: Vec<char>,
    mask: u32,
    /// The number of allowed edits.
    typos: u32,
}

impl Searchable {
    /// Prepares the fields of an item, the most important one first.
    pub fn new<'a>(fields: impl IntoIterator<Item = &'a str>) -> Self {
        let mut prepared = Self::default();
        for (field, text) in fields.into_iter().enumerate() {
            prepared.add(u8::try_from(field).unwrap_or(u8::MAX), text);
        }
        prepared
    }

    fn add(&mut self, field: u8, text: &str) {
        let mut folded = String::with_capacity(text.len().min(MAX_CHARS));
        text.chars()
            .take(MAX_CHARS)
            .for_each(|c| fold::push(&mut folded, c));
        for compound in folded.split_whitespace() {
            words(compound).for_each(|word| self.add_word(field, word));
            // `gpt-4` also matches `gpt4`.
            if words(compound).nth(1).is_some() {
                self.add_word(field, &words(compound).collect::<String>());
            }
        }
    }

    fn add_word(&mut self, field: u8, word: &str) {
        let word = match word.char_indices().nth(MAX_LETTERS) {
            Some((end, _)) => &word[..end],
            None => word,
        };
        self.words.push(Word {
            start: self.text.len() as u32,
            len: word.len() as u16,
            letters: word.chars().count() as u8,
            field,
            mask: mask(word),
        });
        self.text.push_str(word);
    }
}

impl Query {
    pub fn new(text: &str) -> Self {
        let folded = fold::fold(text);
        let words = words(&folded)
            .map(|word| {
                let letters: Vec<char> = word.chars().take(MAX_LETTERS).collect();
                QueryWord {
                    text: letters.iter().collect(),
                    mask: mask(word),
                    typos: match letters.len() {
                        _ if is_number(word) => 0,
                        0..=3 => 0,
                        4..=7 => 1,
                        _ => 2,
                    },
                    letters,
                }
            })
            .collect();
        Self { words }
    }

    /// Whether the query is empty, so that everything matches equally.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the rank of the item (lower is better); `None` if a word of the query does not match.
    pub fn score(&self, item: &Searchable) -> Option<u32> {
        self.words.iter().try_fold(0, |sum: u32, wanted| {
            let mut best = u32::MAX;
            for word in &item.words {
                let field = u32::from(word.field) * FIELD;
                // A match with a typo can't be better than one without.
                let typos = if best < TYPO { 0 } else { wanted.typos };
                if best <= field || more_than(typos, wanted.mask & !word.mask) {
                    continue;
                }
                let start = word.start as usize;
                let text = &item.text[start..start + usize::from(word.len)];
                if let Some(rank) = wanted.rank(word, text, typos) {
                    best = best.min(rank + field);
                }
            }
            (best != u32::MAX).then(|| sum.saturating_add(best))
        })
    }

    /// Whether the query contains a number of at least [`MIN_DIGITS`] digits.
    pub fn has_long_numbers(&self) -> bool {
        self.long_numbers().next().is_some()
    }

    fn long_numbers(&self) -> impl Iterator<Item = &QueryWord> {
        let is_long = |it: &&QueryWord| is_number(&it.text) && it.text.len() >= MIN_DIGITS;
        self.words.iter().filter(is_long)
    }

    /// Whether the item contains all numbers of [`Query::has_long_numbers`] exactly, and not only as prefixes: an item
    /// with 10203 does not contain 1020. True if the query has no such numbers.
    pub fn contains_long_numbers(&self, item: &Searchable) -> bool {
        self.long_numbers().all(|wanted| {
            let text = |word: &Word| {
                let start = word.start as usize;
                &item.text[start..start + usize::from(word.len)]
            };
            item.words.iter().any(|word| text(word) == wanted.text)
        })
    }

    /// Returns the indexes of the matching items, the best first. Equal ones keep their order.
    pub fn find<'a>(&self, items: impl IntoIterator<Item = &'a Searchable>) -> Vec<usize> {
        Self::in_order(self.ranked(items))
    }

    /// Like [`Query::find`], but includes matches with typos only if there are none without typos.
    pub fn find_nearest<'a>(&self, items: impl IntoIterator<Item = &'a Searchable>) -> Vec<usize> {
        let mut found = self.ranked(items);
        let is_literal = |(rank, _): &(u64, u64)| *rank < u64::from(TYPO);
        if found.iter().any(is_literal) {
            found.retain(is_literal);
        }
        Self::in_order(found)
    }

    fn ranked<'a>(&self, items: impl IntoIterator<Item = &'a Searchable>) -> Vec<(u64, u64)> {
        let numbered = items.into_iter().zip(0..);
        numbered
            .filter_map(|(item, position)| Some((self.score(item)?.into(), position)))
            .collect()
    }

    fn in_order(mut found: Vec<(u64, u64)>) -> Vec<usize> {
        sort::pairs(&mut found);
        found
            .into_iter()
            .map(|(_, position)| position as usize)
            .collect()
    }
}

impl QueryWord {
    /// Returns the rank of one word. The caller has checked that at most `typos` letters of the query's word are
    /// missing in it.
    fn rank(&self, word: &Word, text: &str, typos: u32) -> Option<u32> {
        if self.mask & !word.mask == 0 && text.len() >= self.text.len() {
            // 7 matches neither 77 nor the prefix of a seed or an id.
            let is_long = word.letters >= MIN_ID_LETTERS;
            if is_number(&self.text) && (is_long || is_number(text)) {
                let is_prefix = self.text.len() >= MIN_DIGITS && text.starts_with(&self.text);
                return (is_prefix || text == self.text).then_some(u32::from(text != self.text));
            }
            if text.starts_with(&self.text) {
                return Some(u32::from(text.len() > self.text.len()));
            }
            // Match inside a word only with three bytes: three Latin letters, or one character of a script without
            // spaces.
            if self.text.len() >= 3 && text.contains(&self.text) {
                return Some(3);
            }
        }
        let (own, other) = (self.letters.len(), usize::from(word.letters));
        let is_near =
            own.abs_diff(other) <= typos as usize && !more_than(typos, word.mask & !self.mask);
        // The user may still be typing the word. Its prefix may have one typo, but not in the first letter.
        let is_prefix = own >= MIN_PREFIX_LETTERS
            && other > own
            && text.chars().next() == self.letters.first().copied();
        if typos == 0 || !(is_near || is_prefix) {
            return None;
        }
        let (whole, prefix_distance) = edits(&self.letters, text, typos);
        if is_near && whole <= typos {
            Some(TYPO * whole)
        } else {
            (is_prefix && prefix_distance == 1).then_some(TYPO + TYPO / 2)
        }
    }
}

/// Whether more than `count` bits are set.
fn more_than(count: u32, mut bits: u32) -> bool {
    for _ in 0..count {
        bits &= bits.wrapping_sub(1);
    }
    bits != 0
}

/// Returns the edit distances (insertions, deletions, replacements, swaps of neighbors) from `wanted` to the word, and
/// to the nearest prefix of it. Distances up to `most` are exact. Larger ones are only known to be larger than `most`.
fn edits(wanted: &[char], word: &str, most: u32) -> (u32, u32) {
    const WIDTH: usize = MAX_LETTERS + 1;
    let width = wanted.len().min(MAX_LETTERS);
    // Three rows of the table are reused in rotation, because copying rows would be slower.
    let mut rows = [[0u32; WIDTH]; 3];
    for (column, cell) in rows[0].iter_mut().enumerate() {
        *cell = column as u32;
    }
    let mut last = 0;
    let mut previous = None;
    let mut prefix_distance = width as u32;
    for (count, letter) in word.chars().enumerate() {
        // Longer prefixes have larger distances.
        if count > width + most as usize {
            return (most + 1, prefix_distance);
        }
        let (current, before_last) = ((last + 1) % 3, (last + 2) % 3);
        rows[current][0] = count as u32 + 1;
        for column in 1..=width {
            let own = wanted[column - 1];
            let mut cell = (rows[last][column] + 1)
                .min(rows[current][column - 1] + 1)
                .min(rows[last][column - 1] + u32::from(own != letter));
            if column > 1 && previous == Some(own) && wanted[column - 2] == letter {
                cell = cell.min(rows[before_last][column - 2] + 1);
            }
            rows[current][column] = cell;
        }
        prefix_distance = prefix_distance.min(rows[current][width]);
        last = current;
        previous = Some(letter);
    }
    (rows[last][width], prefix_distance)
}

fn mask(word: &str) -> u32 {
    word.chars()
        .take(MAX_LETTERS)
        .fold(0, |mask, c| mask | 1 << (u32::from(c) & 31))
}

/// Splits a folded text into words. `0.7` is one word.
fn words(folded: &str) -> impl Iterator<Item = &str> {
    let bytes = folded.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut next = 0;
    let words = folded.split(move |c: char| {
        let at = next;
        next += c.len_utf8();
        let is_point = c == '.' && at > 0 && is_digit(at - 1) && is_digit(next);
        !is_point && !c.is_alphanumeric()
    });
    words.filter(|word| !word.is_empty())
}

/// Whether a word consists of digits and points.
fn is_number(word: &str) -> bool {
    word.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests;
