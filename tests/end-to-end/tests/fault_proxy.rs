//! Tests of the fault proxy, which other tests rely on, with a fake server.

use atelier_end_to_end::fault::{Fault, FaultProxy, RetryAfter, Rule};
use atelier_end_to_end::{Result, http};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;

/// Starts a server that responds to every call like a batch of three accepted tasks, and counts the calls.
async fn start_server() -> Result<(String, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let count = Arc::clone(&count);
            let answer = service_fn(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
                let entry =
                    |n| json!({ "index": n, "body": { "data": { "id": format!("t{n}") } } });
                let body = json!({ "data": { "results": [entry(0), entry(1), entry(2)] } });
                let reply = Response::new(Full::new(Bytes::from(body.to_string())));
                async { Ok::<_, std::convert::Infallible>(reply) }
            });
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(TokioIo::new(stream), answer));
        }
    });
    Ok((address, seen))
}

struct Answer {
    status: u16,
    retry_after: Option<String>,
    body: String,
}

impl Answer {
    fn ids(&self) -> Vec<String> {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let entries = body["data"]["results"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        entries
            .iter()
            .filter_map(|e| e["body"]["data"]["id"].as_str().map(str::to_owned))
            .collect()
    }
}

async fn call(proxy: &str, method: &str, path: &str, body: Value) -> Result<Answer> {
    let authority = http::authority(proxy)?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", authority)
        .body(Full::new(Bytes::from(body.to_string())))?;
    let reply = http::send(authority, request).await?;
    let after = reply
        .headers()
        .get("retry-after")
        .and_then(|value| value.to_str().ok());
    let retry_after = after.map(str::to_owned);
    let status = reply.status().as_u16();
    let body = String::from_utf8(reply.into_body().collect().await?.to_bytes().to_vec())?;
    Ok(Answer {
        status,
        retry_after,
        body,
    })
}

async fn post(proxy: &FaultProxy, path: &str) -> Result<Answer> {
    call(
        &proxy.address(),
        "POST",
        path,
        json!({ "requests": [{ "id": "a" }, { "id": "b" }] }),
    )
    .await
}

#[tokio::test]
async fn calls_are_forwarded_and_recorded_with_task_ids() -> Result<()> {
    let (address, seen) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    assert_eq!(
        post(&proxy, "/v2/generate-batch?x=1").await?.ids(),
        ["t0", "t1", "t2"]
    );
    let calls = proxy.calls_to("/v2/generate-batch");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].ids, ["a", "b"]);
    assert_eq!(calls[0].items, 2);
    assert_eq!(calls[0].accepted, ["t0", "t1", "t2"]);
    assert_eq!(calls[0].status, Some(200));
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    Ok(())
}

#[tokio::test]
async fn fault_applies_to_given_number_of_calls() -> Result<()> {
    let (address, seen) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    proxy.add(Rule::next(
        2,
        "/v2/*",
        Fault::Status {
            status: 503,
            retry_after: None,
        },
    ));
    for expected in [503, 503, 200] {
        assert_eq!(post(&proxy, "/v2/status").await?.status, expected);
    }
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    Ok(())
}

