//! Decides what to do when a part of the page can't be loaded: wait for the network, or reload to get the newer release that
//! has replaced it.

/// The tag with the name of a page's release, written by `.dev/finish.mjs`.
const MARK: &str = "<meta name=\"release\" content=\"";

/// What a page with a missing part does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Reload to get this release.
    Reload(String),
    /// Stay, show why, and leave the decision to the user.
    Stay(MissingReason),
}

/// Why a part could not be loaded, if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingReason {
    /// There is no response, or not a page of Atelier.
    Network,
    /// The newest release is the page's own, so its host should have the part.
    Part,
    /// There is a newer release, but reloading the page has not led to it.
    Newer,
}

/// `newest`: the release on the host, if it responds. `tried`: the releases for which this tab has been reloaded, see
/// [`with_tried`]. Each is tried once, so that a host with several releases does not cause an endless loop.
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

/// Adds a release to those that were tried.
pub fn with_tried(tried: &str, release: &str) -> String {
    format!("{tried} {release}").trim_start().to_owned()
}

/// Returns the release of a page's source; `None` if it is not a page of Atelier.
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
    fn reloads_once_for_a_newer_release() {
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
    fn without_a_response_the_page_stays() {
        for own in [None, Some("a")] {
            assert_eq!(remedy(own, None, ""), Remedy::Stay(MissingReason::Network));
            assert_eq!(
                remedy(own, None, "a b"),
                Remedy::Stay(MissingReason::Network)
            );
        }
    }

    #[test]
    fn the_newest_release_stays() {
        for tried in ["", "a", "a b"] {
            assert_eq!(
                remedy(Some("a"), Some("a"), tried),
                Remedy::Stay(MissingReason::Part)
            );
            // A page without a release could not detect that the reload succeeded.
            assert_eq!(
                remedy(None, Some("a"), tried),
                Remedy::Stay(MissingReason::Part)
            );
        }
    }

    /// Guards against endless reloads because some of a host's machines have one release, and others have another.
    #[test]
    fn alternating_releases_are_tried_once_each() {
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
    fn a_page_contains_its_release() {
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
