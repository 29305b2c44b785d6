//! Controls the fault proxy, and returns what the page has sent.

use gloo_net::http::Request;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;

/// The address of the service for the page: that of the fault proxy, which forwards all calls without a fault.
pub const SERVICE: &str = match option_env!("ATELIER_TEST_FAULTS") {
    Some(address) => address,
    None => "",
};

/// Adds a fault to the proxy, such as `{"path": "/v2/generate", "fault": "status", "status": 422}`.
pub async fn add_fault(rule: Value) {
    command("POST", "/__faults", Some(rule)).await;
}

/// Removes all faults from the proxy.
pub async fn clear_faults() {
    command("DELETE", "/__faults", None).await;
}

/// Removes all faults and the record of calls.
pub async fn reset() {
    clear_faults().await;
    command("DELETE", "/__counts", None).await;
    run(FETCH);
}

/// Returns how many calls to a path the proxy has received.
pub async fn calls_to(path: &str) -> u64 {
    let counts = command("GET", "/__counts", None).await;
    counts["counts"][path].as_u64().unwrap_or(0)
}

/// Requests a path of the service with `GET`.
pub async fn get(path: &str) -> Value {
    command("GET", path, None).await
}

async fn command(method: &str, path: &str, body: Option<Value>) -> Value {
    assert!(
        !SERVICE.is_empty(),
        "run these tests with `./dev test browser`: they need the local service"
    );
    let url = format!("{SERVICE}{path}");
    let request = match method {
        "POST" => Request::post(&url),
        "DELETE" => Request::delete(&url),
        _ => Request::get(&url),
    };
    let request = match body {
        Some(body) => request.body(body.to_string()),
        None => request.build(),
    };
    let answer = request.expect("a request").send().await;
    let text = answer.expect("an answer of the fault proxy").text().await;
    serde_json::from_str(&text.expect("a text")).expect("JSON")
}

/// Returns the body of the latest call to a path, exactly as the page sent it.
pub fn last_body(path: &str) -> String {
    run(&format!(
        "return window.atelierSent.findLast(([url]) => url.endsWith({path:?}))?.[1] ?? ''"
    ))
    .as_string()
    .unwrap_or_default()
}

/// Returns how many requests the page has sent to a path.
pub fn times_sent(path: &str) -> usize {
    run(&format!(
        "return window.atelierSent.filter(([url]) => url.endsWith({path:?})).length"
    ))
    .as_f64()
    .unwrap_or_default() as usize
}

/// Makes the list of models have `count` entries. The reply is created in the page, since the local service can't have so many
/// models. Everything after the reply is real.
pub fn list_many_models(count: usize) {
    let models: Vec<Value> = (0..count)
        .map(|n| {
            json!({
                "name": if n + 1 == count { "Needle in the hay".to_owned() } else { format!("Model {n}") },
                "category": format!("category-{}", n % 7),
                "subcategory": format!("model-{n}"),
                "description": "One of very many models.",
            })
        })
        .collect();
    let list = json!({"success": true, "count": count, "data": models, "message": ""});
    run(&format!("window.atelierModels = {list}"));
}

/// Records the bodies of requests before the real `fetch` sends them.
const FETCH: &str = "
    window.atelierSent = [];
    window.atelierModels = null;
    window.atelierUnderWay ??= 0;
    window.atelierFetch ??= window.fetch.bind(window);
    window.fetch = async (request, options) => {
        if (window.atelierModels && request.url.endsWith('/api/models'))
            return Response.json(window.atelierModels);
        window.atelierUnderWay++;
        try {
            if (request.method === 'POST')
                window.atelierSent.push([request.url, await request.clone().text()]);
            return await window.atelierFetch(request, options);
        } finally {
            // The page reads the body after this.
            setTimeout(() => window.atelierUnderWay--, 50);
        }
    };
";

/// Runs JavaScript, for functions without bindings.
pub fn run(code: &str) -> JsValue {
    js_sys::Function::new_no_args(code)
        .call0(&JsValue::UNDEFINED)
        .expect("the script runs")
}
