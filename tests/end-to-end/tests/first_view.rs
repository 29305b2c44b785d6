//! The way to the list of models: what is asked for, how often, and when.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use serde_json::{Value, json};
use std::time::Duration;

const MODELS: &str = "/api/models";

/// Requests of our own files that a visit to the list of models may take.
const MAX_FILES: usize = 6;

/// Guards against a list that is asked for only when the program runs, or twice, and against a page in
/// many pieces.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_asked_for_once_while_the_program_loads() {
    let name = "the_list_is_asked_for_once_while_the_program_loads";
    drive(name, async |browser| {
        let service = Service::with_site(&[]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        // The program takes its time.
        let wait = Fault::Delay {
            time: Duration::from_secs(2),
        };
        let wasm = wasm(&service.address()).await?;
        proxy.add(Rule::every(&wasm, wait));
        browser.open(&format!("{}/", proxy.address())).await?;
        browser.find(&starting("link", "Strata")).await?;
        // What drives tasks, too.
        browser.find(&by("button", "Favorite: Strata")).await?;
        assert_eq!(proxy.calls_to(MODELS).len(), 1);

        let files = own_files(browser).await?;
        let ended = files.iter().find(|(path, _)| *path == wasm);
        let ended = ended.ok_or("no wasm was fetched")?.1;
        let script = "return performance.getEntriesByType('resource')
            .find(({ name }) => name.endsWith('/api/models')).startTime";
        let asked = browser.run(script, vec![]).await?;
        let asked = asked.as_f64().ok_or("the list was not asked for")?;
        assert!(asked < ended, "asked at {asked}, wasm at {ended}");
        // The page itself among them. What a browser has loaded ahead it may list once more.
        let calls = proxy.calls();
        let is_own = |path: &str| !path.starts_with("/api/") && !path.starts_with("/outputs/");
        let own = calls.iter().filter(|call| is_own(&call.path));
        // On a slow machine the page begins by then to keep itself for a time without network.
        let own = own.map(|call| &call.path);
        let own: Vec<_> = own.take_while(|path| *path != "/worker.js").collect();
        assert!(own.len() <= MAX_FILES, "{own:?}");
        // The pages behind it are fetched when one is wanted.
        browser.press(&starting("link", "Tasks")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    })
    .await;
}

/// The path of the first wasm file.
async fn wasm(address: &str) -> Result<String> {
    let (_, page) = atelier_end_to_end::http::get(&format!("{address}/")).await?;
    let page = String::from_utf8_lossy(&page);
    let (before, _) = page.split_once("_bg.wasm").ok_or("the page has no wasm")?;
    let start = before.rfind('/').ok_or("its wasm has no path")?;
    Ok(format!("{}_bg.wasm", &before[start..]))
}

/// The page's own files by path, and when each had come, in milliseconds.
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

/// Guards against an early call that fails and leaves the page without its list.
#[tokio::test(flavor = "multi_thread")]
async fn an_early_call_that_fails_is_made_again() {
    let name = "an_early_call_that_fails_is_made_again";
    drive(name, async |browser| {
        let service = Service::with_site(&[]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        // A browser sends a call again by itself that was on a kept connection.
        proxy.add(Rule::next(2, MODELS, Fault::DropBefore));
        browser.open(&format!("{}/", proxy.address())).await?;
        browser.find(&starting("link", "Strata")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a list that is asked of another address than the one that is set.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_asked_of_the_service_that_is_set() {
    let name = "the_list_is_asked_of_the_service_that_is_set";
    drive(name, async |browser| {
        let own = Service::with_site(&[]).await?;
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
