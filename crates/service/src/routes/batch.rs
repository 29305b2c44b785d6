//! The three batch endpoints, and the addition for cancel: 1 to 10 single calls in one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_contract::{BatchEntry, Envelope, MAX_BATCH_ITEMS, StatusWord};
use axum::Json;
use axum::extract::{Request, State};
use serde_json::{Value, json};

use super::generate::{WebhookFields, accept};
use super::task::{cancel_one, output_of, progress_of};
use super::{Call, run_blocking};
use crate::failure::{Failure, success};
use crate::idempotency;
use crate::state::App;

type Reply = Result<Json<Envelope<Value>>, Failure>;

pub async fn generate(State(app): State<Arc<App>>, request: Request) -> Reply {
    let call = Call::of(&app, request).await?;
    if call.headers.contains_key(idempotency::HEADER) {
        return Err(Failure::bad_request(
            "A batch takes an idempotency_key in each of its items, not in a header.",
        ));
    }
    // Refuses the whole call with Retry-After, because a batch entry has no headers.
    if app.pool.is_draining() {
        return Err(Failure::draining());
    }
    let repeats = Arc::new(AtomicUsize::new(0));
    let (counter, caller, limiting) = (repeats.clone(), call.caller.clone(), app.clone());
    let reply = each(&app.clone(), call, move |call, item| {
        let accepted = accept(
            &app,
            call,
            item,
            None,
            StatusWord::Queued,
            WebhookFields::Read,
        )?;
        if accepted.is_repeat {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Ok(accepted.data)
    })
    .await;
    // Repeated submissions are not charged, but each call is charged at least once.
    if let Some(limit) = &limiting.limit {
        limit.refund(&caller, repeats.load(Ordering::Relaxed).saturating_sub(1));
    }
    reply
}

pub async fn status(State(app): State<Arc<App>>, request: Request) -> Reply {
    let call = Call::of(&app, request).await?;
    each(&app.clone(), call, move |call, item| {
        progress_of(&app, call, item)
    })
    .await
}

pub async fn response(State(app): State<Arc<App>>, request: Request) -> Reply {
    let call = Call::of(&app, request).await?;
    each(&app.clone(), call, move |call, item| {
        output_of(&app, call, item)
    })
    .await
}

pub async fn cancel(State(app): State<Arc<App>>, request: Request) -> Reply {
    let call = Call::of(&app, request).await?;
    each(&app.clone(), call, move |call, item| {
        cancel_one(&app, call, item)
    })
    .await
}

/// Handles each item separately: the failure of one item does not affect the others. Returns 422 unless there are 1 to
/// 10 items.
async fn each(
    app: &App,
    call: Call,
    handle: impl Fn(&Call, &Value) -> Result<Value, Failure> + Send + 'static,
) -> Reply {
    let count = items(&call.body)?.len();
    if let Some(limit) = &app.limit {
        limit.charge(&call.caller, count - 1);
    }
    let metrics = app.metrics.clone();
    let results = run_blocking(move || {
        let items = items(&call.body)?;
        let entry = |(index, item)| match handle(&call, item) {
            Ok(data) => BatchEntry {
                index,
                status: 200,
                body: json!(Envelope::success(data)),
            },
            Err(failure) => {
                metrics.count_refusal(&failure.body.error);
                BatchEntry {
                    index,
                    status: failure.status.as_u16(),
                    body: failure.to_body(),
                }
            }
        };
        Ok(items.iter().enumerate().map(entry).collect::<Vec<_>>())
    })
    .await?;
    Ok(success(json!({ "results": results })))
}

fn items(body: &Value) -> Result<&[Value], Failure> {
    let Some(Value::Array(items)) = body.get("requests") else {
        return Err(Failure::invalid_field(
            "requests",
            "requests must be an array of 1 to 10 objects",
        ));
    };
    if items.is_empty() || items.len() > MAX_BATCH_ITEMS {
        let message = format!(
            "requests must hold 1 to {MAX_BATCH_ITEMS} items, not {}",
            items.len()
        );
        return Err(Failure::invalid_field("requests", message));
    }
    Ok(items)
}
