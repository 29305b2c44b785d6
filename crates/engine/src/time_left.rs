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

/// The longest time between two updates, in milliseconds. The clock was changed, or the device has slept, if it is longer:
/// browsers run the timers of a tab in the background at least once a minute.
const MAX_GAP: Millis = 150_000;

/// The minimum time between two announcements, in milliseconds.
const ANNOUNCE_AFTER: Millis = 15_000;

/// A reported fraction, and when it was seen.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Millis,
    fraction: f64,
}

/// The time that a running task is expected to need until it ends. It counts down between two reports, and increases only if
/// the estimate is much too low.
#[derive(Debug, Clone, Default)]
pub struct TimeLeft {
    /// The first observed increase of the present stage. How long the task had the fraction before is unknown: it may have
    /// waited at the service, or reported it long before the page was opened.
    base: Option<Sample>,
    /// The greatest fraction of the present stage, and when it was seen last.
    latest: Option<Sample>,
    /// When the task is expected to end.
    end: Option<Millis>,
    /// The time that was returned last.
    shown: Option<Millis>,
}

impl TimeLeft {
    /// Returns the remaining time in milliseconds. `usual` is the median of earlier durations. `None` if it is unknown: too
    /// little is reported and there are no earlier tasks, the expected time has passed without progress, or everything is
    /// reported as completed.
    pub fn update(&mut self, fraction: f64, usual: Option<Millis>, now: Millis) -> Option<Millis> {
        let sample = Sample { at: now, fraction };
        match self.latest {
            Some(latest)
                if (latest.at..=latest.at.saturating_add(MAX_GAP)).contains(&now)
                    && fraction > latest.fraction - MIN_DECREASE =>
            {
                if fraction > latest.fraction {
                    let base = *self.base.get_or_insert(sample);
                    self.end = self.next_end(base, sample, usual);
                }
                self.latest = Some(Sample {
                    at: now,
                    fraction: fraction.max(latest.fraction),
                });
            }
            _ => {
                *self = Self {
                    latest: Some(sample),
                    ..Self::default()
                };
                self.end = self.next_end(sample, sample, usual);
            }
        }
        if fraction >= 1.0 {
            return None;
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
    fn next_end(&self, base: Sample, sample: Sample, usual: Option<Millis>) -> Option<Millis> {
        let rest = 1.0 - sample.fraction;
        let growth = sample.fraction - base.fraction;
        let by_rate = (growth >= MIN_GROWTH)
            .then(|| sample.at.saturating_sub(base.at) as f64 * rest / growth);
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

/// Returns the completed fraction and the remaining time of a running task: `40 %, about 20 s left`. At most 99 %, because
/// the task still runs.
pub fn progress_text(fraction: f64, left: Option<Millis>) -> String {
    let percent = (fraction * 100.0).round().min(99.0) as u32;
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
        // The end is announced as a change of the state.
        let quarter = ((fraction * 4.0) as u32).min(3);
        let Some((last, at)) = self.last else {
            self.last = Some((quarter, now));
            return false;
        };
        if fraction <= f64::from(last) / 4.0 - MIN_DECREASE {
            // Another stage has started.
            self.last = Some((quarter, at));
        }
        let is_due = quarter > last && now.saturating_sub(at) >= ANNOUNCE_AFTER;
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
        assert_eq!(times[..3], [None, None, Some(18_000)]);
        let nothing = shown(None, 100, |_| 0.3);
        assert!(nothing.iter().all(Option::is_none));
    }

    /// Guards against a rate that counts the time between the opening of the page and the next poll only.
    #[test]
    fn a_poll_just_after_the_page_was_opened_gives_no_rate() {
        let mut time_left = TimeLeft::default();
        assert_eq!(time_left.update(0.4, None, START), None);
        assert_eq!(time_left.update(0.5, None, START + 100), None);
        let left = time_left.update(0.625, None, START + 10_100);
        assert_eq!(left, Some(30_000));
    }

    /// Guards against a rate from a fraction that is long outdated when the page is opened.
    #[test]
    fn the_first_poll_after_a_reload_gives_no_rate() {
        let mut time_left = TimeLeft::default();
        assert_eq!(time_left.update(0.05, Some(100_000), START), Some(95_000));
        let left = time_left.update(0.8, Some(100_000), START + 1_000).unwrap();
        assert!(left >= 20_000, "{left}");
        let mut unknown = TimeLeft::default();
        unknown.update(0.05, None, START);
        assert_eq!(unknown.update(0.8, None, START + 1_000), None);
    }

    /// Guards against hours that are left because the task has waited at the service.
    #[test]
    fn a_wait_at_zero_is_not_part_of_the_rate() {
        let wait = 600_000;
        for usual in [None, Some(40_000)] {
            let mut time_left = TimeLeft::default();
            for second in 0..wait / 1_000 {
                time_left.update(0.0, usual, START + second * 1_000);
            }
            let first = time_left.update(0.05, usual, START + wait);
            assert_eq!(first, usual.map(|_| 38_000));
            let later = time_left.update(0.3, usual, START + wait + 10_000);
            assert!(later.is_some_and(|left| left < 40_000), "{later:?}");
        }
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
        time_left.update(0.1, None, START);
        time_left.update(0.2, None, START + 1_000);
        assert!(time_left.update(0.9, None, START + 2_000).is_some());
        assert_eq!(time_left.update(0.0, None, START + 3_000), None);
        assert_eq!(time_left.update(0.1, None, START + 10_000), None);
        assert_eq!(time_left.update(0.2, None, START + 20_000), Some(80_000));
        // A slightly lower report is not a new stage.
        assert!(time_left.update(0.19, None, START + 21_000).is_some());
    }

    /// Guards against hours that are left because the clock was changed, or the device has slept.
    #[test]
    fn a_jump_of_the_clock_starts_a_new_estimate() {
        let hour = 3_600_000;
        for (usual, expected) in [(None, None), (Some(16_000), Some(8_000))] {
            for after in [START + hour, START - hour] {
                let mut time_left = TimeLeft::default();
                time_left.update(0.1, usual, START);
                time_left.update(0.2, usual, START + 1_000);
                time_left.update(0.3, usual, START + 2_000);
                assert_eq!(time_left.update(0.5, usual, after), expected);
                time_left.update(0.6, usual, after + 1_000);
                let left = time_left.update(0.7, usual, after + 2_000);
                assert!(left.is_some_and(|left| left <= 6_000), "{left:?}");
            }
        }
    }

    /// Guards against an estimate that is lost while the tab is in the background.
    #[test]
    fn an_estimate_continues_in_a_tab_whose_timers_run_once_a_minute() {
        let mut time_left = TimeLeft::default();
        time_left.update(0.0, None, START);
        for minute in 1..=4 {
            time_left.update(
                f64::from(minute) / 10.0,
                None,
                START + Millis::from(minute * 60_000_u32),
            );
        }
        let left = time_left.update(0.5, None, START + 300_000);
        assert!(
            left.is_some_and(|left| (299_000..=301_000).contains(&left)),
            "{left:?}"
        );
    }

    #[test]
    fn a_slow_step_does_not_increase_the_shown_time_a_little() {
        let mut time_left = TimeLeft::default();
        time_left.update(0.0, None, START);
        time_left.update(0.25, None, START);
        assert_eq!(time_left.update(0.5, None, START + 10_000), Some(20_000));
        // The expected end moves from 30 s to 32 s.
        assert_eq!(time_left.update(0.51, None, START + 12_000), Some(20_000));
    }

    /// Guards against `about 10 s left` while the service stores the output.
    #[test]
    fn the_time_is_unknown_once_everything_is_reported_as_completed() {
        let times = shown(Some(40_000), 20, |second| (second as f64 / 10.0).min(1.0));
        assert!(times[9].is_some());
        assert_eq!(times[10..], vec![None; 10]);
    }

    #[test]
    fn texts_have_whole_percents_and_rough_times() {
        assert_eq!(progress_text(0.4, Some(21_000)), "40 %, about 20 s left");
        assert_eq!(progress_text(0.999, Some(400)), "99 %, a few seconds left");
        assert_eq!(progress_text(1.0, None), "99 %");
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
        // A jump to the end is announced once.
        let mut jump = Announcements::default();
        let fractions = [0.6, 1.0, 1.0];
        let due = [0, 20, 40].map(|at| jump.is_due(fractions[at / 20], START + at as u64 * 1_000));
        assert_eq!(due, [false, true, false]);
        // The quarters of another stage are announced, too.
        assert!(!announcements.is_due(0.3, START + 200_000));
        assert!(announcements.is_due(0.5, START + 201_000));
        assert!(!announcements.is_due(0.49, START + 300_000));
        assert!(!announcements.is_due(0.5, START + 400_000));
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
