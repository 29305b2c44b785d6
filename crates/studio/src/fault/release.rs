//! Decides what to do when a part of the page can't be loaded: wait for the network, or reload to get the newer release that
//! has replaced it.

/// The start of the tag with the name of a page's release, written by `.dev/finish.mjs`.
const MARK: &str = "<meta name=\"release\" content=\"";

/// The action of a page that can't load a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Reload to get this release.
    Reload(String),
    /// Stay, show the reason, and let the user decide.
    Stay(MissingReason),
}

/// The reason why a part could not be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingReason {
    /// The host did not respond, or not with a page of Atelier.
    Network,
    /// The page is of the newest release, so its host should have the part.
    Part,
    /// There is a newer release, but reloading the page did not load it.
    Newer,
}

/// Decides what to do. `own`: the release of the page. `newest`: the release on the host, if it responds. `tried`: the
/// releases for which this tab was reloaded, see [`with_tried`]. The page reloads once per release, so that a host with
/// several releases does not cause an endless loop.
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

/// Adds a release to the ones for which the tab was reloaded.
pub fn with_tried(tried: &str, release: &str) -> String {
    format!("{tried} {release}").trim_start().to_owned()
}

/// Returns the release named in a page's HTML; `None` if it is not a page of Atelier.
pub fn release_of_page(html: &str) -> Option<&str> {
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
            // A page without a release can't detect that a reload succeeded.
            assert_eq!(
                remedy(None, Some("a"), tried),
                Remedy::Stay(MissingReason::Part)
            );
        }
    }

    /// The machines of a host may have different releases. This must not cause endless reloads.
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
        assert_eq!(release_of_page(page), Some("0f3a"));
        for other in [
            "",
            "<!doctype html><title>Gateway</title><p>Please sign in.",
            "<meta name=\"release\" content=\"\">",
            "<meta name=\"release\" content=\"a b\">",
            "<meta name=\"release\" content=\"a",
        ] {
            assert_eq!(release_of_page(other), None, "{other}");
        }
    }
}
