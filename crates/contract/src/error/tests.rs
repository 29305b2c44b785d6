use super::*;
use crate::ServiceAddress;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn maps_statuses_to_kinds() {
    let kind =
        |status| crate::json::encode(&ApiError::from_status(status, None, None))["kind"].clone();
    for (status, expected) in [
        (400, "invalid"),
        (401, "unauthorized"),
        (403, "unauthorized"),
        (404, "not_found"),
        (405, "not_found"),
        (422, "invalid"),
        (429, "rate_limited"),
        (500, "server"),
        (503, "server"),
        (418, "refused"),
        (302, "network"),
    ] {
        assert_eq!(kind(status), expected, "{status}");
    }
}

#[test]
fn only_definite_refusals_are_certainly_not_accepted() {
    let error = |status, wait| ApiError::from_status(status, None, wait);
    assert!(error(429, None).was_certainly_not_accepted());
    assert!(error(503, Some(1000)).was_certainly_not_accepted());
    for unsure in [
        error(503, None),
        error(500, None),
        error(502, Some(1000)),
        error(504, None),
        ApiError::Network {
            detail: String::new(),
        },
        ApiError::Timeout { after_ms: 1 },
        ApiError::malformed("x"),
    ] {
        assert!(!unsure.was_certainly_not_accepted(), "{unsure:?}");
    }
}

/// A cached list must not hide a refusal, but must be shown during an outage.
#[test]
fn distinguishes_outages_from_answers() {
    let error = |status| ApiError::from_status(status, None, None);
    let network = ApiError::Network {
        detail: String::new(),
    };
    let timeout = ApiError::Timeout { after_ms: 30_000 };
    for (error, is_outage, is_unreachable) in [
        (network, true, true),
        (timeout, true, true),
        (error(502), true, true),
        (error(503), true, true),
        (error(504), true, true),
        (error(500), true, false),
        (error(501), true, false),
        (error(401), false, false),
        (error(403), false, false),
        (error(404), false, false),
        (error(422), false, false),
        (error(429), true, false),
        (error(302), true, true),
        (ApiError::malformed("x"), false, false),
        // A captive portal in place of the service.
        (ApiError::not_json(b" <!doctype html>"), true, true),
        (ApiError::not_json(b"{"), false, false),
        (ApiError::not_json(b""), false, false),
    ] {
        assert_eq!(error.is_outage(), is_outage, "{error:?}");
        assert_eq!(error.is_unreachable(), is_unreachable, "{error:?}");
    }
}

/// The message must not mention CORS if it can't be the cause.
#[test]
fn mentions_cors_for_other_origins_only() {
    let page = "https://studio.example";
    let network = |detail: &str| ApiError::Network {
        detail: detail.into(),
    };
    let user_message = |error: &ApiError, address: &str| {
        let address = ServiceAddress::parse(address).unwrap();
        error.user_message_of(&address, page)
    };
    let lost = network("TypeError: Failed to fetch");
    for own in ["", page, "https://studio.example/base"] {
        assert_eq!(user_message(&lost, own), lost.user_message());
        assert!(!user_message(&lost, own).contains("CORS"));
    }
    let other = user_message(&lost, "https://service.example");
    assert!(other.starts_with("No answer from the service."), "{other}");
    assert!(other.contains("CORS"), "{other}");
    let elsewhere = "https://service.example";
    for error in [
        network(ApiError::PAGE_CLOSED),
        network(ApiError::REDIRECTED),
        network(ApiError::WITHDRAWN),
        network(ApiError::CUT_OFF),
        ApiError::Timeout { after_ms: 5 },
        ApiError::from_status(502, None, None),
    ] {
        assert_eq!(user_message(&error, elsewhere), error.user_message());
    }
}

