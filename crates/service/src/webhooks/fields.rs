//! The fields `webhook` and `webhook_events` of a request to generate.

use atelier_contract::Schema;
use serde_json::{Map, Value};
use thiserror::Error;

use super::hosts::{Hosts, UrlError};
use super::{EVENTS_FIELD, Event, URL_FIELD, Webhook};

/// Why a webhook is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WebhookError {
    #[error("webhook must be a text with a URL.")]
    NotText,
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error("webhook_events must be a list with \"started\", \"completed\" or both.")]
    Events,
    #[error("webhook_events has no effect without webhook.")]
    NoUrl,
}

/// Moves the webhook out of an input; `null` means none. Fields that are parameters of the model stay.
///
/// # Errors
///
/// A field is invalid, or the URL is not allowed.
pub fn take_from(
    input: &mut Map<String, Value>,
    schema: &Schema,
    hosts: &Hosts,
) -> Result<Option<Webhook>, WebhookError> {
    if schema.parameter(URL_FIELD).is_some() {
        return Ok(None);
    }
    let url = input.remove(URL_FIELD).filter(|url| !url.is_null());
    let events = match schema.parameter(EVENTS_FIELD) {
        Some(_) => None,
        None => input.remove(EVENTS_FIELD),
    };
    let events = events.filter(|events| !events.is_null());
    match (url, events) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(WebhookError::NoUrl),
        (Some(Value::String(url)), events) => {
            let (uri, host) = hosts.check(&url)?;
            Ok(Some(Webhook {
                url: uri.to_string(),
                host,
                events: match events {
                    None => vec![Event::Completed],
                    Some(events) => read_events(&events).ok_or(WebhookError::Events)?,
                },
            }))
        }
        (Some(_), _) => Err(WebhookError::NotText),
    }
}

/// Returns the listed events, each once; `None` if the list is empty or has others.
fn read_events(list: &Value) -> Option<Vec<Event>> {
    let names = list.as_array().filter(|names| !names.is_empty())?;
    let event = |name: &Value| Event::of_name(name.as_str()?);
    let listed = names.iter().map(event).collect::<Option<Vec<_>>>()?;
    let all = Event::ALL.into_iter();
    Some(all.filter(|event| listed.contains(event)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::hosts::parse_allowed;
    use super::*;

    fn schema(parameters: &[&str]) -> Schema {
        let optional: Vec<Value> = parameters
            .iter()
            .map(|name| json!({"name": name, "type": "string"}))
            .collect();
        let schema = json!({"category": "c", "subcategory": "s",
            "parameters": {"required": [], "optional": optional}});
        serde_json::from_value(schema).unwrap()
    }

    /// Returns the webhook, and the names of the fields that are left.
    fn take(
        input: Value,
        parameters: &[&str],
    ) -> Result<(Option<Webhook>, Vec<String>), WebhookError> {
        let Value::Object(mut input) = input else {
            unreachable!("an input is an object")
        };
        let hosts = Hosts::new(vec![parse_allowed("a.example").unwrap()]);
        let taken = take_from(&mut input, &schema(parameters), &hosts)?;
        Ok((taken, input.keys().cloned().collect()))
    }

    #[test]
    fn the_fields_are_taken_out_of_the_input() {
        let url = "https://a.example/hook?key=1";
        let events = |more: Value| {
            let mut input = json!({"prompt": "a", "webhook": url});
            input
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let (webhook, left) = take(input, &["prompt"]).unwrap();
            assert_eq!(left, ["prompt"]);
            let webhook = webhook.unwrap();
            assert_eq!(webhook.url, url);
            assert_eq!(webhook.host, "https://a.example:443");
            assert!(!format!("{webhook:?}").contains("key"));
            webhook.events
        };
        assert_eq!(events(json!({})), [Event::Completed]);
        assert_eq!(events(json!({"webhook_events": null})), [Event::Completed]);
        let both = json!(["completed", "started", "completed"]);
        assert_eq!(events(json!({"webhook_events": both})), Event::ALL);
        let none = (None, Vec::new());
        assert_eq!(
            take(json!({"webhook": null, "webhook_events": null}), &[]),
            Ok(none)
        );
    }

    #[test]
    fn invalid_fields_are_refused() {
        for (input, error) in [
            (json!({"webhook": 1}), WebhookError::NotText),
            (
                json!({"webhook": ["https://a.example/"]}),
                WebhookError::NotText,
            ),
            (json!({"webhook": "no"}), UrlError::NotAUrl.into()),
            (json!({"webhook_events": ["started"]}), WebhookError::NoUrl),
        ] {
            assert_eq!(take(input.clone(), &[]), Err(error), "{input}");
        }
        for events in [
            json!([]),
            json!(["ended"]),
            json!("started"),
            json!([1]),
            json!({}),
        ] {
            let input = json!({"webhook": "https://a.example/", "webhook_events": events});
            assert_eq!(
                take(input.clone(), &[]),
                Err(WebhookError::Events),
                "{input}"
            );
        }
    }

    /// Guards against a model whose parameter `webhook` never receives its value.
    #[test]
    fn a_parameter_of_the_model_stays_one() {
        let input = json!({"webhook": "no", "webhook_events": "no"});
        let (taken, left) = take(input, &["webhook"]).unwrap();
        assert_eq!((taken, left.len()), (None, 2));
        let input = json!({"webhook": "https://a.example/", "webhook_events": "no"});
        let (taken, left) = take(input, &["webhook_events"]).unwrap();
        assert_eq!(taken.unwrap().events, [Event::Completed]);
        assert_eq!(left, ["webhook_events"]);
    }
}