#[tokio::test]
async fn retry_after_date_is_rounded_up() -> Result<()> {
    let (address, _) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    for after in [RetryAfter::Seconds(7), RetryAfter::Date(7)] {
        proxy.add(Rule::next(
            1,
            "/v2/*",
            Fault::Status {
                status: 429,
                retry_after: Some(after),
            },
        ));
        let before = SystemTime::now();
        let header = post(&proxy, "/v2/status")
            .await?
            .retry_after
            .ok_or("no retry-after")?;
        match after {
            RetryAfter::Seconds(_) => assert_eq!(header, "7"),
            RetryAfter::Date(_) => {
                let date = httpdate::parse_http_date(&header)?;
                let [earliest, latest] =
                    [before, SystemTime::now()].map(|time| time + Duration::from_secs(7));
                assert!(date >= earliest, "{date:?}");
                assert!(date <= latest + Duration::from_secs(1), "{date:?}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn held_call_is_forwarded_when_rules_are_removed() -> Result<()> {
    let (address, seen) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    proxy.add(Rule::every("/v2/*", Fault::Hold));
    let held = post(&proxy, "/v2/generate");
    let release = async {
        while proxy.calls().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(seen.load(Ordering::Relaxed), 0);
        proxy.clear();
    };
    let (answer, ()) = tokio::join!(held, release);
    assert_eq!(answer?.status, 200);
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    Ok(())
}

#[tokio::test]
async fn drop_before_and_drop_after_differ_in_reaching_service() -> Result<()> {
    let (address, seen) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    proxy.add(Rule::next(1, "/v2/generate", Fault::DropBefore));
    assert!(post(&proxy, "/v2/generate").await.is_err());
    assert_eq!(seen.load(Ordering::Relaxed), 0);
    proxy.add(Rule::next(1, "/v2/generate", Fault::DropAfter));
    assert!(post(&proxy, "/v2/generate").await.is_err());
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    let calls = proxy.calls();
    assert_eq!(
        calls.iter().map(|call| call.status).collect::<Vec<_>>(),
        [None, None]
    );
    assert_eq!(calls[1].accepted.len(), 3);
    Ok(())
}

#[tokio::test]
async fn batch_responses_are_truncated_and_reversed() -> Result<()> {
    let (address, _) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    proxy.add(Rule::next(1, "/v2/*", Fault::CutBatch { keep: 1 }));
    proxy.add(Rule::next(1, "/v2/*", Fault::ReorderBatch));
    assert_eq!(post(&proxy, "/v2/status-batch").await?.ids(), ["t0"]);
    assert_eq!(
        post(&proxy, "/v2/status-batch").await?.ids(),
        ["t2", "t1", "t0"]
    );
    Ok(())
}

#[tokio::test]
async fn hidden_field_stays_hidden_after_clear() -> Result<()> {
    let (address, _) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    let field = "data".to_owned();
    proxy.add(Rule::every("/api/models", Fault::HideField { field }));
    proxy.add(Rule::every("/v2/*", Fault::NotJson));
    for _ in 0..2 {
        assert_eq!(post(&proxy, "/api/models").await?.body, "{}");
        proxy.clear();
    }
    assert_eq!(post(&proxy, "/v2/status").await?.ids().len(), 3);
    Ok(())
}

/// Guards against a stream that a page opens although its test relies on polls: of two hidden fields only the first was
/// hidden, and a page that was open before knew the stream.
#[tokio::test]
async fn hidden_stream_does_not_exist_even_after_clear() -> Result<()> {
    let (address, _) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    let field = "data".to_owned();
    proxy.hide_idempotency_keys();
    proxy.hide_events();
    proxy.add(Rule::every("/api/models", Fault::HideField { field }));
    proxy.clear();
    assert_eq!(post(&proxy, "/api/models").await?.body, "{}");
    assert_eq!(post(&proxy, "/v2/events").await?.status, 404);
    assert_eq!(proxy.remaining_rules(), 0);
    Ok(())
}

#[tokio::test]
async fn idempotency_keys_are_recorded_from_body_and_header() -> Result<()> {
    let (address, _) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    let item = |key: &str| json!({ "prompt": key, "idempotency_key": key });
    let body = json!({ "requests": [item("a"), { "prompt": "b" }] });
    call(&proxy.address(), "POST", "/v2/generate-batch", body).await?;
    let authority = http::authority(&proxy.address())?.to_owned();
    let request = Request::post("/v2/generate")
        .header("host", &authority)
        .header("idempotency-key", "c")
        .body(Full::new(Bytes::from_static(b"{}")))?;
    http::send(&authority, request).await?;
    let calls = proxy.calls();
    assert_eq!(calls[0].keys, ["a", ""]);
    assert_eq!(calls[1].keys, ["c"]);
    Ok(())
}

#[tokio::test]
async fn down_closes_all_connections_until_cleared() -> Result<()> {
    let (address, seen) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    proxy.add(Rule::every("/*", Fault::Down));
    assert!(post(&proxy, "/v2/status").await.is_err());
    assert!(post(&proxy, "/api/models").await.is_err());
    proxy.clear();
    assert_eq!(post(&proxy, "/v2/status").await?.status, 200);
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    Ok(())
}

#[tokio::test]
async fn rules_and_counts_are_available_over_http() -> Result<()> {
    let (address, _) = start_server().await?;
    let proxy = FaultProxy::start(&address).await?;
    let http = proxy.address();
    let rule = json!({
        "path": "/v2/status*", "times": 1, "fault": "status", "status": 429,
        "retry_after": { "date": 3 },
    });
    assert_eq!(call(&http, "POST", "/__faults", rule).await?.status, 200);
    assert_eq!(post(&proxy, "/v2/status-batch").await?.status, 429);
    assert_eq!(
        call(&http, "POST", "/__faults", json!({ "fault": "rain" }))
            .await?
            .status,
        400
    );
    let rules = json!([{ "fault": "not_json" }, { "fault": "delay", "ms": 1 }]);
    assert_eq!(call(&http, "POST", "/__faults", rules).await?.status, 200);
    assert_eq!(proxy.remaining_rules(), 2);
    assert!(
        post(&proxy, "/v2/status")
            .await?
            .body
            .starts_with("<!doctype")
    );
    assert_eq!(
        call(&http, "DELETE", "/__faults", Value::Null)
            .await?
            .status,
        200
    );
    assert_eq!(post(&proxy, "/v2/status").await?.ids().len(), 3);

    let counts = call(&http, "GET", "/__counts", Value::Null).await?.body;
    let counts: Value = serde_json::from_str(&counts)?;
    assert_eq!(
        counts["counts"],
        json!({ "/v2/status-batch": 1, "/v2/status": 2 })
    );
    assert_eq!(counts["calls"][0]["status"], 429);
    call(&http, "DELETE", "/__counts", Value::Null).await?;
    assert!(proxy.calls().is_empty());
    Ok(())
}
