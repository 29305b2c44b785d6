//! Pictures inside the request, as data URIs, for services without uploads: their sizes and texts.

use atelier_contract::Draft;

use crate::output::output_cache::size;

/// The maximum length of a data URI. The local service accepts requests of 1 MiB.
const MAX_LENGTH: u64 = 700_000;

/// The maximum length of all values of a request together.
const MAX_TOTAL_LENGTH: u64 = 1_000_000;

/// The maximum length of all data URIs in an item of a batch. A call has ten items.
pub const MAX_ITEM_LENGTH: u64 = 70_000;

/// The length of a text that has space for a recognizable picture.
const MIN_LENGTH: u64 = 10_000;

/// The longest sides of copies that the user can choose, in pixels.
pub const SIDES: [u32; 5] = [512, 768, 1024, 1536, 2048];

/// The longest sides that are tried for a picture that is too large, in pixels.
const TRIED_SIDES: [u32; 7] = [2048, 1536, 1280, 1024, 768, 512, 256];

/// The label of the choice of the longest side.
pub const SIDE_LABEL: &str = "Longest side of copies";

/// The choice of copies as large as fits, which applies until the user chooses another.
pub const ANY_SIDE: &str = "As large as fits";

/// The text of the button.
pub const LABEL: &str = "Put a smaller copy into the request";

/// The text of the button for the pictures of a batch.
pub const BATCH_LABEL: &str = "Put smaller copies into the requests";

/// Returns the offer to put this many pictures of a batch into the requests. `space`: the maximum length of each data URI.
pub fn batch_offer(count: usize, space: u64) -> String {
    let pictures = match count {
        1 => "a copy of the picture".to_owned(),
        count => format!("copies of the {count} pictures"),
    };
    let most = size(space / 4 * 3);
    format!(
        "This service takes addresses only. The requests can have {pictures} instead, with at most {most} each."
    )
}

/// Returns the maximum length of a data URI in an item of a batch. `max_length`: that of the parameter; `space`: that of each
/// picture in the item.
pub fn length_in_batch(max_length: Option<u64>, space: u64) -> u64 {
    max_length.map_or(space, |max_length| max_length.min(space))
}

/// Returns the maximum length of a data URI for a parameter, in a request with the other values of this draft. `max_length`:
/// that of the parameter. The present value of the parameter counts only if it is a list, to which the data URI is added.
pub fn length_in_form(
    draft: &Draft,
    parameter: &str,
    max_length: Option<u64>,
    is_list: bool,
) -> u64 {
    let entries = draft.iter();
    let others = entries.filter(|(name, _)| is_list || *name != parameter);
    let length: u64 = others.map(|(_, entry)| entry.to_text().len() as u64).sum();
    let space = MAX_TOTAL_LENGTH.saturating_sub(length);
    max_length.map_or(space, |max_length| max_length.min(space))
}

/// Whether a parameter with this maximum length has space for a picture as a data URI.
pub fn has_space(max_length: Option<u64>) -> bool {
    max_length.is_none_or(|length| length >= MIN_LENGTH)
}

/// Whether a file of this size fits into a request as a data URI of at most this length.
pub fn fits(bytes: u64, max_length: u64) -> bool {
    const PREFIX: u64 = "data:image/jpeg;base64,".len() as u64;
    bytes.div_ceil(3) * 4 + PREFIX <= MAX_LENGTH.min(max_length)
}

/// Reads a chosen longest side, in pixels; `None` if it is not one of [`SIDES`].
pub fn parse_side(text: &str) -> Option<u32> {
    let side = text.parse().ok()?;
    SIDES.contains(&side).then_some(side)
}

/// Returns the sizes to try for a picture, largest first: its own, then smaller ones of the same shape. `side`: the maximum
/// of the longest side, in pixels; `None` for any.
pub fn sizes((width, height): (u32, u32), side: Option<u32>) -> Vec<(u32, u32)> {
    let longest = width.max(height);
    let side = side.unwrap_or(longest);
    let scaled = |to: u32| {
        let scale = |length: u32| {
            let scaled = u64::from(length) * u64::from(to) / u64::from(longest.max(1));
            u32::try_from(scaled).unwrap_or(to).max(1)
        };
        (scale(width), scale(height))
    };
    let own = (longest <= side).then_some((width, height));
    let tried = TRIED_SIDES.into_iter();
    let smaller = tried.filter(|tried| *tried < longest && *tried <= side);
    own.into_iter().chain(smaller.map(scaled)).collect()
}

