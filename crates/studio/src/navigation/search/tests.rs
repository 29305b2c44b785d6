use super::*;
use proptest::prelude::*;

fn score(query: &str, fields: &[&str]) -> Option<u32> {
    Query::new(query).score(&Searchable::new(fields.iter().copied()))
}

#[test]
fn case_accents_order_prefixes_and_typos_are_ignored() {
    for (query, text) in [
        ("FLUX", "Flux Pro"),
        ("pro flux", "Flux Pro"),
        ("creme", "Crème brûlée"),
        ("crème", "creme brulee"),
        ("portr", "Portrait studio"),
        ("portriat", "Portrait studio"),
        ("lanscape", "Landscape"),
        ("landskaep", "landscape"),
        ("lansca", "landscape"),
        ("gpt4", "gpt-4 turbo"),
        ("gpt-4", "gpt 4 turbo"),
        ("text-to-image", "Text to Image"),
        ("realistic", "photorealistic"),
        ("東京", "夜の東京タワー"),
        ("portet", "портрет portret"),
        ("портрет", "Потрет на фоне"),
    ] {
        assert!(score(query, &[text]).is_some(), "{query} in {text}");
    }
}

#[test]
fn short_and_distant_words_do_not_match() {
    for (query, text) in [
        ("cat", "car"),
        ("portrait", "landscape"),
        ("dog cat", "a dog"),
        ("video", "image"),
        ("flux", "fl"),
        ("image", "imagine"),
    ] {
        assert_eq!(score(query, &[text]), None, "{query} in {text}");
    }
}

/// 0.7 must not match any 0 and 7, such as the digits of a seed.
#[test]
fn numbers_match_exactly() {
    let fields = [
        "glow 0.7, seed 1077412",
        "gpt-3.5 at 1024",
        "v1.5.safetensors",
    ];
    for query in [
        "0.7", "glow:0.7", "1077412", "1077", "gpt 3.5", "gpt-3.5", "gpt35", "gpt3.5", "1024.",
    ] {
        assert!(score(query, &fields).is_some(), "{query}");
    }
    for query in ["0", "7", "1", "10", "0.4", "0.07", "1025", "077", "3.6"] {
        assert_eq!(score(query, &fields), None, "{query}");
    }
    assert!(score("4", &["gpt 4o"]).is_some());
    let id = ["02a4f1c2d3e45f60718293a4b5c6d7e8"];
    assert_eq!(score("02", &id), None);
    assert!(score("02a4", &id).is_some());
}

#[test]
fn exact_before_prefix_before_inside_before_typo_and_names_before_descriptions() {
    let ranks = [
        score("photo", &["photo"]),
        score("photo", &["photos"]),
        score("photo", &["telephotos"]),
        score("photo", &["x", "photo"]),
        score("photo", &["x", "y", "z", "telephotos"]),
        score("photo", &["phoot"]),
    ];
    assert!(ranks.iter().all(Option::is_some));
    assert!(ranks.is_sorted(), "{ranks:?}");
}

#[test]
fn the_best_match_is_first_and_equal_ones_keep_their_order() {
    let items = ["an image of cats", "Cats", "dogs", "cats", "Cast"];
    let items: Vec<Searchable> = items.iter().map(|text| Searchable::new([*text])).collect();
    assert_eq!(Query::new("cats").find(&items), [0, 1, 3, 4]);
    assert_eq!(Query::new("  ").find(&items), [0, 1, 2, 3, 4]);
}

/// A slow but simple reference implementation.
fn edits_by_definition(a: &[char], b: &[char]) -> u32 {
    let mut d = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i][j] = if i == 0 || j == 0 {
                (i + j) as u32
            } else {
                let swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                (d[i - 1][j] + 1)
                    .min(d[i][j - 1] + 1)
                    .min(d[i - 1][j - 1] + u32::from(a[i - 1] != b[j - 1]))
                    .min(if swap { d[i - 2][j - 2] + 1 } else { u32::MAX })
            };
        }
    }
    d[a.len()][b.len()]
}

proptest! {
    #[test]
    fn any_text_matches_itself_and_its_prefix(text in ".{0,80}") {
        prop_assert!(score(&text, &[&text]).is_some());
        let half: String = text.chars().take(text.chars().count() / 2).collect();
        // A truncated number is a different number, so it doesn't match.
        let half = half.trim_end_matches(|c: char| c.is_numeric() || c == '.');
        prop_assert!(score(half, &[&text]).is_some());
    }

    #[test]
    fn edit_distances_equal_the_reference(a in "[a-d]{0,8}", b in "[a-d]{0,8}") {
        let (a, c): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let (whole, prefix_distance) = edits(&a, &b, 2);
        let slow = edits_by_definition(&a, &c);
        prop_assert_eq!(whole.min(3), slow.min(3));
        let nearest = (0..=c.len()).map(|end| edits_by_definition(&a, &c[..end])).min().unwrap();
        prop_assert_eq!(prefix_distance.min(3), nearest.min(3));
    }

    #[test]
    fn one_edit_in_a_word_of_four_letters_is_allowed(word in "[a-z]{4,12}", at in 0..12usize, c in "[a-z]") {
        let at = at % word.len();
        for typed in [
            format!("{}{c}{}", &word[..at], &word[at..]),
            format!("{}{c}{}", &word[..at], &word[at + 1..]),
        ] {
            prop_assert!(score(&typed, &[&word]).is_some(), "{} for {}", typed, word);
        }
    }
}

/// A quadratic algorithm would exceed the time limit of a test.
#[test]
fn search_time_grows_linearly_with_the_models() {
    let nouns = [
        "portrait",
        "landscape",
        "video",
        "upscaler",
        "voice",
        "texture",
        "anime",
    ];
    let item = |n: usize| {
        let noun = nouns[n % nouns.len()];
        let name = format!("Studio {noun} {n}");
        let about = format!(
            "Makes a {noun} from text in several styles, with control over light, lens, \
             aspect ratio and seed; number {n} of the series, tuned for detailed output"
        );
        Searchable::new([name.as_str(), "image-generation", noun, &about])
    };
    let items: Vec<Searchable> = (0..20_000).map(item).collect();
    for (text, found) in [
        ("portrait", true),
        ("stdio landscpae", true),
        ("detailed anime lens 77", false),
        ("zzzzzzzz", false),
    ] {
        assert_eq!(!Query::new(text).find(&items).is_empty(), found, "{text}");
    }
}

/// `light` must not find `night` if there is a `light`.
#[test]
fn typos_match_only_if_nothing_matches_exactly() {
    let items = ["A night", "Light", "Lights on"].map(|text| Searchable::new([text]));
    assert_eq!(Query::new("light").find(&items), [1, 2, 0]);
    assert_eq!(Query::new("light").find_nearest(&items), [1, 2]);
    assert_eq!(Query::new("lihgt").find_nearest(&items), [1]);
}
