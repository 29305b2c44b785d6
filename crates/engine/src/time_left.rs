//! Estimates the remaining time of a running task from the fraction that the service reports.

use crate::{Millis, duration};

/// The smallest observed growth of the fraction that gives a rate.
const MIN_GROWTH: f64 = 0.05;

/// The observed growth from which the usual duration no longer counts.
const FULL_GROWTH: f64 = 0.5;

/// The smallest decrease of the fraction that counts as the start of another stage.
const MIN_DECREASE: f64 = 0.05;

/// The smallest increase of the shown time, in milliseconds.
const MIN_INCREASE: Millis = 5_000;

/// The minimum time between two announcements, in milliseconds.
const ANNOUNCE_AFTER: Millis = 15_000;

/// A reported fraction, and when it was first seen.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Millis,
    fraction: f64,
}

/// The time that a running task is expected to need until it ends. It counts down between two reports, and increases only if
/// the estimate is much too low.
#[derive(Debug, Clone, Default)]
pub struct TimeLeft {
    /// The first report of the present stage.
    first: Option<Sample>,
    /// The last report that differed from the one before it.
    latest: Option<Sample>,
    /// When the task is expected to end.
    end: Option<Millis>,
    /// The time that was returned last.
    shown: Option<Millis>,
}

impl TimeLeft {
    /// Returns the remaining time in milliseconds. `usual` is the median of earlier durations. `None` if it is unknown: too
    /// little is reported and there are no earlier tasks, or the expected time has passed without progress.
    pub fn update(&mut self, fraction: f64, usual: Option<Millis>, now: Millis) -> Option<Millis> {
        let sample = Sample { at: now, fraction };
        match (self.first, self.latest) {
            (Some(first), Some(latest)) if fraction > latest.fraction - MIN_DECREASE => {
                if fraction > latest.fraction {
                    self.end = self.next_end(first, sample, usual);
                    self.latest = Some(sample);
                }
            }
            _ => {
                *self = Self {
                    first: Some(sample),
                    latest: Some(sample),
                    ..Self::default()
                };
                self.end = self.next_end(sample, sample, usual);
            }
        }
        // An estimate that has passed is wrong.
        let left = self.end?.checked_sub(now).filter(|left| *left > 0);
        let shown = match (left, self.shown) {
            (Some(left), Some(shown)) if left > shown => {
                let is_much = left - shown >= MIN_INCREASE.max(shown / 4);
                if is_much { left } else { shown }
            }
            (left, _) => left?,
        };
        self.shown = Some(shown);
        Some(shown)
    }

    /// Returns when the task is expected to end: the usual duration counts until enough of the task is observed, and the
    /// previous expectation counts as much as the new one.
    fn next_end(&self, first: Sample, sample: Sample, usual: Option<Millis>) -> Option<Millis> {
        let rest = 1.0 - sample.fraction;
        let growth = sample.fraction - first.fraction;
        let by_rate = (growth >= MIN_GROWTH)
            .then(|| sample.at.saturating_sub(first.at) as f64 * rest / growth);
        let by_usual = usual.map(|usual| usual as f64 * rest);
        let left = match (by_rate, by_usual) {
            (Some(rate), Some(usual)) => {
                let share = (growth / FULL_GROWTH).min(1.0);
                rate * share + usual * (1.0 - share)
            }
            (rate, usual) => rate.or(usual)?,
        };
        let end = sample.at.saturating_add(left as Millis);
        let previous = self.end.filter(|previous| *previous > sample.at);
        Some(previous.map_or(end, |previous| previous.midpoint(end)))
    }
}

/// Returns the completed fraction in percent. Only a finished task has 100.
fn percent(fraction: f64) -> u32 {
    let most = if fraction < 1.0 { 99.0 } else { 100.0 };
    (fraction * 100.0).round().min(most) as u32
}

/// Returns the completed fraction and the remaining time: `40 %, about 20 s left`.
pub fn progress_text(fraction: f64, left: Option<Millis>) -> String {
    let percent = percent(fraction);
    match left {
        Some(left) => format!("{percent} %, {} left", duration::about(left)),
        None => format!("{percent} %"),
    }
}

/// Decides when a screen reader announces the progress: after each quarter, if the last announcement is some time ago.
#[derive(Debug, Clone, Default)]
pub struct Announcements {
    /// The last announced quarter, and when; at first, when the task was first seen.
    last: Option<(u32, Millis)>,
}