/// Returns the message for a picture for which the other values leave no space in the request.
pub fn no_space(name: &str) -> String {
    format!("The other pictures leave no space for {name} in the request.")
}

/// Returns the message for a picture that can't be put into the request.
pub fn failure(name: &str) -> String {
    format!("{name} can't be read, or can't be made small enough. Enter its address instead.")
}

#[cfg(test)]
mod tests {
    use atelier_contract::Entry;

    use super::*;

    #[test]
    fn sizes_keep_the_shape_and_never_grow() {
        assert_eq!(sizes((200, 100), None), [(200, 100)]);
        assert_eq!(
            sizes((1024, 512), None),
            [(1024, 512), (768, 384), (512, 256), (256, 128)]
        );
        assert_eq!(sizes((4000, 3000), None)[..2], [(4000, 3000), (2048, 1536)]);
        assert_eq!(sizes((10_000, 1), None).last(), Some(&(256, 1)));
    }

    /// Guards against a copy that is larger than the user has chosen.
    #[test]
    fn no_size_exceeds_the_chosen_side() {
        for side in SIDES {
            for picture in [(100, 300), (side, side), (side + 1, 7), (9000, 6000)] {
                let sizes = sizes(picture, Some(side));
                let longest = picture.0.max(picture.1).min(side);
                assert_eq!(sizes.first().map(|it| it.0.max(it.1)), Some(longest));
                assert!(sizes.is_sorted_by(|a, b| a.0 >= b.0 && a.1 >= b.1));
            }
        }
    }

    #[test]
    fn only_offered_sides_are_read() {
        assert_eq!(
            SIDES.map(|side| parse_side(&side.to_string())),
            SIDES.map(Some)
        );
        for other in ["", "0", "513", "-512", "99999999999", "512 px"] {
            assert_eq!(parse_side(other), None);
        }
    }

    /// Guards against a call with ten pictures that the service refuses as too large.
    #[test]
    fn ten_pictures_fit_into_a_call() {
        assert!(10 * length_in_batch(None, MAX_ITEM_LENGTH) <= MAX_LENGTH);
        assert_eq!(length_in_batch(Some(20_000), MAX_ITEM_LENGTH), 20_000);
        assert!(has_space(Some(length_in_batch(None, MAX_ITEM_LENGTH))));
        let offer = "This service takes addresses only. The requests can have copies of the 2 pictures instead, with at most 52.5 kB each.";
        assert_eq!(batch_offer(2, MAX_ITEM_LENGTH), offer);
    }

    /// Guards against two copies that each fit into a request, but not together: the service refuses it with 413.
    #[test]
    fn several_pictures_fit_into_a_request() {
        let mut draft = Draft::default();
        let mut lengths = Vec::new();
        for parameter in ["first", "second", "third"] {
            let length = length_in_form(&draft, parameter, None, false).min(MAX_LENGTH);
            draft.set(parameter, Entry::Text("x".repeat(length as usize)));
            lengths.push(length);
        }
        assert_eq!(lengths, [700_000, 300_000, 0]);
        assert!(!fits(1, 0));
        // The copy replaces the value of its parameter, but is added to a list.
        assert_eq!(length_in_form(&draft, "second", None, false), 300_000);
        assert_eq!(length_in_form(&draft, "second", None, true), 0);
        assert_eq!(
            length_in_form(&draft, "second", Some(20_000), false),
            20_000
        );
    }

    #[test]
    fn the_length_of_the_text_counts() {
        assert!(fits(0, MAX_LENGTH) && fits(524_000, MAX_LENGTH));
        assert!(!fits(525_000, MAX_LENGTH) && !fits(525_000, u64::MAX));
        assert!(fits(14_000, 20_000) && !fits(15_000, 20_000));
        assert!(has_space(None) && has_space(Some(10_000)));
        // The built-in models accept only addresses.
        assert!(!has_space(Some(2_000)));
    }
}
