//! Folds text for comparisons: converts it to lower case, and removes diacritics from Latin letters.

/// The folded letters of U+00C0..=U+017F. A capital stands for two letters (see [`push`]), `.` for "not a letter".
const LATIN: &str = "\
aaaaaaAceeeeiiiidnooooo.ouuuuyTSaaaaaaAceeeeiiiidnooooo.ouuuuyTy\
aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiJJjjkkkllllllllll\
nnnnnnnnnooooooOOrrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/// The folded letters of U+1E00..=U+1EFF.
const LATIN_ADDITIONAL: &str = "\
aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmm\
nnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzz\
htwyasssSdaaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooo\
uuuuuuuuuuuuuuyyyyyyyyllvvyy";

/// Appends the folded character.
pub(crate) fn push(out: &mut String, c: char) {
    let code = u32::from(c);
    let letter = match code {
        0x20..=0x7e => return out.push(c.to_ascii_lowercase()),
        0xc0..=0x17f => at(LATIN, code - 0xc0),
        0x1e00..=0x1eff => at(LATIN_ADDITIONAL, code - 0x1e00),
        0x1a0 | 0x1a1 | 0x1d1 | 0x1d2 => b'o',
        0x1af | 0x1b0 | 0x1d3..=0x1dc => b'u',
        0x1cd | 0x1ce => b'a',
        0x1cf | 0x1d0 => b'i',
        0x218 | 0x219 => b's',
        0x21a | 0x21b => b't',
        // Combining marks. They follow their letter in decomposed text.
        0x300..=0x36f => return,
        // Full-width forms from Japanese and Chinese keyboards.
        0xff01..=0xff5e => return push(out, char::from((code - 0xfee0) as u8)),
        _ => b'.',
    };
    match letter {
        b'A' => out.push_str("ae"),
        b'J' => out.push_str("ij"),
        b'O' => out.push_str("oe"),
        b'S' => out.push_str("ss"),
        b'T' => out.push_str("th"),
        b'.' => out.push(lower(c)),
        letter => out.push(char::from(letter)),
    }
}

/// Returns the lower-case letter of a Greek, Cyrillic or Armenian capital. Other scripts have no capitals, or they are
/// rarely typed. The standard library's table would add 7 kB to the page.
fn lower(c: char) -> char {
    let code = u32::from(c);
    let small = match code {
        0x386 => 0x3ac,
        0x388..=0x38a => code + 37,
        0x38c => 0x3cc,
        0x38e | 0x38f => code + 63,
        0x391..=0x3ab | 0x410..=0x42f => code + 0x20,
        0x400..=0x40f => code + 0x50,
        0x460..=0x480 | 0x48a..=0x4be | 0x4d0..=0x52e if code % 2 == 0 => code + 1,
        0x531..=0x556 => code + 0x30,
        _ => code,
    };
    char::from_u32(small).unwrap_or(c)
}

fn at(table: &str, index: u32) -> u8 {
    table
        .as_bytes()
        .get(index as usize)
        .copied()
        .unwrap_or(b'.')
}

/// Folds a text.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut out, c));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tables_cover_their_blocks() {
        assert_eq!(LATIN.len(), 0x180 - 0xc0);
        assert_eq!(LATIN_ADDITIONAL.len(), 0x100);
    }

    #[test]
    fn diacritics_case_and_ligatures_are_removed() {
        for (text, folded) in [
            ("Ærøskøbing", "aeroskobing"),
            ("ŒUVRE", "oeuvre"),
            ("Straße", "strasse"),
            ("Việt Nam, Đà Nẵng", "viet nam, da nang"),
            ("Łódź", "lodz"),
            ("cafe\u{301}", "cafe"),
            ("Ｆｌｕｘ１", "flux1"),
            ("Țară ŷŽſ", "tara yzs"),
            ("×÷", "×÷"),
            ("ДОМ 東京 ЁЖ", "дом 東京 ёж"),
            ("ΑΘΗΝΑ Ώ", "αθηνα ώ"),
            ("ԵՐԵՎԱՆ", "երեվան"),
        ] {
            assert_eq!(fold(text), folded);
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in ".*") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }
    }
}
