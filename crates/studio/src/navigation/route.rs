//! Parses and formats the URLs of the app's pages.

use atelier_contract::{ModelId, path};
use atelier_engine::{BatchKey, TaskKey};

/// The page of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// `/`
    Models,
    /// `/models/:category/:subcategory`
    Model(ModelId),
    /// `/tasks`
    Tasks,
    /// `/tasks/:key`
    Task(TaskKey),
    /// `/batches/:key`
    Batch(BatchKey),
    /// `/gallery`
    Gallery,
    /// `/settings`
    Settings,
    /// Any other path.
    Missing,
}

impl Route {
    /// Parses a path without a query. A trailing slash is ignored.
    pub fn parse(path: &str) -> Self {
        let segments: Vec<&str> = path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .collect();
        match segments[..] {
            [] => Self::Models,
            ["models", category, subcategory] => Self::Model(ModelId::new(
                path::decode(category),
                path::decode(subcategory),
            )),
            ["tasks"] => Self::Tasks,
            ["tasks", key] => Self::Task(TaskKey(path::decode(key))),
            ["batches", key] => Self::Batch(BatchKey(path::decode(key))),
            ["gallery"] => Self::Gallery,
            ["settings"] => Self::Settings,
            _ => Self::Missing,
        }
    }

    /// Returns the path of the page.
    pub fn path(&self) -> String {
        match self {
            Self::Models | Self::Missing => "/".into(),
            Self::Model(model) => format!("/models/{}", path::model_segments(model)),
            Self::Tasks => "/tasks".into(),
            Self::Task(key) => format!("/tasks/{}", path::segment(&key.0)),
            Self::Batch(key) => format!("/batches/{}", path::segment(&key.0)),
            Self::Gallery => "/gallery".into(),
            Self::Settings => "/settings".into(),
        }
    }
}

/// Returns a value of a query such as `?q=a%20b&category=image`.
pub fn query_value(query: &str, name: &str) -> Option<String> {
    pairs(query)
        .find(|(key, _)| *key == name)
        .map(|(_, value)| path::decode(&value.replace('+', " ")))
}

/// Sets or removes a value of a query. The result is empty or starts with `?`.
pub fn with_query_value(query: &str, name: &str, value: Option<&str>) -> String {
    let others = pairs(query)
        .filter(|(key, _)| *key != name)
        .map(|(key, value)| format!("{key}={value}"));
    let set = value.map(|value| format!("{name}={}", path::segment(value)));
    let query: Vec<String> = others.chain(set).collect();
    if query.is_empty() {
        return String::new();
    }
    format!("?{}", query.join("&"))
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query
        .trim_start_matches('?')
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_map_to_pages() {
        for (path, route) in [
            ("", Route::Models),
            ("/", Route::Models),
            ("/settings/", Route::Settings),
            ("/tasks", Route::Tasks),
            ("/gallery", Route::Gallery),
            ("/tasks/ab", Route::Task(TaskKey("ab".into()))),
            ("/batches/ab", Route::Batch(BatchKey("ab".into()))),
            ("/batches", Route::Missing),
            (
                "/models/image/a%2Fb",
                Route::Model(ModelId::new("image", "a/b")),
            ),
            ("/models/image", Route::Missing),
            ("/nowhere", Route::Missing),
        ] {
            assert_eq!(Route::parse(path), route, "{path}");
        }
    }

    #[test]
    fn other_values_of_a_query_are_preserved() {
        let query = with_query_value("?a=1&q=x", "q", Some("y z&"));
        assert_eq!(query, "?a=1&q=y%20z%26");
        assert_eq!(query_value(&query, "q").as_deref(), Some("y z&"));
        assert_eq!(query_value("?q=y+z", "q").as_deref(), Some("y z"));
        assert_eq!(with_query_value("?q=x", "q", None), "");
    }

    proptest! {
        #[test]
        fn the_path_of_any_model_survives_a_round_trip(category in ".+", subcategory in ".+") {
            let route = Route::Model(ModelId::new(category, subcategory));
            prop_assert_eq!(Route::parse(&route.path()), route);
        }

        #[test]
        fn any_text_survives_a_query(value in ".*") {
            let query = with_query_value("", "q", Some(&value));
            prop_assert_eq!(query_value(&query, "q"), Some(value));
        }
    }
}
