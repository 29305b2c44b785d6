//! Describes the status of an account.

use atelier_contract::AccountStatus;

use crate::output::output_cache::size;

/// Returns a message such as `Account ada: 1 of 2 running, 3 of 100 waiting, 1.2 MB of 2 GB used.`
pub fn user_message(status: &AccountStatus) -> String {
    let of = |count: String, max: Option<String>| match max {
        Some(max) => format!("{count} of {max}"),
        None => count,
    };
    let count =
        |count: usize, max: Option<usize>| of(count.to_string(), max.map(|max| max.to_string()));
    format!(
        "Account {}: {} running, {} waiting, {} used.",
        status.uid,
        count(status.running, status.max_running),
        count(status.waiting, status.max_waiting),
        of(size(status.bytes), status.max_bytes.map(size)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_are_shown_if_there_are_any() {
        let message = |status| user_message(&serde_json::from_value(status).unwrap());
        assert_eq!(
            message(json!({"uid": "ada", "running": 1, "waiting": 3, "bytes": 1_200_000})),
            "Account ada: 1 running, 3 waiting, 1.2 MB used."
        );
        assert_eq!(
            message(json!({
                "uid": "ada", "running": 1, "waiting": 3, "bytes": 0,
                "max_running": 2, "max_waiting": 100, "max_bytes": 2_000_000_000
            })),
            "Account ada: 1 of 2 running, 3 of 100 waiting, 0 kB of 2 GB used."
        );
        // The minimal reply of a service.
        assert_eq!(
            message(json!({"uid": "ada"})),
            "Account ada: 0 running, 0 waiting, 0 kB used."
        );
    }
}