impl Announcements {
    /// Whether the progress is announced now.
    pub fn is_due(&mut self, fraction: f64, now: Millis) -> bool {
        let quarter = (fraction * 4.0) as u32;
        let Some((last, at)) = self.last else {
            self.last = Some((quarter, now));
            return false;
        };
        let is_due = quarter > last && quarter < 4 && now.saturating_sub(at) >= ANNOUNCE_AFTER;
        if is_due {
            self.last = Some((quarter, now));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: Millis = 1_800_000_000_000;

    /// Returns the shown times of a task whose fraction is `of(second)`.
    fn shown(usual: Option<Millis>, seconds: u64, of: impl Fn(u64) -> f64) -> Vec<Option<Millis>> {
        let mut time_left = TimeLeft::default();
        let each =
            (0..seconds).map(|second| time_left.update(of(second), usual, START + second * 1_000));
        each.collect()
    }

    #[test]
    fn the_time_comes_from_the_usual_duration_at_first_and_from_the_rate_later() {
        let usual = Some(20_000);
        // It takes 40 s this time.
        let times = shown(usual, 40, |second| second as f64 / 40.0);
        assert_eq!(times[0], Some(20_000));
        let half = times[20].unwrap();
        assert!((15_000..=22_000).contains(&half), "{half}");
        let last = times[39].unwrap();
        assert!(last <= 3_000, "{last}");
    }

    #[test]
    fn without_earlier_tasks_the_rate_alone_counts() {
        let times = shown(None, 10, |second| second as f64 / 20.0);
        assert_eq!((times[0], times[1]), (None, Some(19_000)));
        let nothing = shown(None, 100, |_| 0.3);
        assert!(nothing.iter().all(Option::is_none));
    }

    /// A wait for other tasks of the service is not part of the rate.
    #[test]
    fn the_rate_counts_from_the_first_report() {
        let mut time_left = TimeLeft::default();
        assert_eq!(time_left.update(0.5, None, START + 900_000), None);
        let left = time_left.update(0.75, None, START + 905_000);
        assert_eq!(left, Some(5_000));
    }

    /// Guards against `a few seconds left` at a task that is stuck.
    #[test]
    fn the_time_is_unknown_once_it_has_passed_without_progress() {
        let times = shown(Some(10_000), 60, |second| (second as f64 / 10.0).min(0.5));
        assert!(times[5].is_some());
        assert_eq!(times[30..], vec![None; 30]);
        // It is estimated again when the task goes on.
        let times = shown(Some(10_000), 60, |second| {
            if second < 30 {
                0.5
            } else {
                second as f64 / 60.0
            }
        });
        assert_eq!(times[29], None);
        assert!(times[40].is_some());
    }

    #[test]
    fn a_new_stage_starts_a_new_estimate() {
        let mut time_left = TimeLeft::default();
        time_left.update(0.2, None, START);
        assert!(time_left.update(0.9, None, START + 1_000).is_some());
        assert_eq!(time_left.update(0.0, None, START + 2_000), None);
        assert_eq!(time_left.update(0.1, None, START + 12_000), Some(90_000));
        // A slightly lower report is not a new stage.
        assert!(time_left.update(0.09, None, START + 13_000).is_some());
    }

    #[test]
    fn a_slow_step_does_not_increase_the_shown_time_a_little() {
        let mut time_left = TimeLeft::default();
        time_left.update(0.0, None, START);
        assert_eq!(time_left.update(0.5, None, START + 20_000), Some(20_000));
        // The expected end moves from 40 s to 41 s.
        let left = time_left.update(0.525, None, START + 22_100).unwrap();
        assert!(left <= 20_000, "{left}");
    }

    #[test]
    fn texts_have_whole_percents_and_rough_times() {
        assert_eq!(progress_text(0.4, Some(21_000)), "40 %, about 20 s left");
        assert_eq!(progress_text(0.999, Some(400)), "99 %, a few seconds left");
        assert_eq!(progress_text(0.29, None), "29 %");
        assert_eq!(progress_text(0.0, None), "0 %");
    }

    /// Guards against a screen reader that announces each poll.
    #[test]
    fn each_quarter_is_announced_once() {
        let mut announcements = Announcements::default();
        let due: Vec<u64> = (0..=100)
            .filter(|second| announcements.is_due(*second as f64 / 100.0, START + second * 1_000))
            .collect();
        assert_eq!(due, [25, 50, 75]);
        // A task of a few seconds is announced only by its end.
        let mut short = Announcements::default();
        assert!((0..10).all(|second| !short.is_due(second as f64 / 10.0, START + second * 1_000)));
        // Nor does a task that begins again repeat them.
        assert!(!announcements.is_due(0.3, START + 200_000));
    }

    proptest! {
        #[test]
        fn the_shown_time_never_increases_a_little(
            steps in prop::collection::vec((0.0..0.1_f64, 0_u64..10_000), 1..60),
            usual in prop::option::of(0_u64..600_000),
        ) {
            let mut time_left = TimeLeft::default();
            let (mut fraction, mut now, mut before) = (0.0, START, None);
            for (growth, wait) in steps {
                fraction = f64::min(fraction + growth, 1.0);
                now += wait;
                let left = time_left.update(fraction, usual, now);
                if let (Some(left), Some(before)) = (left, before) {
                    let is_little = left > before && left - before < MIN_INCREASE;
                    prop_assert!(!is_little, "from {before} to {left}");
                }
                before = left;
            }
        }

        /// Clocks may be set back.
        #[test]
        fn any_report_is_handled(
            reports in prop::collection::vec((0.0..=1.0_f64, any::<u64>()), 1..20),
            usual in prop::option::of(any::<u64>()),
        ) {
            let mut time_left = TimeLeft::default();
            let mut announcements = Announcements::default();
            for (fraction, now) in reports {
                if let Some(left) = time_left.update(fraction, usual, now) {
                    prop_assert!(left > 0);
                }
                announcements.is_due(fraction, now);
            }
        }
    }
}
