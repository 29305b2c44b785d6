//! What goes over the wire: orders to the fault proxy, and what the page has sent.

use gloo_net::http::Request;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;

/// Where the page finds its service: the proxy in front of it, which lets through what no test has
/// asked it to spoil.
pub const SERVICE: &str = match option_env!("ATELIER_TEST_FAULTS") {
    Some(address) => address,
    None => "",
};

/// Asks the proxy to spoil calls, e.g. `{"path": "/v2/generate", "fault": "status", "status": 422}`.
pub async fn spoil(rule: Value) {
    command("POST", "/__faults", Some(rule)).await;
}

/// From now on every call is let through.
pub async fn spoil_nothing() {
    command("DELETE", "/__faults", None).await;
}

/// No rules, and no calls on record.
pub async fn start_afresh() {
    spoil_nothing().await;
    command("DELETE", "/__counts", None).await;
    run(FETCH);
}

/// How many calls to a path have come to the proxy.
pub async fn calls_to(path: &str) -> u64 {
    let counts = command("GET", "/__counts", None).await;
    counts["counts"][path].as_u64().unwrap_or(0)
}

/// `GET` of one of the service's paths.
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

/// The body of the latest call to a path, exactly as it left the page.
pub fn last_body(path: &str) -> String {
    run(&format!(
        "return window.atelierSent.findLast(([url]) => url.endsWith({path:?}))?.[1] ?? ''"
    ))
    .as_string()
    .unwrap_or_default()
}

/// How often the page has sent something to a path.
pub fn times_sent(path: &str) -> usize {
    run(&format!(
        "return window.atelierSent.filter(([url]) => url.endsWith({path:?})).length"
    ))
    .as_f64()
    .unwrap_or_default() as usize
}

/// The next lists of models have so many entries. The local service cannot have them, so the answer
/// is made in the page; everything after the answer is real.
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

/// Notes the bodies that are sent, then lets the real `fetch` send them.
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
            // The body is read after that.
            setTimeout(() => window.atelierUnderWay--, 50);
        }
    };
";

/// Runs a piece of JavaScript: for what the bindings do not have.
pub fn run(code: &str) -> JsValue {
    js_sys::Function::new_no_args(code)
        .call0(&JsValue::UNDEFINED)
        .expect("the script runs")
}
