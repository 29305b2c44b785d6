//! Decides whose turn it is: each owner has one in turn, so that no owner waits behind all the tasks of another.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use atelier_contract::ModelId;

/// A task that was blocked is tried again at least this often.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How many tasks of one owner wait, and how many are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnfinishedCount {
    /// How many wait.
    pub waiting: usize,
    /// How many are worked on.
    pub running: usize,
}

/// A task's turn, and how often it has come to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub id: String,
    pub owner: String,
    pub model: ModelId,
    /// When it was taken in, in milliseconds since 1970.
    pub since: i64,
    /// How often it has come to nothing, from 0.
    pub failures: u32,
    /// The begin of its first attempt by this process; its model's time limit counts from it.
    pub first_attempt: Option<Instant>,
    /// The model's error that ended the last attempt.
    pub last_error: Option<String>,
}

impl Turn {
    pub fn first(id: String, owner: String, model: ModelId, since: i64) -> Self {
        Self {
            id,
            owner,
            model,
            since,
            failures: 0,
            first_attempt: None,
            last_error: None,
        }
    }

    /// Returns when its model's time limit passes, for an attempt at this time.
    pub fn deadline(&self, now: Instant, limit: Duration) -> Instant {
        self.first_attempt.unwrap_or(now) + limit
    }

    /// Whether another attempt, after the usual pause, would begin after its model's time limit.
    pub fn is_last_attempt(&self, now: Instant, limit: Duration) -> bool {
        now + self.wait() >= self.deadline(now, limit)
    }

    /// Counts an attempt that ended with an error which may pass. Only errors of the model count towards
    /// its time limit: without one, when the service itself was at fault, the limit starts again.
    pub fn count_failure(&mut self, model_error: Option<String>) {
        self.failures = self.failures.saturating_add(1);
        if model_error.is_none() {
            self.first_attempt = None;
        }
        self.last_error = model_error;
    }

    /// Doubles from a quarter of a second to [`LONGEST_WAIT`].
    pub fn wait(&self) -> Duration {
        let doubled = 250_u64.saturating_mul(1 << self.failures.min(16));
        Duration::from_millis(doubled).min(LONGEST_WAIT)
    }
}

/// The tasks that wait for the same workers: each owner's oldest first, the owners in turn.
#[derive(Debug, Default)]
pub struct Lane {
    /// The owner whose turn is next comes first. None has no task.
    owners: VecDeque<(String, VecDeque<Turn>)>,
    /// The turns that met an obstacle which may pass, with the time to try again.
    later: Vec<(Instant, Turn)>,
}

impl Lane {
    pub fn push(&mut self, turn: Turn) {
        let mut owners = self.owners.iter_mut();
        match owners.find(|(owner, _)| *owner == turn.owner) {
            Some((_, turns)) => turns.push_back(turn),
            None => {
                let owner = turn.owner.clone();
                self.owners.push_back((owner, VecDeque::from([turn])));
            }
        }
    }

    /// Puts a task back until it is due.
    pub fn postpone(&mut self, due: Instant, turn: Turn) {
        self.later.push((due, turn));
    }

    /// The next task of an owner who may have one.
    pub fn pop(&mut self, may_run: impl Fn(&str) -> bool) -> Option<Turn> {
        let at = self.owners.iter().position(|(owner, _)| may_run(owner))?;
        let (owner, mut turns) = self.owners.remove(at)?;
        let turn = turns.pop_front();
        if !turns.is_empty() {
            self.owners.push_back((owner, turns));
        }
        turn
    }

    /// Readies what is due; says how long until the next one is.
    pub fn take_up(&mut self, now: Instant) -> Option<Duration> {
        let due: Vec<Turn> = self
            .later
            .extract_if(.., |(at, _)| *at <= now)
            .map(|(_, turn)| turn)
            .collect();
        due.into_iter().for_each(|turn| self.push(turn));
        let next = self.later.iter().map(|(at, _)| *at).min()?;
        Some(next.saturating_duration_since(now))
    }

    pub fn len(&self) -> usize {
        let ready: usize = self.owners.iter().map(|(_, turns)| turns.len()).sum();
        ready + self.later.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Counts by owner, of which none is kept at nought.
#[derive(Debug, Default)]
pub struct Tally(HashMap<String, usize>);

impl Tally {
    pub fn of(&self, owner: &str) -> usize {
        self.0.get(owner).copied().unwrap_or_default()
    }

    pub fn add(&mut self, owner: &str) {
        *self.0.entry(owner.to_owned()).or_default() += 1;
    }

    pub fn take(&mut self, owner: &str) {
        if let Some(count) = self.0.get_mut(owner) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(owner);
            }
        }
    }
}

/// Tasks by their model, and since when each has been there.
#[derive(Debug, Default)]
pub struct Backlog(HashMap<ModelId, BTreeSet<(i64, String)>>);

impl Backlog {
    pub fn add(&mut self, turn: &Turn) {
        let tasks = self.0.entry(turn.model.clone()).or_default();
        tasks.insert((turn.since, turn.id.clone()));
    }

