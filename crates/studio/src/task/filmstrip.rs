//! Chooses the tasks of a model for a filmstrip: the latest first, with one frame per batch. Variations that were
//! requested together are in the order of their batch.

use atelier_engine::{BatchKey, BatchPlace, Task, TaskKey};

/// A frame of the strip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    Task(TaskKey),
    /// A batch, represented by its latest task.
    Batch(BatchKey, TaskKey),
}

impl Frame {
    pub fn of(task: &Task) -> Self {
        match &task.batch {
            Some(place) if !task.is_single() => Self::Batch(place.batch.clone(), task.key.clone()),
            _ => Self::Task(task.key.clone()),
        }
    }

    /// Returns the task, unless the frame is a batch.
    pub fn task(&self) -> Option<&TaskKey> {
        match self {
            Self::Task(key) => Some(key),
            Self::Batch(..) => None,
        }
    }
}

/// Returns up to `most` frames. `frames`: the frames of all tasks, the latest first, each with the task's place in a
/// batch.
pub fn filmstrip(
    frames: impl Iterator<Item = (Frame, Option<BatchPlace>)>,
    most: usize,
) -> Vec<Frame> {
    let mut strip: Vec<(Frame, Option<BatchPlace>)> = Vec::new();
    for (frame, place) in frames {
        let is_same_batch = |other: &Frame| matches!((&frame, other), (Frame::Batch(it, _), Frame::Batch(other, _)) if it == other);
        if strip.iter().any(|(other, _)| is_same_batch(other)) {
            continue;
        }
        if strip.len() == most {
            break;
        }
        strip.push((frame, place));
    }
    let are_together = |(_, one): &(Frame, Option<BatchPlace>),
                        (_, other): &(Frame, Option<BatchPlace>)| {
        let batches = one.as_ref().zip(other.as_ref());
        batches.is_some_and(|(one, other)| one.batch == other.batch)
    };
    for set in strip.chunk_by_mut(are_together) {
        set.sort_by_key(|(_, place)| place.as_ref().map(|place| place.index));
    }
    strip.into_iter().map(|(frame, _)| frame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;

    fn frame(
        key: &str,
        batch: Option<(&str, usize)>,
        varied: Option<&str>,
    ) -> (Frame, Option<BatchPlace>) {
        let mut task = task(key, 1_000);
        task.batch = batch.map(|(batch, index)| BatchPlace {
            batch: BatchKey(batch.into()),
            index,
        });
        task.varied = varied.map(|key| TaskKey(key.into()));
        (Frame::of(&task), task.batch)
    }

    fn names(strip: &[Frame]) -> Vec<String> {
        let names = strip.iter().map(|frame| match frame {
            Frame::Task(key) => key.0.clone(),
            Frame::Batch(batch, key) => format!("{}: {}", batch.0, key.0),
        });
        names.collect()
    }

    /// Batches must be part of the strip next to the form of their model.
    #[test]
    fn a_batch_is_one_frame_at_the_position_of_its_latest_task() {
        let frames = [
            frame("7", None, None),
            frame("6", Some(("b", 2)), None),
            frame("5", Some(("b", 1)), None),
            // Each variation has its own frame.
            frame("4", Some(("v", 0)), Some("1")),
            frame("3", Some(("v", 1)), Some("1")),
            frame("2", Some(("b", 0)), None),
            frame("1", None, None),
        ];
        let all = filmstrip(frames.clone().into_iter(), 16);
        assert_eq!(names(&all), ["7", "b: 6", "4", "3", "1"]);
        assert_eq!(all[0].task(), Some(&TaskKey("7".into())));
        assert_eq!(all[1].task(), None);
        let few = filmstrip(frames.into_iter(), 2);
        assert_eq!(names(&few), ["7", "b: 6"]);
    }

    /// The variations above the strip are in the order of their batch.
    #[test]
    fn variations_are_in_their_own_order() {
        let frames = [
            frame("w2", Some(("w", 1)), Some("1")),
            frame("w1", Some(("w", 0)), Some("1")),
            frame("v3", Some(("v", 2)), Some("1")),
            frame("v2", Some(("v", 1)), Some("1")),
            frame("v1", Some(("v", 0)), Some("1")),
            frame("1", None, None),
        ];
        let all = filmstrip(frames.clone().into_iter(), 16);
        assert_eq!(names(&all), ["w1", "w2", "v1", "v2", "v3", "1"]);
        let few = filmstrip(frames.into_iter(), 4);
        assert_eq!(names(&few), ["w1", "w2", "v2", "v3"]);
    }
}
