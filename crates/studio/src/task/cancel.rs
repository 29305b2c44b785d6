//! The message about a request to cancel a task that is under way.

use atelier_engine::{Phase, Task};

/// Returns the message about a request that the service has not answered, or has refused.
pub fn user_message(task: &Task) -> Option<String> {
    if task.is_canceling() {
        let message = match task.state.phase() {
            Phase::Submitting => "It is canceled as soon as the service has accepted it.",
            _ => "The service is asked to cancel it. If it finishes first, its outputs are kept.",
        };
        return Some(message.into());
    }
    let request = task.cancel.as_ref().filter(|_| task.is_active())?;
    Some(format!("Not canceled. {}", request.refusal.as_ref()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;
    use serde_json::json;

    #[test]
    fn reports_the_request_until_the_task_ends() {
        let running = json!({"state": "running", "id": "t", "word": "processing"});
        let message = |state: &serde_json::Value, cancel: serde_json::Value| {
            let mut task = task("a", 0);
            task.state = serde_json::from_value(state.clone()).unwrap();
            task.cancel = serde_json::from_value(cancel).unwrap();
            user_message(&task)
        };
        assert_eq!(message(&running, json!(null)), None);
        let pending = message(&running, json!({"since": 1})).unwrap();
        assert!(pending.contains("If it finishes first, its outputs are kept."));
        let sending = message(&json!({"state": "submitting"}), json!({"since": 1})).unwrap();
        assert!(sending.contains("as soon as the service has accepted it"));
        let refused = message(&running, json!({"since": 1, "refusal": "It can't."}));
        assert_eq!(refused.as_deref(), Some("Not canceled. It can't."));
        let ended = json!({"state": "ready", "id": "t", "outputs": []});
        assert_eq!(
            message(&ended, json!({"since": 1, "refusal": "It can't."})),
            None
        );
    }
}
