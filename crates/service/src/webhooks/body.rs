//! The body of a webhook.

use atelier_metadata::recipe::rfc3339;
use serde_json::{Value, json};

use super::{Delivery, Event};
use crate::store::Progress;

/// Returns the body: the type and time of the event, and the status of the task with its model and user, which the calls
/// for its output need. Returns `None` if the event is obsolete: the task has not ended after all, and will end again.
pub fn body(delivery: &Delivery, task: &Progress) -> Option<String> {
    let mut data = match delivery.event {
        // The task may have ended since.
        Event::Started => json!({"id": task.id, "status": "processing"}),
        Event::Completed if task.status.is_terminal() => task.ended_data(),
        Event::Completed => return None,
    };
    data["uid"] = task.uid.as_str().into();
    data["category"] = task.model.category.as_str().into();
    data["subcategory"] = task.model.subcategory.as_str().into();
    let body: Value = json!({
        "type": format!("task.{}", delivery.event.name()),
        "timestamp": rfc3339(delivery.occurred_ms.max(0).unsigned_abs()),
        "data": data,
    });
    Some(body.to_string())
}

#[cfg(test)]
mod tests {
    use atelier_contract::{ModelId, StatusWord};

    use super::*;

    fn delivery(event: Event) -> Delivery {
        Delivery {
            id: "msg_1".into(),
            task: "3f".into(),
            event,
            url: "https://a.example/".into(),
            host: "https://a.example:443".into(),
            occurred_ms: 1_614_265_330_000,
            attempt: 1,
        }
    }

    fn task(status: StatusWord, error: Option<&str>, canceled: bool) -> Progress {
        Progress {
            id: "3f".into(),
            uid: "me".into(),
            model: ModelId::new("image", "strata"),
            status,
            output: vec!["3f/0.png".into()],
            error: error.map(str::to_owned),
            report: None,
            canceled,
            ended_ms: None,
        }
    }

    #[test]
    fn the_body_is_the_status_of_the_task_with_its_model() {
        let parsed = |event, task: &Progress| -> Value {
            serde_json::from_str(&body(&delivery(event), task).unwrap()).unwrap()
        };
        let completed = task(StatusWord::Completed, None, false);
        let expected = |name: &str, data: Value| {
            let mut all =
                json!({"id": "3f", "uid": "me", "category": "image", "subcategory": "strata"});
            all.as_object_mut()
                .unwrap()
                .extend(data.as_object().unwrap().clone());
            json!({"type": name, "timestamp": "2021-02-25T15:02:10Z", "data": all})
        };
        let status = |status: &str| json!({"status": status});
        assert_eq!(
            parsed(Event::Completed, &completed),
            expected("task.completed", status("completed"))
        );
        assert_eq!(
            parsed(Event::Started, &completed),
            expected("task.started", status("processing"))
        );
        assert_eq!(
            parsed(
                Event::Completed,
                &task(StatusWord::Failed, Some("Canceled"), true)
            ),
            expected(
                "task.completed",
                json!({"status": "failed", "error": "Canceled", "canceled": true})
            )
        );
    }

    #[test]
    fn the_end_of_a_task_that_continues_is_obsolete() {
        let running = task(StatusWord::Processing, None, false);
        assert_eq!(body(&delivery(Event::Completed), &running), None);
    }
}
