//! In which words long texts differ: prompts that are compared often have most of their words in common.

use std::collections::HashMap;
use std::iter;

/// So many words before a difference, and behind it, say where in its text it is.
const CONTEXT: usize = 3;
/// What is left out is longer than this, in characters: else the mark for it would take as much room.
const LEAST_LEFT_OUT: usize = 16;
/// Longer texts are not compared word by word; so much of a table is quickly filled.
const MAX_WORDS: usize = 800;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// The text that is most like this one does not have these words; where there are none, it has some here.
    pub differs: bool,
}

/// Each text without the words that it begins with as another one does, but for the last few of them. Those that would
/// be the same then are whole.
pub fn distinguishing_parts(texts: &[String]) -> Vec<String> {
    let bare_words = |text| words(text).into_iter().map(bare).collect::<Vec<_>>();
    let each = texts.iter().map(|text| (bare_words(text), text.as_str()));
    let mut each: Vec<(Vec<&str>, &str)> = each.collect();
    // None begins more like a text than one of the two next to it.
    each.sort_unstable();
    each.dedup();
    let in_common = each.windows(2).map(|two| common(&two[0].0, &two[1].0));
    let in_common: Vec<usize> = iter::once(0).chain(in_common).chain([0]).collect();
    let mut shortened: HashMap<&str, String> = HashMap::new();
    for ((_, text), beside) in each.iter().zip(in_common.windows(2)) {
        let common = beside[0].max(beside[1]);
        shortened.insert(text, without_first(text, common.saturating_sub(CONTEXT)));
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for told in shortened.values() {
        *counts.entry(told).or_default() += 1;
    }
    let told = |text: &String| match &shortened[text.as_str()] {
        told if counts[told.as_str()] == 1 => told.clone(),
        _ => text.clone(),
    };
    texts.iter().map(told).collect()
}

/// Of the texts that are told by less than all of them, by what.
pub fn shortened_texts(texts: &[String]) -> HashMap<String, String> {
    let both = texts.iter().zip(distinguishing_parts(texts));
    let shorter = both.filter(|(text, told)| *text != told);
    shorter.map(|(text, told)| (text.clone(), told)).collect()
}

/// A text without so many of its words, where they are long enough.
fn without_first(text: &str, count: usize) -> String {
    let left_out = words(text)[..count].concat();
    match left_out.chars().count() > LEAST_LEFT_OUT {
        true => format!("…{}", &text[left_out.len()..]),
        false => text.to_owned(),
    }
}

/// The parts of each text, by the one that is most like it. A text that is like no other is one part.
pub fn pieces(texts: &[String]) -> Vec<Vec<Piece>> {
    let words: Vec<Vec<&str>> = texts.iter().map(|text| words(text)).collect();
    let parted = |(at, text): (usize, &String)| {
        let others = words.iter().filter(|other| **other != words[at]);
        let shared = others.map(|other| (shared(&words[at], other), other.len()));
        let count = |shared: &Shared| shared.words.iter().filter(|is| **is).count();
        // The first of those that are equally like it.
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

/// The differences with a few words around each; all of a text that has none.
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
        let (kept, rest) = words.split_at(before);
        let (left_out, end) = rest.split_at(rest.len() - behind);
        if left_out.concat().chars().count() <= LEAST_LEFT_OUT {
            return piece.clone();
        }
        let (kept, end) = (kept.concat(), end.concat());
        let between = if at == 0 || at == last { "…" } else { "… " };
        Piece {
            text: format!("{}{between}{end}", kept.trim_end()),
            differs: false,
        }
    };
    pieces.iter().enumerate().map(shortened).collect()
}

/// Each with the room behind it.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut was_room = false;
    for (at, letter) in text.char_indices() {
        if was_room && !letter.is_whitespace() {
            words.push(&text[start..at]);
            start = at;
        }
        was_room = letter.is_whitespace();
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// A word without what makes no other word of it: a mark of punctuation behind it, and a break.
fn bare(word: &str) -> &str {
    word.trim_end().trim_end_matches([',', '.', ';', ':'])
}

fn same(one: &str, other: &str) -> bool {
    bare(one) == bare(other)
}

/// How many words two texts begin with together.
fn common(one: &[&str], other: &[&str]) -> usize {
    let both = one.iter().zip(other);
    both.take_while(|(one, other)| one == other).count()
}

/// What a text has in common with another one.
struct Shared {
    /// Which of its words are in the longest sequence of words that both have.
    words: Vec<bool>,
    /// Before which of them, and behind the last one, the other text has words that this one has not.
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
    // How long that sequence is from a word of each on.
    let mut longest = vec![0_u16; (one.len() + 1) * wide];
    for at in (0..one.len()).rev() {
        for beside in (0..other.len()).rev() {
            longest[at * wide + beside] = match same(one[at], other[beside]) {
                true => longest[(at + 1) * wide + beside + 1] + 1,
                false => longest[(at + 1) * wide + beside].max(longest[at * wide + beside + 1]),
            };
        }
    }
    let (mut at, mut beside) = (0, 0);
    while at < one.len() && beside < other.len() {
        if same(one[at], other[beside]) {
            found.words[at] = true;
            (at, beside) = (at + 1, beside + 1);
        } else if longest[(at + 1) * wide + beside] >= longest[at * wide + beside + 1] {
            at += 1;
        } else {
            found.gaps[at] = true;
            beside += 1;
        }
    }
    found.gaps[at] |= beside < other.len();
    found
}

fn joined(words: &[&str], shared: &Shared) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let differs = |at: usize| shared.words.get(at) == Some(&false);
    for at in 0..=words.len() {
        // Other words instead are seen by what differs here.
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

    /// Guards against columns that are all called the same as far as their names can be seen.
    #[test]
    fn what_texts_begin_with_together_is_left_out() {
        let told = distinguishing_parts(&texts(&[DAWN, DUSK, CITY]));
        assert!(
            told[0].starts_with("…high ridge at dawn, blue"),
            "{}",
            told[0]
        );
        assert!(
            told[1].starts_with("…high ridge at dusk, blue"),
            "{}",
            told[1]
        );
        assert_eq!(told[2], CITY);
        // What is short is whole, and what is all the same can't be told apart.
        for same in [
            &["a red boat", "a red barn"][..],
            &[DAWN, DAWN],
            &[DAWN],
            &[],
        ] {
            assert_eq!(distinguishing_parts(&texts(same)), texts(same));
        }
        // One that goes on where the other ends.
        let longer = format!("{CITY}, at night");
        let told = distinguishing_parts(&texts(&[CITY, &longer]));
        assert_eq!(
            told,
            [
                "…asphalt, long exposure",
                "…asphalt, long exposure, at night"
            ]
        );
    }

    #[test]
    fn what_is_told_by_all_of_it_is_not_mentioned() {
        let told = shortened_texts(&texts(&[DAWN, CITY, DUSK, CITY]));
        assert_eq!(told.len(), 2);
        assert!(told[DUSK].starts_with("…high ridge at dusk"));
    }

    /// Guards against two captions of the same words: each of these begins as one does and ends as another does.
    #[test]
    fn what_is_different_is_not_told_in_the_same_words() {
        let prompts = ["a hill at dusk", "a lake at noon"].map(|subject| {
            ["teal", "rose"].map(|end| format!("{subject}, soft gouache, visible texture, {end}"))
        });
        let prompts = prompts.concat();
        assert_eq!(distinguishing_parts(&prompts), prompts);
        // One that is told by less is not made longer by them, and one that is there twice is told as itself.
        let mut more = prompts.clone();
        more.push(prompts[0].clone());
        more.push(format!("{}, high mountains", prompts[3]));
        let told = distinguishing_parts(&more);
        assert_eq!(told[4], told[0]);
        assert_eq!(told[5], "…visible texture, rose, high mountains");
    }

    fn shown(pieces: &[Piece]) -> String {
        let shown = |piece: &Piece| match piece.differs {
            true => format!("[{}]", piece.text.trim_end()),
            false => piece.text.trim().to_owned(),
        };
        pieces.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn differences_are_found_among_what_is_the_same() {
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

    /// Guards against a text that is cut before the place where another one goes on.
    #[test]
    fn where_the_other_has_more_is_a_place_as_well() {
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
        fn nothing_is_lost(all in prop::collection::vec("[ab,]{1,2}( [ab]{1,2}){0,9}", 1..6)) {
            for (text, pieces) in all.iter().zip(pieces(&all)) {
                let joined: String = pieces.into_iter().map(|piece| piece.text).collect();
                prop_assert_eq!(&joined, text);
            }
            for (text, told) in all.iter().zip(distinguishing_parts(&all)) {
                prop_assert!(text.ends_with(told.trim_start_matches('…')));
            }
            let count = |texts: &[String]| texts.iter().collect::<HashSet<_>>().len();
            prop_assert_eq!(count(&distinguishing_parts(&all)), count(&all));
        }
    }
}
