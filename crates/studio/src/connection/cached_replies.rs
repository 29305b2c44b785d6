//! Limits the cache of replies about models: lists, and schemas of models that were opened.

use atelier_engine::Millis;

/// The maximum size of a cached reply in bytes. A list of ten thousand models has about 5 MB.
pub const MAX_BYTES: usize = 8_000_000;

/// The maximum total size of all replies in bytes.
const MAX_TOTAL_BYTES: usize = 32_000_000;

/// The maximum number of replies.
const MAX_COUNT: usize = 200;

/// The metadata of a cached reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedReply {
    /// The URL of the request; a path for the page's own service.
    pub key: String,
    /// When the reply was received, in ms since 1970-01-01 UTC.
    pub since: Millis,
    /// The size of the body in bytes.
    pub bytes: usize,
}

/// Returns the keys of the replies to evict so that the others fit, the oldest first. The reply with the key `newest`
/// is not evicted.
pub fn replies_to_evict(mut replies: Vec<CachedReply>, newest: &str) -> Vec<String> {
    replies.sort_by_key(|reply| std::cmp::Reverse((reply.key == newest, reply.since)));
    let (mut count, mut total) = (0, 0);
    replies.retain(|reply| {
        count += 1;
        total += reply.bytes;
        count > MAX_COUNT || total > MAX_TOTAL_BYTES
    });
    replies.into_iter().map(|reply| reply.key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(key: &str, since: Millis, bytes: usize) -> CachedReply {
        CachedReply {
            key: key.into(),
            since,
            bytes,
        }
    }

    #[test]
    fn the_oldest_are_evicted_and_never_the_newest() {
        let many = (0..=MAX_COUNT as u64).map(|at| reply(&at.to_string(), at, 1));
        let mut many: Vec<_> = many.collect();
        assert_eq!(replies_to_evict(many.clone(), "200"), ["0"]);
        assert_eq!(
            replies_to_evict(many.clone(), "0"),
            ["1"],
            "the clock was set back"
        );
        many.pop();
        assert_eq!(replies_to_evict(many, "200"), [""; 0]);
    }

    #[test]
    fn the_total_size_is_limited() {
        let large: Vec<_> = (0..6)
            .map(|at| reply(&at.to_string(), at, MAX_BYTES))
            .collect();
        assert_eq!(replies_to_evict(large, "5"), ["1", "0"]);
    }
}
