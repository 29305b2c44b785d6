//! Sends what has changed since the release that a browser still has, instead of whole files (compression dictionary
//! transport, RFC 9842). `./dev build --previous` makes the differences.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

/// Which later files a file may be the dictionary of.
pub const USE_AS_DICTIONARY: HeaderName = HeaderName::from_static("use-as-dictionary");
/// The hash of the file that the browser has.
pub const AVAILABLE_DICTIONARY: HeaderName = HeaderName::from_static("available-dictionary");
/// The encoding of differences.
pub const DCZ: HeaderValue = HeaderValue::from_static("dcz");

/// The number of characters of the hash in the path of a difference. Also in `.dev/differences.mjs`.
const PREFIX: usize = 16;

/// Returns the address of the difference between a file and the one that the browser has, if the browser offers one. `path`
/// is the path of the file. Whether there is such a difference is not checked.
pub fn difference(path: &str, headers: &HeaderMap) -> Option<Uri> {
    let accepted = headers.get(header::ACCEPT_ENCODING)?.to_str().ok()?;
    let mut accepted = accepted.split(',').map(str::trim);
    accepted.find(|encoding| encoding.eq_ignore_ascii_case("dcz"))?;
    // A byte sequence of RFC 8941: `:base64:`.
    let hash = headers.get(AVAILABLE_DICTIONARY)?.to_str().ok()?;
    let hash = hash.trim().strip_prefix(':')?.strip_suffix(':')?;
    let prefix = hash.get(..PREFIX)?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if !prefix.bytes().all(is_base64) {
        return None;
    }
    format!("/differences/{prefix}{path}.dcz").parse().ok()
}

/// Returns the value of [`USE_AS_DICTIONARY`] for a file whose name contains a hash: the next releases of the same file.
/// `None` for files that are small.
pub fn use_as_dictionary(path: &str) -> Option<HeaderValue> {
    if !path.ends_with(".wasm") && !path.ends_with(".js") {
        return None;
    }
    let (before, rest) = path.rsplit_once('-')?;
    let after = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    HeaderValue::try_from(format!("match=\"{before}-*{after}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/atelier-3f9c2b7a10d4e5f6_bg.wasm";

    fn found(encodings: &'static str, hash: &'static str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(encodings));
        headers.insert(AVAILABLE_DICTIONARY, HeaderValue::from_static(hash));
        difference(PATH, &headers).map(|uri| uri.to_string())
    }

    #[test]
    fn a_difference_is_found_by_the_hash_of_the_dictionary() {
        let hash = ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:";
        let path = format!("/differences/pZGm1Av0IEBKARcz{PATH}.dcz");
        assert_eq!(found("gzip, br, zstd, dcb, dcz", hash), Some(path));
        assert_eq!(found("gzip, br, zstd", hash), None);
        for invalid in [
            "",
            "::",
            ":short:",
            "pZGm1Av0IEBKARczz7exkNY",
            ":../../../../../../etc/passwd:",
            ":%2e%2e%2f%2e%2e%2f%2e%2e%2f:",
        ] {
            assert_eq!(found("dcz", invalid), None, "{invalid}");
        }
        assert_eq!(difference(PATH, &HeaderMap::new()), None);
    }

    #[test]
    fn programs_are_dictionaries_of_their_next_releases() {
        let pattern =
            |path| use_as_dictionary(path).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(
            pattern(PATH).as_deref(),
            Some("match=\"/atelier-*_bg.wasm\"")
        );
        assert_eq!(
            pattern("/atelier-3f9c2b7a10d4e5f6.js").as_deref(),
            Some("match=\"/atelier-*.js\"")
        );
        assert_eq!(pattern("/main-94d02df11ac1eb10.css"), None);
    }
}