    pub fn take(&mut self, turn: &Turn) {
        if let Some(tasks) = self.0.get_mut(&turn.model) {
            tasks.remove(&(turn.since, turn.id.clone()));
            if tasks.is_empty() {
                self.0.remove(&turn.model);
            }
        }
    }

    pub fn of(&self, model: &ModelId) -> usize {
        self.0.get(model).map_or(0, BTreeSet::len)
    }

    pub fn ids(&self) -> Vec<String> {
        let tasks = self.0.values().flatten();
        tasks.map(|(_, id)| id.clone()).collect()
    }

    pub fn models(&self) -> impl Iterator<Item = &ModelId> {
        self.0.keys()
    }

    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Since when the oldest has been there.
    pub fn oldest(&self) -> Option<i64> {
        let firsts = self.0.values().filter_map(BTreeSet::first);
        firsts.map(|(since, _)| *since).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(id: &str, owner: &str) -> Turn {
        Turn::first(id.into(), owner.into(), ModelId::new("image", "strata"), 0)
    }

    #[test]
    fn owners_take_turns_and_each_has_the_oldest_first() {
        let mut lane = Lane::default();
        for (id, owner) in [("1", "a"), ("2", "a"), ("3", "a"), ("4", "b"), ("5", "c")] {
            lane.push(turn(id, owner));
        }
        let mut order = String::new();
        while let Some(turn) = lane.pop(|_| true) {
            order += &turn.id;
            if turn.id == "4" {
                lane.push(self::turn("6", "b"));
            }
        }
        assert_eq!(order, "145263");
        assert!(lane.is_empty());
    }

    #[test]
    fn who_has_enough_running_is_passed_over_and_not_forgotten() {
        let mut lane = Lane::default();
        lane.push(turn("1", "a"));
        lane.push(turn("2", "b"));
        assert_eq!(lane.pop(|owner| owner != "a"), Some(turn("2", "b")));
        assert_eq!(lane.pop(|owner| owner != "a"), None);
        assert_eq!(lane.pop(|_| true), Some(turn("1", "a")));
    }

    #[test]
    fn a_hindered_task_comes_again_with_a_growing_wait() {
        let failed = |failures| Turn {
            failures,
            ..turn("a", "me")
        };
        assert_eq!(failed(0).wait(), Duration::from_millis(250));
        assert_eq!(failed(2).wait(), Duration::from_secs(1));
        assert_eq!(failed(u32::MAX).wait(), LONGEST_WAIT);

        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let mut lane = Lane::default();
        lane.postpone(at(500), failed(1));
        lane.postpone(at(900), failed(2));
        assert_eq!(lane.take_up(now), Some(Duration::from_millis(500)));
        assert_eq!(lane.pop(|_| true), None);
        assert_eq!(lane.take_up(at(500)), Some(Duration::from_millis(400)));
        assert_eq!(lane.pop(|_| true), Some(failed(1)));
        assert_eq!(lane.take_up(at(2000)), None);
        assert_eq!(lane.pop(|_| true), Some(failed(2)));
    }

    #[test]
    fn the_time_limit_counts_from_the_first_attempt() {
        let limit = Duration::from_secs(2);
        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let mut turn = turn("a", "me");
        assert_eq!(turn.deadline(now, limit), at(2000), "not begun yet");
        turn.first_attempt = Some(now);
        assert!(!turn.is_last_attempt(at(1000), limit));
        turn.count_failure(Some("busy".into()));
        assert_eq!(turn.deadline(at(1500), limit), at(2000));
        assert!(!turn.is_last_attempt(at(1400), limit));
        assert!(turn.is_last_attempt(at(1500), limit), "it waits for 0.5 s");
        turn.count_failure(None);
        assert_eq!(turn.deadline(at(9000), limit), at(11_000));
        assert_eq!(turn.last_error, None);
    }

    #[test]
    fn a_tally_forgets_whom_it_has_nothing_of() {
        let mut tally = Tally::default();
        tally.add("a");
        tally.add("a");
        tally.take("a");
        assert_eq!((tally.of("a"), tally.of("b")), (1, 0));
        tally.take("a");
        tally.take("a");
        assert!(tally.0.is_empty());
    }

    #[test]
    fn a_backlog_knows_its_oldest_and_forgets_what_was_taken() {
        let mut backlog = Backlog::default();
        let old = Turn::first("1".into(), "a".into(), ModelId::new("image", "x"), 5);
        let new = Turn::first("2".into(), "a".into(), ModelId::new("image", "y"), 9);
        backlog.add(&new);
        backlog.add(&old);
        assert_eq!((backlog.oldest(), backlog.len()), (Some(5), 2));
        backlog.take(&old);
        assert_eq!((backlog.oldest(), backlog.of(&old.model)), (Some(9), 0));
        backlog.take(&new);
        assert!(backlog.is_empty() && backlog.models().next().is_none());
    }
}
