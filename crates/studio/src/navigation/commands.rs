//! Chooses the rows that the list of commands shows.

use std::collections::HashMap;

use atelier_contract::ModelId;
use atelier_engine::BatchKey;

/// Models that are listed before anything is typed: all, as long as they are no more.
pub const MODELS: usize = 10;

/// The places of models: those used last first, then the others in the service's order.
pub fn models(known: &[&ModelId], recent: &[ModelId]) -> Vec<usize> {
    let place = |id: &ModelId| known.iter().position(|it| *it == id);
    let mut order: Vec<usize> = recent.iter().filter_map(place).collect();
    let used = order.len();
    for at in 0..known.len() {
        if !order[..used].contains(&at) {
            order.push(at);
        }
    }
    order
}

/// A row of the list, by the positions of what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    One(usize),
    /// Several tasks of a batch, the first of which is here, and how many there are.
    Batch(usize, usize),
}

/// Of what was found, in its order: tasks of one batch, which hardly differ for who looks for it, are one row in the
/// place of the first. `batch`: of what stands at a position.
pub fn listed<'a>(
    found: impl IntoIterator<Item = usize>,
    batch: impl Fn(usize) -> Option<&'a BatchKey>,
) -> Vec<Listed> {
    let mut rows: Vec<Listed> = Vec::new();
    let mut places: HashMap<&BatchKey, usize> = HashMap::new();
    for at in found {
        let Some(key) = batch(at) else {
            rows.push(Listed::One(at));
            continue;
        };
        let place = *places.entry(key).or_insert(rows.len());
        match rows.get_mut(place) {
            None => rows.push(Listed::One(at)),
            Some(row) => {
                *row = match *row {
                    Listed::One(first) => Listed::Batch(first, 2),
                    Listed::Batch(first, count) => Listed::Batch(first, count + 1),
                }
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_comes_first() {
        let model = |name: &str| ModelId::new("image", name);
        let all = ["a", "b", "c"].map(model);
        let known: Vec<&ModelId> = all.iter().collect();
        let recent = ["c", "gone", "b"].map(model);
        assert_eq!(models(&known, &recent), [2, 1, 0]);
        assert_eq!(models(&known, &[]), [0, 1, 2]);
    }

    /// Guards against six rows of one batch in a list of twelve.
    #[test]
    fn a_batch_is_one_row_and_a_task_of_it_that_is_found_alone_is_itself() {
        let batches = [Some("a"), None, Some("b"), Some("a"), Some("a")];
        let keys = batches.map(|key| key.map(|key| BatchKey(key.into())));
        let found = listed([3, 1, 2, 0, 4], |at| keys[at].as_ref());
        let expected = [Listed::Batch(3, 3), Listed::One(1), Listed::One(2)];
        assert_eq!(found, expected);
        assert_eq!(listed([], |at| keys[at].as_ref()), []);
    }
}
