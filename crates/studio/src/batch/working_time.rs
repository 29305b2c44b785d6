//! How long a batch was worked on. Between its end and a retry it rests, and that is not counted.

use atelier_engine::Millis;

/// The time in which any of its tasks was on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkingTime {
    ended: Millis,
    /// While a task goes on, its time since then is not counted in `ended`.
    since: Option<Millis>,
    /// When the last rest was over.
    taken_up: Millis,
}

impl WorkingTime {
    /// Adds up the spans from the beginning of each task to its end, if it has ended.
    pub fn of(spans: impl IntoIterator<Item = (Millis, Option<Millis>)>) -> Self {
        let mut spans: Vec<(Millis, Millis)> = spans
            .into_iter()
            .map(|(begin, end)| (begin, end.unwrap_or(Millis::MAX)))
            .collect();
        spans.sort_unstable();
        let (mut ended, mut counted_to, mut taken_up) = (0, 0, 0);
        for (begin, end) in spans {
            if begin > counted_to {
                taken_up = begin;
            }
            let begin = begin.max(counted_to);
            if end == Millis::MAX {
                return Self {
                    ended,
                    since: Some(begin),
                    taken_up,
                };
            }
            // A clock that was set back gives no time.
            ended += end.saturating_sub(begin);
            counted_to = counted_to.max(end);
        }
        Self {
            ended,
            since: None,
            taken_up,
        }
    }

    /// Since when it goes on without a rest; `None` while it rests.
    pub fn going_on_since(self) -> Option<Millis> {
        self.since.map(|_| self.taken_up)
    }

    pub fn until(self, now: Millis) -> Millis {
        let going_on = self.since.map_or(0, |since| now.saturating_sub(since));
        self.ended.saturating_add(going_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_counted_once_and_rest_not_at_all() {
        let until = |spans: &[(Millis, Option<Millis>)]| {
            WorkingTime::of(spans.iter().copied()).until(1_000)
        };
        assert_eq!(until(&[]), 0);
        assert_eq!(until(&[(10, Some(30)), (20, Some(40)), (22, Some(25))]), 30);
        // A retry much later.
        let again = [(900, Some(910)), (10, Some(30)), (20, Some(40))];
        assert_eq!(until(&again), 40);
        assert_eq!(until(&[(10, Some(30)), (900, None)]), 120);
        assert_eq!(until(&[(10, None), (20, Some(30))]), 990);
        assert_eq!(until(&[(30, Some(20)), (40, Some(50))]), 10);
    }

    #[test]
    fn it_is_known_since_when_it_goes_on() {
        let since = |spans: &[(Millis, Option<Millis>)]| {
            WorkingTime::of(spans.iter().copied()).going_on_since()
        };
        assert_eq!(since(&[(10, Some(30))]), None);
        assert_eq!(since(&[(10, Some(30)), (20, None)]), Some(10));
        assert_eq!(
            since(&[(10, Some(30)), (900, Some(950)), (940, None)]),
            Some(900)
        );
    }
}