/// A phone shows only the beginning of the message, which must not be about credentials if a quota is used up.
#[test]
fn a_403_starts_with_the_services_message_unless_it_is_about_credentials() {
    let user_message = |status, message: &str| {
        let body = json!({"success": false, "message": message});
        ApiError::from_status(status, Some(&body), None).user_message()
    };
    assert_eq!(
        user_message(403, "Monthly quota used up"),
        "The service says: Monthly quota used up. It refused the request (HTTP 403)."
    );
    for (status, message) in [(403, "Invalid token"), (403, ""), (401, "Quota used up")] {
        let user_message = user_message(status, message);
        assert!(
            ApiError::is_about_credentials(&user_message),
            "{user_message}"
        );
    }
}

#[test]
fn reads_field_problems_of_several_shapes() {
    for body in [
        json!({"fields": [{"parameter": "seed", "message": "too big"}]}),
        json!({"errors": {"seed": ["too big"]}}),
        json!({"detail": [{"loc": ["body", "seed"], "msg": "too big"}]}),
    ] {
        let ApiError::Invalid { fields, .. } = ApiError::from_status(422, Some(&body), None) else {
            panic!("422 is invalid");
        };
        assert_eq!(
            fields,
            [FieldProblem {
                parameter: "seed".into(),
                message: "too big".into()
            }]
        );
    }
}

proptest! {
    #[test]
    fn every_response_has_a_message(status: u16, text in r#"[\{\}\[\]",:a-z0-9 ]{0,60}"#) {
        let body = serde_json::from_str::<Value>(&text).ok();
        let sentence = ApiError::from_status(status, body.as_ref(), None).user_message();
        prop_assert!(sentence.ends_with(['.', '!', '?']), "{sentence}");
    }
}

/// After a gateway timeout, the task may have been accepted and billed.
#[test]
fn a_gateway_timeout_is_not_a_refusal() {
    for status in [444, 460, 499] {
        let error = ApiError::from_status(status, None, None);
        assert!(!error.was_certainly_not_accepted(), "{status}");
    }
    assert!(ApiError::from_status(418, None, None).was_certainly_not_accepted());
}

/// Each response of the service contains a boolean `success`; that of a gateway does not.
#[test]
fn distinguishes_404s_of_the_service_from_others() {
    let whose = |body: Option<Value>| match ApiError::from_status(404, body.as_ref(), None) {
        ApiError::NotFound { is_of_service, .. } => is_of_service,
        other => panic!("{other:?}"),
    };
    assert!(whose(Some(
        json!({"success": false, "message": "no such task"})
    )));
    assert!(whose(Some(json!({"success": false}))));
    for other in [
        None,
        Some(json!({"message": "no Route matched with those values"})),
        Some(json!({"success": "no"})),
        Some(json!("not found")),
    ] {
        assert!(!whose(other));
    }
}

/// If a validator returns a list of errors, the message must not be raw JSON.
#[test]
fn shows_the_first_of_several_errors() {
    let body =
        json!({"detail": [{"loc": ["body", "prompt"], "msg": "too odd"}, {"msg": "and long"}]});
    let user_message = ApiError::from_status(409, Some(&body), None).user_message();
    assert!(
        user_message.contains("too odd") && !user_message.contains("loc"),
        "{user_message}"
    );
}

/// The page must not advise to edit the input if it was not the reason for the refusal.
#[test]
fn recognizes_the_cause_from_a_stored_message() {
    let user_message = |status| {
        let body = json!({"success": false, "message": "wrong token"});
        ApiError::from_status(status, Some(&body), None).user_message()
    };
    for (status, credentials, credits) in [
        (401, true, false),
        (403, true, false),
        (402, false, true),
        (422, false, false),
        (409, false, false),
    ] {
        let user_message = user_message(status);
        assert_eq!(
            ApiError::is_about_credentials(&user_message),
            credentials,
            "{user_message}"
        );
        assert_eq!(
            ApiError::is_about_credits(&user_message),
            credits,
            "{user_message}"
        );
    }
}
