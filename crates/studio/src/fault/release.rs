//! Decides what to do when a part of the page can't be had: wait for the network, or go on to the newer release that
//! has taken its place.

/// How a page names its release; `.dev/finish.mjs` writes it.
const MARK: &str = "<meta name=\"release\" content=\"";

/// The step of a page that lacks a part of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Loads itself anew, as this release.
    Reload(String),
    /// Stays as it is, says why, and leaves it to the person.
    Stay(MissingReason),
}

/// Why a part could not be had, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingReason {
    /// There is no answer, or not with a page of Atelier.
    Network,
    /// The newest release is the page's own: its host has the part, or ought to.
    Part,
    /// There is a newer release, but loading the page anew has not led to it.
    Newer,
}

/// `newest` is the release that the host gives out now, if it could be asked; `tried` are those
/// that this tab has been loaded anew for, see [`with_tried`]. None is tried twice, so that a host
/// that cannot make up its mind does not keep the page loading.
pub fn remedy(own: Option<&str>, newest: Option<&str>, tried: &str) -> Remedy {
    match newest {
        None => Remedy::Stay(MissingReason::Network),
        Some(newest) if own.is_none_or(|own| own == newest) => Remedy::Stay(MissingReason::Part),
        Some(newest) if tried.split(' ').any(|release| release == newest) => {
            Remedy::Stay(MissingReason::Newer)
        }
        Some(newest) => Remedy::Reload(newest.to_owned()),
    }
}

/// The releases that were tried, with one more.
pub fn with_tried(tried: &str, release: &str) -> String {
    format!("{tried} {release}").trim_start().to_owned()
}

/// The release that a page is of, told from its source; none if it is no page of Atelier's.
pub fn of_page(html: &str) -> Option<&str> {
    let (_, rest) = html.split_once(MARK)?;
    let (release, _) = rest.split_once('"')?;
    let is_name = !release.is_empty() && release.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then_some(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_release_is_loaded_once() {
        let reload = Remedy::Reload("b".into());
        assert_eq!(remedy(Some("a"), Some("b"), ""), reload);
        assert_eq!(remedy(Some("a"), Some("b"), "c a"), reload);
        let tried = with_tried("", "b");
        assert_eq!(
            remedy(Some("a"), Some("b"), &tried),
            Remedy::Stay(MissingReason::Newer)
        );
    }

    #[test]
    fn without_an_answer_the_page_stays() {
        for own in [None, Some("a")] {
            assert_eq!(remedy(own, None, ""), Remedy::Stay(MissingReason::Network));
            assert_eq!(
                remedy(own, None, "a b"),
                Remedy::Stay(MissingReason::Network)
            );
        }
    }

    #[test]
    fn the_newest_release_has_nowhere_to_go() {
        for tried in ["", "a", "a b"] {
            assert_eq!(
                remedy(Some("a"), Some("a"), tried),
                Remedy::Stay(MissingReason::Part)
            );
            // A page that does not know its own name could not tell that it has arrived.
            assert_eq!(
                remedy(None, Some("a"), tried),
                Remedy::Stay(MissingReason::Part)
            );
        }
    }

    /// Guards against a page that loads for ever because half of a host's machines have the one
    /// release, and half the other.
    #[test]
    fn two_releases_in_turns_come_to_an_end() {
        let (mut own, mut other, mut tried) = ("a", "b", String::new());
        let mut loads = 0;
        while let Remedy::Reload(newest) = remedy(Some(own), Some(other), &tried) {
            assert_eq!(newest, other);
            tried = with_tried(&tried, &newest);
            std::mem::swap(&mut own, &mut other);
            loads += 1;
            assert!(loads < 10, "tried: {tried}");
        }
        assert_eq!(loads, 2);
    }

    #[test]
    fn a_page_tells_its_release() {
        let page = "<head><meta charset=\"utf-8\"><meta name=\"release\" content=\"0f3a\"><title>";
        assert_eq!(of_page(page), Some("0f3a"));
        for other in [
            "",
            "<!doctype html><title>Gateway</title><p>Please sign in.",
            "<meta name=\"release\" content=\"\">",
            "<meta name=\"release\" content=\"a b\">",
            "<meta name=\"release\" content=\"a",
        ] {
            assert_eq!(of_page(other), None, "{other}");
        }
    }
}
