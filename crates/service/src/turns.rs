//! Schedules tasks round-robin by owner, so that no owner waits behind all tasks of another.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use atelier_contract::ModelId;

/// The longest pause before a blocked task is retried.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The number of unfinished tasks of one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnfinishedCount {
    pub waiting: usize,
    pub running: usize,
}

/// A task's turn in the queue, with its attempts so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub id: String,
    pub owner: String,
    pub model: ModelId,
    /// When the task was accepted, in milliseconds since 1970.
    pub since: i64,
    /// The number of failed attempts.
    pub failures: u32,
    /// When this process began the first attempt; the model's time limit counts from it.
    pub first_attempt: Option<Instant>,
    /// The model error that ended the last attempt.
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

    /// Returns when the model's time limit expires, for an attempt at `now`.
    pub fn deadline(&self, now: Instant, limit: Duration) -> Instant {
        self.first_attempt.unwrap_or(now) + limit
    }

    /// Returns whether the next attempt, after [`Self::wait`], would begin after the model's time limit.
    pub fn is_last_attempt(&self, now: Instant, limit: Duration) -> bool {
        now + self.wait() >= self.deadline(now, limit)
    }

    /// Counts an attempt that ended with a retryable error. Only model errors count towards the model's time
    /// limit: `None`, for an error of the service itself, restarts the limit.
    pub fn count_failure(&mut self, model_error: Option<String>) {
        self.failures = self.failures.saturating_add(1);
        if model_error.is_none() {
            self.first_attempt = None;
        }
        self.last_error = model_error;
    }

    /// Returns the pause before the next attempt. Doubles with each failure, from 250 ms to 10 s.
    pub fn wait(&self) -> Duration {
        let doubled = 250_u64.saturating_mul(1 << self.failures.min(16));
        Duration::from_millis(doubled).min(MAX_WAIT)
    }
}

/// A queue of tasks for the same workers: round-robin by owner, each owner's oldest task first.
#[derive(Debug, Default)]
pub struct Lane {
    /// The next owner comes first. Each owner has at least one task.
    owners: VecDeque<(String, VecDeque<Turn>)>,
    /// Turns that ended with a retryable error, with the time of their retry.
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

    /// Defers a task until `due`.
    pub fn postpone(&mut self, due: Instant, turn: Turn) {
        self.later.push((due, turn));
    }

    /// Removes and returns the next task of an owner for whom `may_run` is true.
    pub fn pop(&mut self, may_run: impl Fn(&str) -> bool) -> Option<Turn> {
        let at = self.owners.iter().position(|(owner, _)| may_run(owner))?;
        let (owner, mut turns) = self.owners.remove(at)?;
        let turn = turns.pop_front();
        if !turns.is_empty() {
            self.owners.push_back((owner, turns));
        }
        turn
    }

    /// Removes and returns the task with this id.
    pub fn remove(&mut self, id: &str) -> Option<Turn> {
        if let Some(at) = self.later.iter().position(|(_, turn)| turn.id == id) {
            return Some(self.later.swap_remove(at).1);
        }
        let mut owners = self.owners.iter().enumerate();
        let (at, place) = owners.find_map(|(at, (_, turns))| {
            let place = turns.iter().position(|turn| turn.id == id)?;
            Some((at, place))
        })?;
        let turns = &mut self.owners[at].1;
        let turn = turns.remove(place);
        if turns.is_empty() {
            self.owners.remove(at);
        }
        turn
    }

    /// Requeues the turns that are due. Returns the time until the next one is due.
    pub fn requeue_due(&mut self, now: Instant) -> Option<Duration> {
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

/// Counts by owner. Zero counts are removed.
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

/// Tasks by model, with their times of acceptance.
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

    /// Returns when the oldest task was accepted, in milliseconds since 1970.
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
    fn owners_alternate_and_the_oldest_task_of_each_is_first() {
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
    fn an_owner_at_the_limit_is_skipped_and_stays_queued() {
        let mut lane = Lane::default();
        lane.push(turn("1", "a"));
        lane.push(turn("2", "b"));
        assert_eq!(lane.pop(|owner| owner != "a"), Some(turn("2", "b")));
        assert_eq!(lane.pop(|owner| owner != "a"), None);
        assert_eq!(lane.pop(|_| true), Some(turn("1", "a")));
    }

    #[test]
    fn a_removed_task_has_no_turn() {
        let mut lane = Lane::default();
        for (id, owner) in [("1", "a"), ("2", "a"), ("3", "b")] {
            lane.push(turn(id, owner));
        }
        lane.postpone(Instant::now(), turn("4", "b"));
        for id in ["3", "4", "1"] {
            assert_eq!(lane.remove(id).map(|turn| turn.id).as_deref(), Some(id));
            assert_eq!(lane.remove(id), None);
        }
        assert_eq!(lane.pop(|_| true), Some(turn("2", "a")));
        assert!(lane.is_empty());
    }

    #[test]
    fn a_blocked_task_is_retried_with_a_growing_wait() {
        let failed = |failures| Turn {
            failures,
            ..turn("a", "me")
        };
        assert_eq!(failed(0).wait(), Duration::from_millis(250));
        assert_eq!(failed(2).wait(), Duration::from_secs(1));
        assert_eq!(failed(u32::MAX).wait(), MAX_WAIT);

        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let mut lane = Lane::default();
        lane.postpone(at(500), failed(1));
        lane.postpone(at(900), failed(2));
        assert_eq!(lane.requeue_due(now), Some(Duration::from_millis(500)));
        assert_eq!(lane.pop(|_| true), None);
        assert_eq!(lane.requeue_due(at(500)), Some(Duration::from_millis(400)));
        assert_eq!(lane.pop(|_| true), Some(failed(1)));
        assert_eq!(lane.requeue_due(at(2000)), None);
        assert_eq!(lane.pop(|_| true), Some(failed(2)));
    }

    #[test]
    fn the_time_limit_counts_from_the_first_attempt() {
        let limit = Duration::from_secs(2);
        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let mut turn = turn("a", "me");
        assert_eq!(
            turn.deadline(now, limit),
            at(2000),
            "the limit starts now, before the first attempt"
        );
        turn.first_attempt = Some(now);
        assert!(!turn.is_last_attempt(at(1000), limit));
        turn.count_failure(Some("busy".into()));
        assert_eq!(turn.deadline(at(1500), limit), at(2000));
        assert!(!turn.is_last_attempt(at(1400), limit));
        assert!(
            turn.is_last_attempt(at(1500), limit),
            "the next attempt would begin 0.5 s later"
        );
        turn.count_failure(None);
        assert_eq!(turn.deadline(at(9000), limit), at(11_000));
        assert_eq!(turn.last_error, None);
    }

    #[test]
    fn a_tally_removes_zero_counts() {
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
    fn a_backlog_returns_the_time_of_its_oldest_task() {
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
