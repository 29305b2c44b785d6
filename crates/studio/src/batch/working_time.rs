//! Measures the time spent on a batch. The time between the end of the batch and a retry is not counted.

use atelier_engine::Millis;

/// The total time during which at least one task of the batch was in progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkingTime {
    /// The time of spans that have ended, in ms.
    ended: Millis,
    /// The start of the time that is not included in `ended`; `None` if no task is in progress.
    since: Option<Millis>,
    /// When the last period without a break began.
    resumed: Millis,
}

impl WorkingTime {
    /// Adds up the spans from the start of each task to its end, if it has ended.
    pub fn of(spans: impl IntoIterator<Item = (Millis, Option<Millis>)>) -> Self {
        let mut spans: Vec<(Millis, Millis)> = spans
            .into_iter()
            .map(|(begin, end)| (begin, end.unwrap_or(Millis::MAX)))
            .collect();
        spans.sort_unstable();
        let (mut ended, mut counted_to, mut resumed) = (0, 0, 0);
        for (begin, end) in spans {
            if begin > counted_to {
                resumed = begin;
            }
            let begin = begin.max(counted_to);
            if end == Millis::MAX {
                return Self {
                    ended,
                    since: Some(begin),
                    resumed,
                };
            }
            // If the clock was set back, the span counts as zero.
            ended += end.saturating_sub(begin);
            counted_to = counted_to.max(end);
        }
        Self {
            ended,
            since: None,
            resumed,
        }
    }

    /// Returns when the current period without a break began; `None` if no task is in progress.
    pub fn running_since(self) -> Option<Millis> {
        self.since.map(|_| self.resumed)
    }

    /// Returns the time in ms until `now`.
    pub fn elapsed(self, now: Millis) -> Millis {
        let running = self.since.map_or(0, |since| now.saturating_sub(since));
        self.ended.saturating_add(running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_counted_once_and_breaks_not_at_all() {
        let elapsed = |spans: &[(Millis, Option<Millis>)]| {
            WorkingTime::of(spans.iter().copied()).elapsed(1_000)
        };
        assert_eq!(elapsed(&[]), 0);
        assert_eq!(
            elapsed(&[(10, Some(30)), (20, Some(40)), (22, Some(25))]),
            30
        );
        // A retry much later.
        let again = [(900, Some(910)), (10, Some(30)), (20, Some(40))];
        assert_eq!(elapsed(&again), 40);
        assert_eq!(elapsed(&[(10, Some(30)), (900, None)]), 120);
        assert_eq!(elapsed(&[(10, None), (20, Some(30))]), 990);
        assert_eq!(elapsed(&[(30, Some(20)), (40, Some(50))]), 10);
    }

    #[test]
    fn the_start_of_the_current_work_is_known() {
        let since = |spans: &[(Millis, Option<Millis>)]| {
            WorkingTime::of(spans.iter().copied()).running_since()
        };
        assert_eq!(since(&[(10, Some(30))]), None);
        assert_eq!(since(&[(10, Some(30)), (20, None)]), Some(10));
        assert_eq!(
            since(&[(10, Some(30)), (900, Some(950)), (940, None)]),
            Some(900)
        );
    }
}
