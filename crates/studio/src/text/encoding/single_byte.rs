use super::Encoding;

const WESTERN: Encoding = Encoding::new("windows-1252", "Windows-1252");
const CYRILLIC: Encoding = Encoding::new("windows-1251", "Windows-1251");

/// Returns the Windows code page of an alphabetic language.
pub fn default_encoding(language: &str) -> Encoding {
    match language {
        "cs" | "hr" | "hu" | "pl" | "ro" | "sk" | "sl" | "sq" => {
            Encoding::new("windows-1250", "Windows-1250")
        }
        "be" | "bg" | "kk" | "mk" | "ru" | "sr" | "uk" => CYRILLIC,
        "el" => Encoding::new("windows-1253", "Windows-1253"),
        "az" | "tr" => Encoding::new("windows-1254", "Windows-1254"),
        "he" => Encoding::new("windows-1255", "Windows-1255"),
        "ar" | "fa" | "ur" => Encoding::new("windows-1256", "Windows-1256"),
        "et" | "lt" | "lv" => Encoding::new("windows-1257", "Windows-1257"),
        "th" => Encoding::new("windows-874", "Windows-874"),
        "vi" => Encoding::new("windows-1258", "Windows-1258"),
        _ => WESTERN,
    }
}

/// Returns the code page for which the bytes are plausible words. Several code pages use the same bytes for different
/// letters, so the user's languages decide.
pub fn plausible(bytes: &[u8], languages: &[String]) -> Option<Encoding> {
    let main = |language: &String| {
        language
            .split(['-', '_'])
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    let defaults: Vec<Encoding> = languages
        .iter()
        .map(|it| default_encoding(&main(it)))
        .collect();
    let of_latin =
        |it: &&Encoding| matches!(it.label, "windows-1250" | "windows-1254" | "windows-1257");
    // A text whose words consist of non-ASCII bytes is not in a Latin alphabet.
    if is_of_other_alphabet(bytes) {
        let is_other =
            |it: &&Encoding| **it != WESTERN && !of_latin(it) && it.label != "windows-1258";
        let found = defaults.iter().find(is_other).copied();
        return found.or_else(|| is_cyrillic(bytes).then_some(CYRILLIC));
    }
    if let Some(own) = defaults.first().filter(|it| of_latin(it)) {
        // Words of these languages have more non-ASCII letters than western European words.
        let is_word = |word: &[u8]| {
            let ascii = word.iter().filter(|byte| byte.is_ascii()).count();
            is_latin_word(word) || (ascii > 0 && word.len() - ascii <= ascii + 2)
        };
        return words(bytes).all(is_word).then_some(*own);
    }
    is_western(bytes).then_some(WESTERN)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || is_high_letter(byte)
}

/// Whether this byte is a non-ASCII letter in Windows-1252.
fn is_high_letter(byte: u8) -> bool {
    matches!(byte, 0x8a | 0x8c | 0x8e | 0x9a | 0x9c | 0x9e | 0x9f)
        || (byte >= 0xc0 && byte != 0xd7 && byte != 0xf7)
}

/// Returns the words with non-ASCII bytes. ASCII bytes that are not letters separate words.
fn words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = bytes.split(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic());
    words.filter(|word| !word.is_ascii())
}

/// Whether a word has at most one more non-ASCII letter than ASCII letters, like `été`, `à` and `Öl`.
fn is_latin_word(word: &[u8]) -> bool {
    let high = word.iter().filter(|byte| **byte >= 0x80).count();
    high <= word.len() - high + 1
}

fn is_western(bytes: &[u8]) -> bool {
    let is_sign = |byte: u8| {
        matches!(
            byte,
            0x80 | 0x82 | 0x84 | 0x85 | 0x8b | 0x91..=0x97 | 0x99 | 0x9b
        ) || matches!(byte, 0xa0 | 0xa1 | 0xa3 | 0xa7..=0xab | 0xad | 0xae | 0xb0..=0xb5 | 0xb7 | 0xba..=0xbf | 0xd7)
    };
    let is_word = |word: &[u8]| {
        let parts = word.split(|byte| !is_letter(*byte));
        parts.filter(|part| !part.is_empty()).all(is_latin_word)
    };
    // Signs that don't occur before or after letters: in other code pages, these bytes are letters.
    let is_odd = |pair: &[u8]| {
        let [first, second] = pair else { return false };
        let opens = matches!(*second, 0xa1 | 0xbf) && is_letter(*first);
        let precedes_no_letter = matches!(
            *first,
            0x80 | 0xa3 | 0xb2 | 0xb3 | 0xb5 | 0xb9 | 0xbc..=0xbe
        );
        opens || (precedes_no_letter && is_letter(*second) && *first != 0xb5)
    };
    let mut high = bytes.iter().filter(|byte| **byte >= 0x80);
    high.all(|byte| is_high_letter(*byte) || is_sign(*byte))
        && words(bytes).all(is_word)
        && !bytes.windows(2).any(is_odd)
}

/// Whether most words with non-ASCII bytes consist only of such bytes, and some are longer than two letters.
fn is_of_other_alphabet(bytes: &[u8]) -> bool {
    let all = words(bytes).count();
    let whole = words(bytes).filter(|word| word.iter().all(|byte| *byte >= 0x80));
    let (mut count, mut longest) = (0, 0);
    for word in whole {
        count += 1;
        longest = longest.max(word.len());
    }
    longest > 2 && count * 10 >= all * 9
}

/// Whether the words are plausible in Windows-1251: in upper case, or in lower case except for the first letter.
fn is_cyrillic(bytes: &[u8]) -> bool {
    let is_small = |byte: u8| matches!(byte, 0xb3 | 0xb4 | 0xb8 | 0xba | 0xbf | 0xe0..=0xff);
    let is_large = |byte: u8| matches!(byte, 0xa5 | 0xa8 | 0xaa | 0xaf | 0xb2 | 0xc0..=0xdf);
    words(bytes).all(|word| {
        let rest = word.get(1..).unwrap_or_default();
        let is_first = word
            .first()
            .is_some_and(|byte| is_small(*byte) || is_large(*byte));
        is_first
            && (rest.iter().all(|byte| is_small(*byte)) || rest.iter().all(|byte| is_large(*byte)))
    })
}
