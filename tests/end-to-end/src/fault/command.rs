//! Commands of the proxy over HTTP.

use super::proxy::Shared;
use super::reply::{self, Reply};
use super::rule::Rule;
use super::{clear, first, record};
use hyper::Method;
use hyper::body::Bytes;
use serde_json::{Value, json};

pub(super) fn is_command(path: &str) -> bool {
    path.starts_with("/__")
}

pub(super) fn execute(shared: &Shared, method: &Method, path: &str, body: &Bytes) -> Reply {
    match (method.as_str(), path) {
        ("OPTIONS", _) => reply::json(200, &json!({})),
        ("POST", "/__faults") => match parse_rules(body) {
            Ok(rules) => {
                shared.rules().extend(rules);
                reply::json(200, &json!({ "success": true }))
            }
            Err(error) => reply::json(
                400,
                &json!({ "success": false, "message": error.to_string() }),
            ),
        },
        ("DELETE", "/__faults") => {
            shared.clear(|_| false);
            reply::json(200, &json!({ "success": true }))
        }
        ("GET", "/__counts") => reply::json(200, &record::to_json(&shared.calls())),
        ("GET", clear::CACHE) => reply::clearing("\"cache\""),
        ("GET", clear::STORAGE) => reply::clearing("\"storage\""),
        ("GET", first::PATH) => first::scripts(shared),
        ("DELETE", "/__counts") => {
            shared.calls().clear();
            reply::json(200, &json!({ "success": true }))
        }
        _ => reply::json(
            404,
            &json!({ "success": false, "message": "no such command" }),
        ),
    }
}

/// Parses one rule, or an array of rules.
fn parse_rules(body: &Bytes) -> crate::Result<Vec<Rule>> {
    match serde_json::from_slice(body)? {
        Value::Array(rules) => rules.iter().map(Rule::parse).collect(),
        rule => Ok(vec![Rule::parse(&rule)?]),
    }
}
