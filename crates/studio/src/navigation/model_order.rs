//! Orders the models in a list: favorites first, then the models used last. The stored form is text with one model per
//! line, because this needs little code in the first part of the program.

use atelier_contract::{Model, ModelId};
use atelier_engine::Task;

/// The maximum number of last used models.
const RECENT: usize = 12;

/// Returns the models of tasks, the last used first.
pub fn recent<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Vec<ModelId> {
    let mut oldest_first: Vec<&Task> = tasks.into_iter().collect();
    oldest_first.sort_by_key(|task| task.created);
    let mut recent: Vec<ModelId> = Vec::new();
    for task in oldest_first.into_iter().rev() {
        if !recent.contains(&task.model) {
            recent.push(task.model.clone());
        }
        if recent.len() == RECENT {
            break;
        }
    }
    recent
}

/// Returns the favorites, then the last used models, without duplicates, one per line.
pub fn first(favorites: &str, recent: &[ModelId]) -> String {
    let mut lines: Vec<String> = favorites.lines().map(str::to_owned).collect();
    for model in recent {
        let line = model.to_string();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Whether a model is a favorite.
pub fn is_favorite(favorites: &str, model: &ModelId) -> bool {
    favorites.lines().any(|line| is_line(line, model))
}

/// Adds a model to the favorites, or removes it.
pub fn toggled(favorites: &str, model: &ModelId) -> String {
    let others = favorites.lines().filter(|line| !is_line(line, model));
    let mut lines: Vec<String> = others.map(str::to_owned).collect();
    if !is_favorite(favorites, model) {
        lines.push(model.to_string());
    }
    lines.join("\n")
}

/// Returns the indexes of models in display order: first those in the lines of `first`, then the others in the service's
/// order.
pub fn order(models: &[Model], first: &str) -> Vec<usize> {
    let mut order = Vec::new();
    for line in first.lines() {
        let found = models.iter().position(|model| is_line(line, &model.id));
        order.extend(found.filter(|at| !order.contains(at)));
    }
    let known = order.clone();
    order.extend((0..models.len()).filter(|at| !known.contains(at)));
    order
}

/// Describes the order of the models; empty if it is the service's. `shown`: the favorites in the current order; `now`:
/// the current favorites; `has_first`: whether favorites or last used models are first.
pub fn order_text(is_searched: bool, shown: &str, now: &str, has_first: bool) -> &'static str {
    let is_shown = |line| shown.lines().any(|shown| shown == line);
    match (is_searched, has_first) {
        (true, _) => "Best matches first",
        _ if !now.lines().all(is_shown) => "Favorites first next time",
        _ if !shown.is_empty() => "Favorites first, then last used",
        (_, true) => "Last used first",
        _ => "",
    }
}

/// Compares without formatting each model, because there may be ten thousand.
fn is_line(line: &str, model: &ModelId) -> bool {
    let rest = line.strip_prefix(model.category.as_str());
    rest.and_then(|rest| rest.strip_prefix('/')) == Some(model.subcategory.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn models(count: usize) -> Vec<Model> {
        let model = |n: usize| Model {
            name: String::new(),
            id: ModelId::new("image", n.to_string()),
            description: String::new(),
            documentation: String::new(),
            preview: String::new(),
            poster: String::new(),
            unavailable_reason: String::new(),
        };
        (0..count).map(model).collect()
    }

    fn task(model: &str, created: u64) -> Task {
        serde_json::from_value(json!({
            "key": created.to_string(), "account": {"address": "", "uid": "me"},
            "model": {"category": "image", "subcategory": model}, "model_name": model,
            "input": {"model": {"category": "image", "subcategory": model}, "values": {}},
            "created": created, "state": {"state": "queued"}
        }))
        .unwrap()
    }

    #[test]
    fn favorites_are_first_then_the_last_used() {
        let tasks = [task("2", 10), task("0", 30), task("2", 20), task("9", 5)];
        let recent = recent(&tasks);
        let names: Vec<&str> = recent.iter().map(|id| id.subcategory.as_str()).collect();
        assert_eq!(names, ["0", "2", "9"]);
        let favorites = toggled("", &ModelId::new("image", "2"));
        let favorites = toggled(&favorites, &ModelId::new("image", "3"));
        let first = first(&favorites, &recent);
        assert_eq!(first, "image/2\nimage/3\nimage/0\nimage/9");
        // Models that the service no longer lists are skipped.
        assert_eq!(order(&models(5), &first), [2, 3, 0, 1, 4]);
        assert_eq!(order(&models(3), ""), [0, 1, 2]);
    }

    #[test]
    fn the_order_is_described() {
        let all = [
            order_text(false, "", "", false),
            order_text(false, "", "", true),
            order_text(false, "a/b\na/c", "a/c", true),
            order_text(true, "a/b", "a/b", true),
            // The order did not change when this model became a favorite.
            order_text(false, "a/b", "a/b\na/c", true),
            order_text(false, "", "a/c", true),
        ];
        let words = [
            "",
            "Last used first",
            "Favorites first, then last used",
            "Best matches first",
            "Favorites first next time",
            "Favorites first next time",
        ];
        assert_eq!(all, words);
    }

    #[test]
    fn favorites_can_be_toggled() {
        let model = ModelId::new("image/a", "b");
        let favorites = toggled("image/c", &model);
        assert!(is_favorite(&favorites, &model));
        assert!(!is_favorite(&favorites, &ModelId::new("image", "a")));
        assert_eq!(toggled(&favorites, &model), "image/c");
    }

    proptest! {
        #[test]
        fn no_model_is_hidden(count in 0..20usize, lines in prop::collection::vec("image/[0-9]{1,2}|.{0,6}", 0..9)) {
            let mut order = order(&models(count), &lines.join("\n"));
            order.sort_unstable();
            prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
