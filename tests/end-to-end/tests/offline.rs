//! Tests of the service worker: the page opens offline with its tasks and saved outputs, updates to a new release as
//! a whole, and can turn the offline copy off.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::release::{Change, Release};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::time::Duration;

/// The time limit for a generation, or for the worker to cache the page, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour without a line";

/// Waits until the script returns this value. The error also lists the states of the workers.
async fn wait_for_value(
    browser: &Browser,
    what: &str,
    script: &str,
    expected: &Value,
) -> Result<()> {
    until(what.to_owned(), TIMEOUT, async || {
        let seen = browser.run(script, vec![]).await?;
        Ok(match seen == *expected {
            true => Seen::Yes(()),
            false => {
                let workers = browser.run(WORKERS, vec![]).await?;
                Seen::NotYet(format!("the value is {seen}; workers: {workers}"))
            }
        })
    })
    .await
}

/// Waits until only one worker runs, while no page is open.
///
/// A page that opens while Chromium ends the older worker can start that worker again. As long as WebDriver is
/// attached to the worker, Chromium then keeps it for minutes, even when the page is closed and opened again. Another
/// test checks that a worker takes over while a page is open.
async fn wait_for_one_worker(browser: &Browser) -> Result<()> {
    if browser.needs(Capability::DevTools).is_err() {
        return Ok(());
    }
    until("one worker".to_owned(), TIMEOUT, async || {
        let none = serde_json::json!({});
        let reply = browser.devtools("Target.getTargets", none).await?;
        let targets = reply["targetInfos"].as_array().ok_or("no targets")?;
        let workers = targets.iter().filter(|it| it["type"] == "service_worker");
        Ok(match workers.count() {
            1 => Seen::Yes(()),
            other => Seen::NotYet(format!("{other} workers run")),
        })
    })
    .await
}

const RELEASE: &str = "return document.querySelector('meta[name=release]').content";

/// Returns the caches of releases, and whether each is complete: the page itself is cached last. Uses `caches.match`,
/// because `caches.open` would create a cache again that the worker has just deleted.
const CACHES: &str = "
    return caches.keys().then(names => Promise.all(names.map(name =>
        caches.match('/', { cacheName: name }).then(page => `${name}: ${page ? 'complete' : 'incomplete'}`))))";

/// Returns whether a worker is active and no other is installing or waiting.
const IS_SETTLED: &str = "
    return navigator.serviceWorker.getRegistration().then(it =>
        !!it && it.active?.state === 'activated' && !it.installing && !it.waiting)";

/// Returns a script that returns whether the worker of this release is installed.
fn is_installed(release: &str) -> String {
    format!(
        "return navigator.serviceWorker.getRegistration().then(async it =>
            !it.installing && (await caches.has('atelier-{release}')))"
    )
}

/// Returns the states of the workers, for error messages.
const WORKERS: &str = "
    return navigator.serviceWorker.getRegistration().then(it =>
        ['installing', 'waiting', 'active'].map(role => `${role}: ${it?.[role]?.state}`).join(', '))";

/// Returns the release's name, and the entry of its complete cache in [`CACHES`].
fn cache_of(release: &Release) -> Result<(String, String)> {
    let files = release.files()?;
    let page = String::from_utf8_lossy(&files["index.html"]).into_owned();
    let (_, rest) = page
        .split_once("name=\"release\" content=\"")
        .ok_or("the page does not name its release")?;
    let name = rest.split('"').next().unwrap_or_default().to_owned();
    Ok((name.clone(), format!("atelier-{name}: complete")))
}

