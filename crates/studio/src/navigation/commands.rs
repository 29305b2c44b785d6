//! Chooses and groups the rows of the command list.

use std::collections::HashMap;

use atelier_contract::ModelId;
use atelier_engine::BatchKey;

/// The maximum number of models listed before the user types. Most services have fewer.
pub const MODELS: usize = 10;

/// Returns the indexes of models: the last used first, then the others in the service's order.
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

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandRow {
    /// The index of a single entry.
    One(usize),
    /// The index of the first of several tasks of a batch, and their number.
    Batch(usize, usize),
}

/// Groups the results: tasks of the same batch are one row, at the position of the first. `batch`: returns the batch of
/// the result with this index.
pub fn grouped<'a>(
    found: impl IntoIterator<Item = usize>,
    batch: impl Fn(usize) -> Option<&'a BatchKey>,
) -> Vec<CommandRow> {
    let mut rows: Vec<CommandRow> = Vec::new();
    let mut places: HashMap<&BatchKey, usize> = HashMap::new();
    for at in found {
        let Some(key) = batch(at) else {
            rows.push(CommandRow::One(at));
            continue;
        };
        let place = *places.entry(key).or_insert(rows.len());
        match rows.get_mut(place) {
            None => rows.push(CommandRow::One(at)),
            Some(row) => {
                *row = match *row {
                    CommandRow::One(first) => CommandRow::Batch(first, 2),
                    CommandRow::Batch(first, count) => CommandRow::Batch(first, count + 1),
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
    fn the_last_used_models_are_first() {
        let model = |name: &str| ModelId::new("image", name);
        let all = ["a", "b", "c"].map(model);
        let known: Vec<&ModelId> = all.iter().collect();
        let recent = ["c", "gone", "b"].map(model);
        assert_eq!(models(&known, &recent), [2, 1, 0]);
        assert_eq!(models(&known, &[]), [0, 1, 2]);
    }

    /// Guards against a list that is filled by tasks of one batch.
    #[test]
    fn a_batch_is_one_row_unless_only_one_of_its_tasks_is_found() {
        let batches = [Some("a"), None, Some("b"), Some("a"), Some("a")];
        let keys = batches.map(|key| key.map(|key| BatchKey(key.into())));
        let found = grouped([3, 1, 2, 0, 4], |at| keys[at].as_ref());
        let expected = [
            CommandRow::Batch(3, 3),
            CommandRow::One(1),
            CommandRow::One(2),
        ];
        assert_eq!(found, expected);
        assert_eq!(grouped([], |at| keys[at].as_ref()), []);
    }
}
