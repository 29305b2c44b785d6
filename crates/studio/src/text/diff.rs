//! Finds the words in which long texts differ. Prompts that the user compares often share most of their words.

use std::collections::HashMap;
use std::iter;

/// The number of words to show before and after a difference.
const CONTEXT: usize = 3;
/// The minimum length of an omitted part in characters, because the ellipsis needs space, too.
const LEAST_LEFT_OUT: usize = 16;
/// The maximum number of words of texts that are compared word by word. The table for longer texts would be too large.
const MAX_WORDS: usize = 800;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// Whether the most similar text does not have these words. If `text` is empty, that text has additional words at
    /// this position.
    pub differs: bool,
}

/// Shortens each text to the part that distinguishes it: the longest beginning that it shares with another text is
/// omitted, except for its last few words. Texts that would then be equal are not shortened.
pub fn distinguishing_parts(texts: &[String]) -> Vec<String> {
    let bare_words = |text| words(text).into_iter().map(bare).collect::<Vec<_>>();
    let each = texts.iter().map(|text| (bare_words(text), text.as_str()));
    let mut each: Vec<(Vec<&str>, &str)> = each.collect();
    // The longest common prefix is with one of the neighbors in sorted order.
    each.sort_unstable();
    each.dedup();
    let in_common = each.windows(2).map(|two| common(&two[0].0, &two[1].0));
    let in_common: Vec<usize> = iter::once(0).chain(in_common).chain([0]).collect();
    let mut shortened: HashMap<&str, String> = HashMap::new();
    for ((_, text), shared) in each.iter().zip(in_common.windows(2)) {
        let common = shared[0].max(shared[1]);
        shortened.insert(text, without_first(text, common.saturating_sub(CONTEXT)));
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for part in shortened.values() {
        *counts.entry(part).or_default() += 1;
    }
    let part = |text: &String| match &shortened[text.as_str()] {
        part if counts[part.as_str()] == 1 => part.clone(),
        _ => text.clone(),
    };
    texts.iter().map(part).collect()
}

/// Returns the texts that can be shortened, with their distinguishing parts.
pub fn shortened_texts(texts: &[String]) -> HashMap<String, String> {
    let both = texts.iter().zip(distinguishing_parts(texts));
    let shorter = both.filter(|(text, part)| *text != part);
    shorter.map(|(text, part)| (text.clone(), part)).collect()
}

/// Replaces the first `count` words of a text with an ellipsis, if they are long enough.
fn without_first(text: &str, count: usize) -> String {
    let left_out = words(text)[..count].concat();
    match left_out.chars().count() > LEAST_LEFT_OUT {
        true => format!("…{}", &text[left_out.len()..]),
        false => text.to_owned(),
    }
}

/// Splits each text into parts that differ from the most similar text and parts that don't. A text without a similar
/// text is one part.
pub fn pieces(texts: &[String]) -> Vec<Vec<Piece>> {
    let words: Vec<Vec<&str>> = texts.iter().map(|text| words(text)).collect();
    let parted = |(at, text): (usize, &String)| {
        let others = words.iter().filter(|other| **other != words[at]);
        let shared = others.map(|other| (shared(&words[at], other), other.len()));
        let count = |shared: &Shared| shared.words.iter().filter(|is| **is).count();
        // The first of equally similar texts.
        let nearest = shared.rev().max_by_key(|(shared, _)| count(shared));
        let nearest =
            nearest.filter(|(shared, length)| count(shared) * 2 >= words[at].len().max(*length));
        match nearest {
            Some((shared, _)) => joined(&words[at], &shared),
            None => vec![Piece {
                text: text.clone(),
                differs: false,
            }],
        }
    };
    texts.iter().enumerate().map(parted).collect()
}

/// Shortens the parts between differences to a few words. Without differences, nothing is shortened.
pub fn around_differences(pieces: &[Piece]) -> Vec<Piece> {
    if pieces.iter().all(|piece| !piece.differs) {
        return pieces.to_vec();
    }
    let last = pieces.len() - 1;
    let shortened = |(at, piece): (usize, &Piece)| {
        let words = words(&piece.text);
        let (before, behind) = (
            if at == 0 { 0 } else { CONTEXT },
            if at == last { 0 } else { CONTEXT },
        );
        if piece.differs || words.len() <= before + behind {
            return piece.clone();
        }
        let (start, rest) = words.split_at(before);
        let (left_out, end) = rest.split_at(rest.len() - behind);
        if left_out.concat().chars().count() <= LEAST_LEFT_OUT {
            return piece.clone();
        }
        let (start, end) = (start.concat(), end.concat());
        let between = if at == 0 || at == last { "…" } else { "… " };
        Piece {
            text: format!("{}{between}{end}", start.trim_end()),
            differs: false,
        }
    };
    pieces.iter().enumerate().map(shortened).collect()
}

/// Splits a text into words, each with the whitespace after it.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut was_space = false;
    for (at, letter) in text.char_indices() {
        if was_space && !letter.is_whitespace() {
            words.push(&text[start..at]);
            start = at;
        }
        was_space = letter.is_whitespace();
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Strips punctuation and whitespace after a word.
fn bare(word: &str) -> &str {
    word.trim_end().trim_end_matches([',', '.', ';', ':'])
}

fn same(one: &str, other: &str) -> bool {
    bare(one) == bare(other)
}

/// Returns the number of words that two texts have in common at their beginning.
fn common(one: &[&str], other: &[&str]) -> usize {
    let both = one.iter().zip(other);
    both.take_while(|(one, other)| one == other).count()
}

/// The words that a text shares with another one.
struct Shared {
    /// For each word, whether it is in the longest common subsequence.
    words: Vec<bool>,
    /// For the position before each word and for the end, whether the other text has additional words there.
    gaps: Vec<bool>,
}

fn shared(one: &[&str], other: &[&str]) -> Shared {
    let mut found = Shared {
        words: vec![false; one.len()],
        gaps: vec![false; one.len() + 1],
    };
    if one.len() > MAX_WORDS || other.len() > MAX_WORDS {
        return found;
    }
    let wide = other.len() + 1;
    // The length of the longest common subsequence of the rest of both texts.
    let mut longest = vec![0_u16; (one.len() + 1) * wide];
    for at in (0..one.len()).rev() {
        for column in (0..other.len()).rev() {
            longest[at * wide + column] = match same(one[at], other[column]) {
                true => longest[(at + 1) * wide + column + 1] + 1,
                false => longest[(at + 1) * wide + column].max(longest[at * wide + column + 1]),
            };
        }
    }
    let (mut at, mut column) = (0, 0);
    while at < one.len() && column < other.len() {
        if same(one[at], other[column]) {
            found.words[at] = true;
            (at, column) = (at + 1, column + 1);
        } else if longest[(at + 1) * wide + column] >= longest[at * wide + column + 1] {
            at += 1;
        } else {
            found.gaps[at] = true;
            column += 1;
        }
    }
    found.gaps[at] |= column < other.len();
    found
}

fn joined(words: &[&str], shared: &Shared) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let differs = |at: usize| shared.words.get(at) == Some(&false);
    for at in 0..=words.len() {
        // If words were replaced, the words of this text mark the difference.
        if shared.gaps[at] && !differs(at) && !(at > 0 && differs(at - 1)) {
            pieces.push(Piece {
                text: String::new(),
                differs: true,
            });
        }
        let Some(word) = words.get(at) else { break };
        match pieces.last_mut() {
            Some(last) if last.differs == differs(at) => last.text.push_str(word),
            _ => pieces.push(Piece {
                text: (*word).to_owned(),
                differs: differs(at),
            }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    const DAWN: &str = "a wide valley seen from a high ridge at dawn, blue shadows between the dark trunks of the pines, soft gouache, \
                        teal and rose palette, quiet and calm, after an old print";
    const DUSK: &str = "a wide valley seen from a high ridge at dusk, blue shadows between the dark trunks of the pines, soft gouache, \
                        amber and rose palette, quiet and calm, after an old print";
    const CITY: &str = "a city in the rain, neon on wet asphalt, long exposure";

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    /// Column names must not look the same after truncation.
    #[test]
    fn common_beginnings_are_left_out() {
        let parts = distinguishing_parts(&texts(&[DAWN, DUSK, CITY]));
        assert!(
            parts[0].starts_with("…high ridge at dawn, blue"),
            "{}",
            parts[0]
        );
        assert!(
            parts[1].starts_with("…high ridge at dusk, blue"),
            "{}",
            parts[1]
        );
        assert_eq!(parts[2], CITY);
        // Short texts are not shortened, and equal ones can't be distinguished.
        for same in [
            &["a red boat", "a red barn"][..],
            &[DAWN, DAWN],
            &[DAWN],
            &[],
        ] {
            assert_eq!(distinguishing_parts(&texts(same)), texts(same));
        }
        // One text continues where the other ends.
        let longer = format!("{CITY}, at night");
        let parts = distinguishing_parts(&texts(&[CITY, &longer]));
        assert_eq!(
            parts,
            [
                "…asphalt, long exposure",
                "…asphalt, long exposure, at night"
            ]
        );
    }

    #[test]
    fn texts_that_cannot_be_shortened_are_left_out() {
        let parts = shortened_texts(&texts(&[DAWN, CITY, DUSK, CITY]));
        assert_eq!(parts.len(), 2);
        assert!(parts[DUSK].starts_with("…high ridge at dusk"));
    }

    /// Each of these texts shares its beginning with one text and its end with another.
    #[test]
    fn different_texts_have_different_parts() {
        let prompts = ["a hill at dusk", "a lake at noon"].map(|subject| {
            ["teal", "rose"].map(|end| format!("{subject}, soft gouache, visible texture, {end}"))
        });
        let prompts = prompts.concat();
        assert_eq!(distinguishing_parts(&prompts), prompts);
        // Shortened texts don't affect the others, and equal texts have equal parts.
        let mut more = prompts.clone();
        more.push(prompts[0].clone());
        more.push(format!("{}, high mountains", prompts[3]));
        let parts = distinguishing_parts(&more);
        assert_eq!(parts[4], parts[0]);
        assert_eq!(parts[5], "…visible texture, rose, high mountains");
    }

    fn shown(pieces: &[Piece]) -> String {
        let shown = |piece: &Piece| match piece.differs {
            true => format!("[{}]", piece.text.trim_end()),
            false => piece.text.trim().to_owned(),
        };
        pieces.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn differences_are_marked_within_common_text() {
        let found = pieces(&texts(&[DAWN, DUSK, CITY]));
        let short: Vec<String> = found
            .iter()
            .map(|it| shown(&around_differences(it)))
            .collect();
        assert_eq!(
            short,
            [
                "…high ridge at [dawn,] blue shadows between… pines, soft gouache, [teal] and rose palette,…",
                "…high ridge at [dusk,] blue shadows between… pines, soft gouache, [amber] and rose palette,…",
                CITY
            ]
        );
    }

    /// The position where the other text has more words must not be omitted.
    #[test]
    fn additional_words_of_the_other_text_are_marked() {
        let before_room = DAWN.replace("soft gouache, ", "soft gouache, late light, ");
        for more in [before_room, format!("{DAWN}, at noon")] {
            let found = pieces(&texts(&[DAWN, &more]));
            let short = shown(&around_differences(&found[0]));
            let expected = match more.ends_with("noon") {
                true => "…an old print []",
                false => "…pines, soft gouache, [] teal and rose…",
            };
            assert_eq!(short, expected);
        }
    }

    proptest! {
        #[test]
        fn the_parts_join_to_the_text(all in prop::collection::vec("[ab,]{1,2}( [ab]{1,2}){0,9}", 1..6)) {
            for (text, pieces) in all.iter().zip(pieces(&all)) {
                let joined: String = pieces.into_iter().map(|piece| piece.text).collect();
                prop_assert_eq!(&joined, text);
            }
            for (text, part) in all.iter().zip(distinguishing_parts(&all)) {
                prop_assert!(text.ends_with(part.trim_start_matches('…')));
            }
            let count = |texts: &[String]| texts.iter().collect::<HashSet<_>>().len();
            prop_assert_eq!(count(&distinguishing_parts(&all)), count(&all));
        }
    }
}
