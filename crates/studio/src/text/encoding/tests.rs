use super::*;
use proptest::prelude::*;

fn label(bytes: &[u8], languages: &[&str]) -> Result<&'static str, String> {
    let languages: Vec<String> = languages.iter().map(|it| (*it).to_owned()).collect();
    encoding_of(bytes, &languages).map(|encoding| encoding.label)
}

/// `"狐狸在雪地里"` and `"东京的夜晚, 霓虹"`, as Excel saves them in China.
const GBK: &[u8] = b"prompt,seed\r\n\"\xba\xfc\xc0\xea\xd4\xda\xd1\xa9\xb5\xd8\xc0\xef\",1\r\n\"\xb6\xab\xbe\xa9\xb5\xc4\xd2\xb9\xcd\xed, \xc4\xde\xba\xe7\",2\r\n";
/// `雪の中の狐`, as Excel saves it in Japan.
const SHIFT_JIS: &[u8] = b"prompt,seed\r\n\x90\xe1\x82\xcc\x92\x86\x82\xcc\x8c\xcf,1\r\n";
/// `ein Mädchen in Öl, “alt”` and `un café à l’aube`.
const WESTERN: &[u8] =
    b"prompt;seed\r\nein M\xe4dchen in \xd6l, \x93alt\x94;1\r\nun caf\xe9 \xe0 l\x92aube;2\r\n";
/// `лиса в снегу` and `ночной город`.
const CYRILLIC: &[u8] = b"prompt;seed\r\n\xeb\xe8\xf1\xe0 \xe2 \xf1\xed\xe5\xe3\xf3;1\r\n\xed\xee\xf7\xed\xee\xe9 \xe3\xee\xf0\xee\xe4;2\r\n";
/// `눈 속의 여우`.
const EUC_KR: &[u8] = b"prompt,seed\r\n\xb4\xab \xbc\xd3\xc0\xc7 \xbf\xa9\xbf\xec,1\r\n";
/// `雪地裡的狐狸`.
const BIG5: &[u8] = b"prompt,seed\r\n\xb3\xb7\xa6\x61\xb8\xcc\xaa\xba\xaa\xb0\xaf\x57,1\r\n";
/// `zażółć gęślą`.
const POLISH: &[u8] = b"prompt,seed\r\nza\xbf\xf3\xb3\xe6 g\xea\x9cl\xb9,1\r\n";

/// Rows with U+FFFD in place of other characters would count as valid and be charged.
#[test]
fn tables_of_spreadsheets_are_detected() {
    for languages in [&["en-US"][..], &["de", "en"], &["ja"], &["zh-CN"], &[]] {
        assert_eq!(label(GBK, languages), Ok("gb18030"), "{languages:?}");
        assert_eq!(
            label(SHIFT_JIS, languages),
            Ok("shift_jis"),
            "{languages:?}"
        );
        assert_eq!(
            label(WESTERN, languages),
            Ok("windows-1252"),
            "{languages:?}"
        );
        assert_eq!(label(BIG5, languages), Ok("big5"), "{languages:?}");
        assert_eq!(
            label("prompt\nein Mädchen".as_bytes(), languages),
            Ok("utf-8")
        );
    }
    assert_eq!(label(CYRILLIC, &["ru"]), Ok("windows-1251"));
    assert_eq!(label(CYRILLIC, &["en"]), Ok("windows-1251"));
    assert_eq!(label(EUC_KR, &["ko"]), Ok("euc-kr"));
    assert_eq!(label(POLISH, &["pl"]), Ok("windows-1250"));
    assert_eq!(
        label(b"ein M\xe4dchen\r\nun caf\xe9\r\n", &["en"]),
        Ok("windows-1252")
    );
}

#[test]
fn utf_16_is_detected_with_and_without_a_byte_order_mark() {
    let little: Vec<u8> = "prompt\t雪\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = "prompt\r\n雪"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(
        label(&[b"\xff\xfe", &little[..]].concat(), &[]),
        Ok("utf-16le")
    );
    assert_eq!(
        label(&[b"\xfe\xff", &big[..]].concat(), &[]),
        Ok("utf-16be")
    );
    assert_eq!(label(&big, &[]), Ok("utf-16be"));
    let plain: Vec<u8> = "prompt\r\n雪"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(label(&plain, &[]), Ok("utf-16le"));
    assert_eq!(label(b"\xef\xbb\xbfprompt", &[]), Ok("utf-8"));
}

/// The user may not notice a wrong encoding before being charged.
#[test]
fn ambiguous_encodings_are_rejected_with_their_position() {
    for bytes in [
        // Polish, if the user's languages don't include it.
        POLISH,
        // UTF-8 that was truncated within a character, and a byte that is invalid in every encoding.
        b"prompt\nein M\xc3\xa4dchen\n\xe9\x9b",
        b"prompt\na\x81\xffb\n",
    ] {
        let sentence = label(bytes, &["en"]).unwrap_err();
        assert!(sentence.contains("CSV UTF-8"), "{sentence}");
    }
    let sentence = label(b"prompt\nein M\xc3\xa4dchen\n\xe9\x9b", &[]).unwrap_err();
    assert!(
        sentence.contains("line 3 has the bytes E9 9B"),
        "{sentence}"
    );
    assert!(
        label(b"PK\x03\x04xl/workbook", &[])
            .unwrap_err()
            .contains("workbook")
    );
    assert!(label(b"prompt\0\x01\x02", &[]).unwrap_err().contains("NUL"));
}

/// The bytes are common characters in both Chinese and Korean encodings, so only the user's languages can decide.
#[test]
fn languages_decide_between_equally_plausible_encodings() {
    let open = b"prompt\n\xba\xfc\xb5\xd8\n";
    assert_eq!(label(open, &["en", "zh-CN"]), Ok("gb18030"));
    assert_eq!(label(open, &["ko-KR"]), Ok("euc-kr"));
    assert!(label(open, &["en"]).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_handled(bytes: Vec<u8>) {
        let _ = encoding_of(&bytes, &["en".to_owned()]);
    }
}