/// Guards against a page that does not work offline, against a cached page that hides the next release, and against an
/// offline copy that can't be turned off.
#[tokio::test(flavor = "multi_thread")]
async fn page_opens_offline_and_then_in_next_release() {
    let name = "page_opens_offline_and_then_in_next_release";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let colors = [("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 40)")];
        let first = Release::make("offline-first", Change::Nothing).await?;
        let next = Release::make("offline-next", Change::Styles(&colors)).await?;
        let [(_, first_cache), (next_name, _)] = [cache_of(&first)?, cache_of(&next)?];
        let place = tempfile::tempdir()?;
        let site = place.path().join("site");
        symlink(first.folder(), &site)?;
        let site = site.to_str().ok_or("no text")?;
        let mut service = Service::start(&["--speed", "0.2", "--site", site]).await?;
        let at = |path: &str| format!("{}{path}", service.address());
        let (settings, model, gallery) =
            (at("/settings"), at("/models/image/tessera"), at("/gallery"));
        browser.open(&settings).await?;
        browser.press(&by("checkbox", "Keep outputs")).await?;
        browser.press(&by("button", "Save")).await?;
        browser.wait_for_text("Saved.", TIMEOUT).await?;
        browser.open(&model).await?;
        browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.open(&settings).await?;
        browser.wait_for_text("1 copy, ", TIMEOUT).await?;
        wait_for_value(browser, "a settled worker", IS_SETTLED, &true.into()).await?;
        wait_for_value(browser, "its cache", CACHES, &vec![first_cache].into()).await?;

        // Stops the service and clears the HTTP cache.
        browser.clear_cache().await?;
        service.stop().await?;
        browser.reload().await?;
        browser
            .find_with_limit(&by("heading", "Settings"), TIMEOUT)
            .await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&starting("link", PROMPT)).await?;
        browser.open(&gallery).await?;
        let tile = containing("button", PROMPT);
        browser.find_with_limit(&tile, TIMEOUT).await?;
        browser.press(&tile).await?;
        browser.find(&by("dialog", "Output")).await?;
        let shown = "
            return [...document.querySelectorAll('dialog img')]
                .some(it => it.naturalWidth > 0 && it.currentSrc.startsWith('blob:'))";
        wait_for_value(browser, "the saved picture", shown, &true.into()).await?;

        // Starts the service with the next release.
        std::fs::remove_file(place.path().join("site"))?;
        symlink(next.folder(), place.path().join("site"))?;
        service.start_again().await?;
        browser.open(&gallery).await?;
        let is_installed = is_installed(&next_name);
        wait_for_value(browser, "the next release", RELEASE, &next_name.into()).await?;
        wait_for_value(browser, "the installed worker", &is_installed, &true.into()).await?;

        // Turns the offline copy off.
        browser.press(&by("link", "Settings")).await?;
        let switch = by("checkbox", "Open without network");
        browser.press(&switch).await?;
        browser
            .wait_for_text("Off. The offline copy is deleted", TIMEOUT)
            .await?;
        let none: Vec<Value> = Vec::new();
        wait_for_value(browser, "no cache", CACHES, &none.into()).await?;
        let registrations =
            "return navigator.serviceWorker.getRegistrations().then(all => all.length)";
        wait_for_value(browser, "no worker", registrations, &0.into()).await?;
        Ok(())
    })
    .await;
}

/// Guards against files of two releases mixed, and against a release that is never replaced by the next.
#[tokio::test(flavor = "multi_thread")]
async fn next_release_replaces_offline_copy() {
    drive("next_release_replaces_offline_copy", async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let colors = [("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 60)")];
        let first = Release::make("replaced", Change::Nothing).await?;
        let next = Release::make("replacing", Change::Styles(&colors)).await?;
        let [(_, first_cache), (next_name, next_cache)] = [cache_of(&first)?, cache_of(&next)?];
        let place = tempfile::tempdir()?;
        let site = place.path().join("site");
        symlink(first.folder(), &site)?;
        let folder = site.to_str().ok_or("no text")?;
        let mut service = Service::start(&["--site", folder]).await?;
        let address = service.address();
        let gallery = format!("{address}/gallery");
        browser.open(&gallery).await?;
        wait_for_value(browser, "a settled worker", IS_SETTLED, &true.into()).await?;
        wait_for_value(browser, "its cache", CACHES, &vec![first_cache].into()).await?;
        std::fs::remove_file(&site)?;
        symlink(next.folder(), &site)?;
        browser.reload().await?;
        let is_installed = is_installed(&next_name);
        wait_for_value(browser, "the installed worker", &is_installed, &true.into()).await?;
        browser.client.goto("about:blank").await?;
        wait_for_one_worker(browser).await?;
        browser.open(&gallery).await?;
        wait_for_value(browser, "only its cache", CACHES, &vec![next_cache].into()).await?;
        service.stop().await?;
        browser.reload().await?;
        let heading = by("heading", "Gallery");
        browser.find_with_limit(&heading, TIMEOUT).await?;
        wait_for_value(browser, "the next release", RELEASE, &next_name.into()).await
    })
    .await;
}

/// Guards against a setting that is on without an offline copy: the browser returned the worker that had just been
/// turned off, without its files. Also guards against an empty cache that is created again when the open page fetches
/// another file.
#[tokio::test(flavor = "multi_thread")]
async fn offline_copy_is_stored_again_after_off_and_on() {
    drive("offline_copy_is_stored_again_after_off_and_on", async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let release = Release::make("offline-again", Change::Nothing).await?;
        let site = release.folder().to_str().ok_or("no text")?;
        let service = Service::start(&["--site", site]).await?;
        let (_, cache) = cache_of(&release)?;
        let whole = vec![cache].into();
        browser
            .open(&format!("{}/settings", service.address()))
            .await?;
        wait_for_value(browser, "its cache", CACHES, &whole).await?;
        wait_for_value(browser, "a settled worker", IS_SETTLED, &true.into()).await?;
        browser.reload().await?;
        let switch = by("checkbox", "Open without network");
        browser.find_with_limit(&switch, TIMEOUT).await?;
        browser.press(&switch).await?;
        let none: Vec<Value> = Vec::new();
        wait_for_value(browser, "no cache", CACHES, &none.clone().into()).await?;
        browser
            .wait_for_text("Off. The offline copy is deleted", TIMEOUT)
            .await?;
        let one_more =
            "return fetch(document.querySelector('link[rel=stylesheet]').href).then(it => it.ok)";
        wait_for_value(browser, "another file", one_more, &true.into()).await?;
        wait_for_value(browser, "still no cache", CACHES, &none.into()).await?;
        browser.press(&switch).await?;
        wait_for_value(browser, "its cache again", CACHES, &whole).await
    })
    .await;
}

