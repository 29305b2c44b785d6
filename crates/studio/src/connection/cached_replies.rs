//! How much is kept of what services said last of their models: lists, and the schemas of models that were opened.

use atelier_engine::Millis;

/// A reply of more bytes is not kept. A list of ten thousand models is about five million.
pub const MAX_BYTES: usize = 8_000_000;

/// The most bytes of all replies together.
const MAX_TOTAL_BYTES: usize = 32_000_000;

/// The most replies: as many schemas as a person may have opened.
const MAX_COUNT: usize = 200;

/// The facts about a reply that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptReply {
    /// The URL that it was asked for at; a path, where that is the page's own service.
    pub key: String,
    /// When the service gave it, in ms since 1970.
    pub since: Millis,
    /// The length of its body.
    pub bytes: usize,
}

/// The keys of those that are evicted, so that the others fit: the oldest. The one at `newest` stays.
pub fn going(mut kept: Vec<KeptReply>, newest: &str) -> Vec<String> {
    kept.sort_by_key(|reply| std::cmp::Reverse((reply.key == newest, reply.since)));
    let (mut count, mut total) = (0, 0);
    kept.retain(|reply| {
        count += 1;
        total += reply.bytes;
        count > MAX_COUNT || total > MAX_TOTAL_BYTES
    });
    kept.into_iter().map(|reply| reply.key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(key: &str, since: Millis, bytes: usize) -> KeptReply {
        KeptReply {
            key: key.into(),
            since,
            bytes,
        }
    }

    #[test]
    fn the_oldest_make_way_and_never_the_one_that_has_come() {
        let many = (0..=MAX_COUNT as u64).map(|at| reply(&at.to_string(), at, 1));
        let mut many: Vec<_> = many.collect();
        assert_eq!(going(many.clone(), "200"), ["0"]);
        assert_eq!(going(many.clone(), "0"), ["1"], "the clock was set back");
        many.pop();
        assert_eq!(going(many, "200"), [""; 0]);
    }

    #[test]
    fn there_is_an_end_to_their_room() {
        let large: Vec<_> = (0..6)
            .map(|at| reply(&at.to_string(), at, MAX_BYTES))
            .collect();
        assert_eq!(going(large, "5"), ["1", "0"]);
    }
}
