//! Tests of the requests of a first visit to the model list.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use serde_json::{Value, json};
use std::time::Duration;

const MODELS: &str = "/api/models";

/// The maximum number of requests for files of the page on a visit to the model list.
const MAX_FILES: usize = 6;

/// Guards against a list that is requested only after the app has started, or twice, and against a page that consists
/// of too many files.
#[tokio::test(flavor = "multi_thread")]
async fn model_list_is_requested_once_while_app_loads() {
    let name = "model_list_is_requested_once_while_app_loads";
    drive(name, async |browser| {
        let service = Service::start_with_site(&[]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        // Delays the wasm file.
        let wait = Fault::Delay {
            time: Duration::from_secs(2),
        };
        let wasm = wasm_path(&service.address()).await?;
        proxy.add(Rule::every(&wasm, wait));
        browser.open(&format!("{}/", proxy.address())).await?;
        browser.find(&starting("link", "Strata")).await?;
        // Also waits for the deferred part of the app.
        browser.find(&by("button", "Favorite: Strata")).await?;
        assert_eq!(proxy.calls_to(MODELS).len(), 1);

        let files = own_files(browser).await?;
        let ended = files.iter().find(|(path, _)| *path == wasm);
        let ended = ended.ok_or("no wasm was fetched")?.1;
        let script = "return performance.getEntriesByType('resource')
            .find(({ name }) => name.endsWith('/api/models')).startTime";
        let requested = browser.run(script, vec![]).await?;
        let requested = requested.as_f64().ok_or("the list was not requested")?;
        assert!(
            requested < ended,
            "list requested at {requested}, wasm loaded at {ended}"
        );
        // Includes the page itself. Counts calls, because a browser may list preloaded files twice.
        let calls = proxy.calls();
        let is_own = |path: &str| !path.starts_with("/api/") && !path.starts_with("/outputs/");
        let own = calls.iter().filter(|call| is_own(&call.path));
        // On a slow machine, the service worker may have started to fill its offline cache.
        let own = own.map(|call| &call.path);
        let own: Vec<_> = own.take_while(|path| *path != "/worker.js").collect();
        assert!(own.len() <= MAX_FILES, "{own:?}");
        // The other pages are fetched on demand.
        browser.press(&starting("link", "Tasks")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    })
    .await;
}

/// Returns the path of the first wasm file.
async fn wasm_path(address: &str) -> Result<String> {
    let (_, page) = atelier_end_to_end::http::get(&format!("{address}/")).await?;
    let page = String::from_utf8_lossy(&page);
    let (before, _) = page.split_once("_bg.wasm").ok_or("the page has no wasm")?;
    let start = before.rfind('/').ok_or("the wasm file has no path")?;
    Ok(format!("{}_bg.wasm", &before[start..]))
}

/// Returns the paths of the page's own files with the times when each was loaded, in milliseconds.
async fn own_files(browser: &Browser) -> Result<Vec<(String, f64)>> {
    let script = "return performance.getEntriesByType('resource')
        .map(({ name, responseEnd }) => [new URL(name), responseEnd])
        .filter(([{ origin, pathname }]) => origin == location.origin && !/^\\/(api|v2|outputs)\\//.test(pathname))
        .map(([{ pathname }, end]) => [pathname, end])";
    let files = browser.run(script, vec![]).await?;
    let files = files.as_array().ok_or("no files")?.iter();
    let file = |file: &Value| Some((file[0].as_str()?.to_owned(), file[1].as_f64()?));
    Ok(files.filter_map(file).collect())
}

/// Guards against a failed early request that leaves the page without its list.
#[tokio::test(flavor = "multi_thread")]
async fn failed_early_request_is_repeated() {
    let name = "failed_early_request_is_repeated";
    drive(name, async |browser| {
        let service = Service::start_with_site(&[]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        // Applies the fault twice, because a browser automatically retries a call on a reused connection.
        proxy.add(Rule::next(2, MODELS, Fault::DropBefore));
        browser.open(&format!("{}/", proxy.address())).await?;
        browser.find(&starting("link", "Strata")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a list that is requested from another address than the configured one.
#[tokio::test(flavor = "multi_thread")]
async fn model_list_is_requested_from_configured_service() {
    let name = "model_list_is_requested_from_configured_service";
    drive(name, async |browser| {
        let own = Service::start_with_site(&[]).await?;
        let own_proxy = FaultProxy::start(&own.address()).await?;
        let origin = own_proxy.address();
        let other = Service::start(&["--allow-origin", &origin]).await?;
        let proxies = (own_proxy, FaultProxy::start(&other.address()).await?);
        let page = format!("{}/", proxies.0.address());
        let settings = json!({ "address": proxies.1.address(), "saved": 1 }).to_string();
        let settings = json!(settings);
        let script = format!("localStorage.setItem('atelier.settings', {settings})");
        proxies.0.before_each_page(browser, &script).await?;
        browser.open(&page).await?;
        browser.find(&starting("link", "Strata")).await?;
        assert!(proxies.0.calls_to(MODELS).is_empty());
        assert_eq!(proxies.1.calls_to(MODELS).len(), 1);
        Ok(())
    })
    .await;
}