/// Guards against an open tab whose files are deleted by the next release. The worker of the previous release must
/// stay while a page of it is open.
#[tokio::test(flavor = "multi_thread")]
async fn open_page_keeps_its_release_until_reload() {
    drive("open_page_keeps_its_release_until_reload", async |browser| {
        let colors = [("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 50)")];
        let first = Release::make("offline-older", Change::Nothing).await?;
        let next = Release::make("offline-newer", Change::Styles(&colors)).await?;
        let [(_, first_cache), (next_name, next_cache)] = [cache_of(&first)?, cache_of(&next)?];
        let place = tempfile::tempdir()?;
        let site = place.path().join("site");
        symlink(first.folder(), &site)?;
        let site = site.to_str().ok_or("no text")?;
        let service = Service::start(&["--site", site]).await?;
        browser.open(&format!("{}/settings", service.address())).await?;
        wait_for_value(browser, "a settled worker", IS_SETTLED, &true.into()).await?;
        let older = browser.client.window().await?;
        std::fs::remove_file(place.path().join("site"))?;
        symlink(next.folder(), place.path().join("site"))?;
        let tab = browser
            .open_tab(&format!("{}/settings", service.address()))
            .await?;
        browser.switch_to(&tab).await?;
        wait_for_value(browser, "the next release", RELEASE, &next_name.into()).await?;
        let waiting = "
            return navigator.serviceWorker.getRegistration().then(it => it?.waiting?.state ?? 'none')";
        wait_for_value(browser, "a waiting worker", waiting, &"installed".into()).await?;
        let both = "return caches.keys().then(names => names.length)";
        wait_for_value(browser, "both caches", both, &2.into()).await?;
        browser.switch_to(&older).await?;
        let has_cache = format!(
            "return (() => {{ {CACHES} }})().then(all => all.includes('{first_cache}'))"
        );
        wait_for_value(browser, "its own cache", &has_cache, &true.into()).await?;
        // Reloading the older page ends its release.
        browser.reload().await?;
        wait_for_value(browser, "one cache", CACHES, &vec![next_cache].into()).await?;
        Ok(())
    })
    .await;
}

/// Guards against a release that waits forever because a page of the previous release is frozen or in the
/// back/forward cache.
#[tokio::test(flavor = "multi_thread")]
async fn frozen_page_does_not_delay_release() {
    drive("frozen_page_does_not_delay_release", async |browser| {
        let colors = [("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 50)")];
        let first = Release::make("sleeping-first", Change::Nothing).await?;
        let next = Release::make("sleeping-next", Change::Styles(&colors)).await?;
        let [(_, first_cache), (_, next_cache)] = [cache_of(&first)?, cache_of(&next)?];
        let place = tempfile::tempdir()?;
        let site = place.path().join("site");
        symlink(first.folder(), &site)?;
        let service = Service::start(&["--site", site.to_str().ok_or("no text")?]).await?;
        let address = service.address();
        browser.open(&address).await?;
        wait_for_value(browser, "a settled worker", IS_SETTLED, &true.into()).await?;
        wait_for_value(browser, "its cache", CACHES, &vec![first_cache].into()).await?;
        // After the reload, the worker controls the page. The page starts to watch the worker 3 s later.
        browser.reload().await?;
        tokio::time::sleep(Duration::from_secs(5)).await;
        std::fs::remove_file(&site)?;
        symlink(next.folder(), &site)?;
        let has_waiting = "
            return navigator.serviceWorker.getRegistration().then(it => it.update())
                .then(() => new Promise(done => setTimeout(done, 2000)))
                .then(() => navigator.serviceWorker.getRegistration()).then(it => !!it.waiting)";
        wait_for_value(browser, "a waiting worker", has_waiting, &true.into()).await?;

        let old = browser.client.window().await?;
        let new = browser.open_tab("about:blank").await?;
        browser.switch_to(&old).await?;
        let state = |state: &str| serde_json::json!({ "state": state });
        let command = "Page.setWebLifecycleState";
        browser.devtools(command, state("frozen")).await?;
        browser.switch_to(&new).await?;
        browser.open(&format!("{address}/gallery")).await?;
        wait_for_value(browser, "only its cache", CACHES, &vec![next_cache].into()).await?;
        browser.switch_to(&old).await?;
        browser.devtools(command, state("active")).await?;
        Ok(())
    })
    .await;
}
