//! Groups models by category.

use crate::navigation::sort;

/// The categories of a list of models, in the service's order, and the category of each model.
#[derive(Debug, Clone, PartialEq)]
pub struct Categories {
    names: Vec<String>,
    of_models: Vec<usize>,
}

/// The found models of a category.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The index of the category in [`Categories::names`].
    pub category: usize,
    /// The indexes of the models, at least one, in the order of the search result.
    pub models: Vec<usize>,
}

impl Categories {
    /// Collects the categories. `categories`: the category of each model. A service may have as many categories as
    /// models.
    pub fn of<'a>(categories: impl IntoIterator<Item = &'a str>) -> Self {
        // Models of a category are usually consecutive.
        let mut runs: Vec<(&str, usize)> = Vec::new();
        for category in categories {
            match runs.last_mut() {
                Some((last, models)) if *last == category => *models += 1,
                _ => runs.push((category, 1)),
            }
        }
        // Sort instead of using a map, whose code would be larger.
        let sorted = sort::order(runs.len(), &|a, b| (runs[a].0, a).cmp(&(runs[b].0, b)));
        let mut firsts = vec![0; runs.len()];
        let mut first: Option<usize> = None;
        for run in sorted {
            let known = first.filter(|first| runs[*first].0 == runs[run].0);
            first = known.or(Some(run));
            firsts[run] = known.unwrap_or(run);
        }
        let mut names = Vec::new();
        let mut places = vec![0; runs.len()];
        let mut of_models = Vec::new();
        for (run, (category, models)) in runs.into_iter().enumerate() {
            if firsts[run] == run {
                places[run] = names.len();
                names.push(category.to_owned());
            }
            places[run] = places[firsts[run]];
            of_models.extend(std::iter::repeat_n(places[run], models));
        }
        Self { names, of_models }
    }

    /// Returns the names of the categories, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of models in the largest category.
    pub fn largest(&self) -> usize {
        let mut counts = vec![0; self.names.len()];
        for category in &self.of_models {
            counts[*category] += 1;
        }
        counts.into_iter().max().unwrap_or_default()
    }

    /// Groups the found models by category, each group in the order of the search result. If a category is selected,
    /// returns only its group.
    pub fn group(
        &self,
        selected: Option<&str>,
        found: impl IntoIterator<Item = usize>,
    ) -> Vec<Group> {
        let selected = selected.map(|selected| self.names.iter().position(|name| name == selected));
        let mut models = vec![Vec::new(); self.names.len()];
        for model in found {
            let category = self.of_models[model];
            if selected.is_none_or(|selected| selected == Some(category)) {
                models[category].push(model);
            }
        }
        let groups = models.into_iter().enumerate();
        groups
            .filter(|(_, models)| !models.is_empty())
            .map(|(category, models)| Group { category, models })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn group(category: usize, models: &[usize]) -> Group {
        Group {
            category,
            models: models.to_vec(),
        }
    }

    #[test]
    fn the_service_order_of_categories_and_the_order_of_results_are_preserved() {
        let categories = Categories::of(["video", "image", "video", "audio", "image"]);
        assert_eq!(categories.names(), ["video", "image", "audio"]);
        assert_eq!(
            categories.group(None, [4, 2, 1, 0]),
            [group(0, &[2, 0]), group(1, &[4, 1])]
        );
        assert_eq!(categories.group(Some("image"), 0..5), [group(1, &[1, 4])]);
        assert_eq!(categories.group(Some("music"), 0..5), []);
        assert_eq!(Categories::of([]).group(None, []), []);
    }

    proptest! {
        #[test]
        fn every_result_is_in_its_group_once(of in prop::collection::vec("[a-d]", 0..40)) {
            let categories = Categories::of(of.iter().map(String::as_str));
            let groups = categories.group(None, 0..of.len());
            for group in &groups {
                for model in &group.models {
                    prop_assert_eq!(&categories.names()[group.category], &of[*model]);
                }
            }
            let mut all: Vec<usize> = groups.into_iter().flat_map(|group| group.models).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..of.len()).collect::<Vec<_>>());
        }
    }

    /// Searching all categories for each model would exceed the time limit of a test.
    #[test]
    fn grouping_time_grows_linearly_with_the_categories() {
        let names: Vec<String> = (0..400_000).map(|n| format!("category {n}")).collect();
        let categories = Categories::of(names.iter().map(String::as_str));
        assert_eq!(categories.group(None, 0..names.len()).len(), names.len());
    }
}
