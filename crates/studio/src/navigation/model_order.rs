//! Decides which models come first in the list: favorites, then those used last. The order is kept as text, a model a
//! line, so that the first view needs next to nothing to read it.

use atelier_contract::{Model, ModelId};
use atelier_engine::Task;

/// So many of the models used last are remembered.
const RECENT: usize = 12;

/// The models that tasks are of, the one used last first.
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

/// Favorites, then those used last, each once.
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

pub fn is_favorite(favorites: &str, model: &ModelId) -> bool {
    favorites.lines().any(|line| is_line(line, model))
}

/// The favorites with a model more, or without it.
pub fn toggled(favorites: &str, model: &ModelId) -> String {
    let others = favorites.lines().filter(|line| !is_line(line, model));
    let mut lines: Vec<String> = others.map(str::to_owned).collect();
    if !is_favorite(favorites, model) {
        lines.push(model.to_string());
    }
    lines.join("\n")
}

/// The places of models in the order in which they are shown: first those of the lines, in their order,
/// then the others in the service's.
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

/// Says in what order the models stand, if that is not simply the service's. `shown` has the favorites in whose order
/// they stand, `now` those of by now; `has_first` says that some come first, be they favorites or used last.
pub fn order_text(is_searched: bool, shown: &str, now: &str, has_first: bool) -> &'static str {
    let is_shown = |line| shown.lines().any(|shown| shown == line);
    match (is_searched, has_first) {
        (true, _) => "Best matches first",
        _ if !now.lines().all(is_shown) => "Favorites come first next time",
        _ if !shown.is_empty() => "Favorites first, then last used",
        (_, true) => "Last used first",
        _ => "",
    }
}

/// Without making a text of each model: there may be ten thousand.
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
    fn favorites_come_first_then_those_used_last() {
        let tasks = [task("2", 10), task("0", 30), task("2", 20), task("9", 5)];
        let recent = recent(&tasks);
        let names: Vec<&str> = recent.iter().map(|id| id.subcategory.as_str()).collect();
        assert_eq!(names, ["0", "2", "9"]);
        let favorites = toggled("", &ModelId::new("image", "2"));
        let favorites = toggled(&favorites, &ModelId::new("image", "3"));
        let first = first(&favorites, &recent);
        assert_eq!(first, "image/2\nimage/3\nimage/0\nimage/9");
        // What the service no longer lists is passed over.
        assert_eq!(order(&models(5), &first), [2, 3, 0, 1, 4]);
        assert_eq!(order(&models(3), ""), [0, 1, 2]);
    }

    #[test]
    fn it_is_said_in_what_order_they_stand() {
        let all = [
            order_text(false, "", "", false),
            order_text(false, "", "", true),
            order_text(false, "a/b\na/c", "a/c", true),
            order_text(true, "a/b", "a/b", true),
            // They stand as they stood before it was one.
            order_text(false, "a/b", "a/b\na/c", true),
            order_text(false, "", "a/c", true),
        ];
        let words = [
            "",
            "Last used first",
            "Favorites first, then last used",
            "Best matches first",
            "Favorites come first next time",
            "Favorites come first next time",
        ];
        assert_eq!(all, words);
    }

    #[test]
    fn a_favorite_is_one_until_it_is_taken_back() {
        let model = ModelId::new("image/a", "b");
        let favorites = toggled("image/c", &model);
        assert!(is_favorite(&favorites, &model));
        assert!(!is_favorite(&favorites, &ModelId::new("image", "a")));
        assert_eq!(toggled(&favorites, &model), "image/c");
    }

    proptest! {
        #[test]
        fn nothing_is_hidden(count in 0..20usize, lines in prop::collection::vec("image/[0-9]{1,2}|.{0,6}", 0..9)) {
            let mut order = order(&models(count), &lines.join("\n"));
            order.sort_unstable();
            prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
