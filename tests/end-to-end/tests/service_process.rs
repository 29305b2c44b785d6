//! Tests of the service process across a restart.

use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Result, http};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn task_survives_service_restart_and_lost_status_response() -> Result<()> {
    let mut service = Service::start(&[]).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    let (_, models) = http::get(&format!("{}/api/models", proxy.address())).await?;
    let models: serde_json::Value = serde_json::from_slice(&models)?;
    let model = &models["data"][0];
    let mut request = json!({
        "uid": "tester", "category": model["category"], "subcategory": model["subcategory"],
        "prompt": "a lighthouse",
    });

    let (status, reply) = http::post(&format!("{}/v2/generate", proxy.address()), &request).await?;
    assert_eq!(status, 200, "{reply}");
    let id = reply["data"]["id"].as_str().ok_or("no id")?.to_owned();
    assert_eq!(proxy.calls_to("/v2/generate")[0].accepted, [id.as_str()]);
    service.restart().await?;

    request["id"] = id.into();
    proxy.add(Rule::next(1, "/v2/status", Fault::DropAfter));
    until(
        "the task to be completed",
        Duration::from_secs(60),
        async || {
            let (_, reply) =
                http::post(&format!("{}/v2/status", proxy.address()), &request).await?;
            Ok(match reply["data"]["status"].as_str() {
                Some("completed") => Seen::Yes(()),
                _ => Seen::NotYet(reply.to_string()),
            })
        },
    )
    .await?;
    assert!(proxy.calls_to("/v2/status").len() >= 2);

    let (_, reply) = http::post(&format!("{}/v2/response", proxy.address()), &request).await?;
    let output = reply["data"]["output"][0]
        .as_str()
        .ok_or("no output")?
        .to_owned();
    // The service derives output addresses from the request's host, so that the page can reach them.
    assert!(output.starts_with(&proxy.address()), "{output}");
    let (status, bytes) = http::get(&output).await?;
    assert_eq!(status, 200);
    assert!(!bytes.is_empty());
    Ok(())
}
