//! Without network: what was opened once opens again, with its tasks and kept outputs; a newer release is
//! taken whole as soon as it can be had; and who does not want it is left alone.

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

/// Enough for a generation, or for a worker that keeps the page, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour without a line";

/// Waits until this script gives this.
async fn becomes(browser: &Browser, what: &str, script: &str, wanted: &Value) -> Result<()> {
    until(what.to_owned(), TIMEOUT, async || {
        let seen = browser.run(script, vec![]).await?;
        Ok(match seen == *wanted {
            true => Seen::Yes(()),
            false => {
                let workers = browser.run(WORKERS, vec![]).await?;
                Seen::NotYet(format!("it is {seen}; workers: {workers}"))
            }
        })
    })
    .await
}

const RELEASE: &str = "return document.querySelector('meta[name=release]').content";

/// Of the caches of releases, which are there, and whether each is whole: the page itself is kept last. A cache that is
/// opened to be looked into would be made anew, empty, where the worker has just deleted it.
const CACHES: &str = "
    return caches.keys().then(names => Promise.all(names.map(name =>
        caches.match('/', { cacheName: name }).then(page => `${name}: ${page ? 'whole' : 'not whole'}`))))";

/// Whether the worker is at work and no other waits.
const IS_SETTLED: &str = "
    return navigator.serviceWorker.getRegistration().then(it =>
        !!it && it.active?.state === 'activated' && !it.installing && !it.waiting)";

/// The states of the workers, to explain what does not happen.
const WORKERS: &str = "
    return navigator.serviceWorker.getRegistration().then(it =>
        ['installing', 'waiting', 'active'].map(place => `${place}: ${it?.[place]?.state}`).join(', '))";

/// The release's name, and what its cache is called once it is whole.
fn cache_of(release: &Release) -> Result<(String, String)> {
    let files = release.files()?;
    let page = String::from_utf8_lossy(&files["index.html"]).into_owned();
    let (_, rest) = page
        .split_once("name=\"release\" content=\"")
        .ok_or("the page does not say its release")?;
    let name = rest.split('"').next().unwrap_or_default().to_owned();
    Ok((name.clone(), format!("atelier-{name}: whole")))
}

/// Guards against a page that is of no use without network, against two releases mixed, and against one
/// that is never replaced by the next.
#[tokio::test(flavor = "multi_thread")]
async fn it_opens_without_network_and_takes_the_next_release() {
    let name = "it_opens_without_network_and_takes_the_next_release";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let colours = [("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 40)")];
        let first = Release::make("offline-first", Change::Nothing).await?;
        let next = Release::make("offline-next", Change::Styles(&colours)).await?;
        let [(first_name, first_cache), (next_name, next_cache)] =
            [cache_of(&first)?, cache_of(&next)?];
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
        browser.see_text("Saved.", TIMEOUT).await?;
        browser.open(&model).await?;
        browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.open(&settings).await?;
        browser.see_text("1 copy, ", TIMEOUT).await?;
        becomes(browser, "a worker", IS_SETTLED, &true.into()).await?;
        becomes(
            browser,
            "its cache",
            CACHES,
            &vec![first_cache.clone()].into(),
        )
        .await?;

        // The line is cut, and the browser keeps nothing of itself.
        browser.clear_cache().await?;
        service.stop().await?;
        browser.reload().await?;
        browser
            .find_for(&by("heading", "Settings"), TIMEOUT)
            .await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&starting("link", PROMPT)).await?;
        browser.open(&gallery).await?;
        let tile = containing("button", PROMPT);
        browser.find_for(&tile, TIMEOUT).await?;
        browser.press(&tile).await?;
        browser.find(&by("dialog", "Output")).await?;
        let shown = "
            return [...document.querySelectorAll('dialog img')]
                .some(it => it.naturalWidth > 0 && it.currentSrc.startsWith('blob:'))";
        becomes(browser, "the kept picture", shown, &true.into()).await?;

        // It is back, and has the next release.
        std::fs::remove_file(place.path().join("site"))?;
        symlink(next.folder(), place.path().join("site"))?;
        service.start_again().await?;
        browser.open(&gallery).await?;
        becomes(
            browser,
            "the next release",
            RELEASE,
            &next_name.clone().into(),
        )
        .await?;
        // On a busy machine Chromium now and then keeps the older worker, though nothing of it is open, until
        // there is no page at all. That a worker takes over from under an open page is the next test's.
        let is_installed = format!(
            "return navigator.serviceWorker.getRegistration().then(async it =>
                !it.installing && (await caches.has('atelier-{next_name}')))"
        );
        becomes(browser, "its worker", &is_installed, &true.into()).await?;
        browser.client.goto("about:blank").await?;
        browser.open(&gallery).await?;
        becomes(browser, "its cache alone", CACHES, &vec![next_cache].into()).await?;
        service.stop().await?;
        browser.reload().await?;
        browser.find_for(&tile, TIMEOUT).await?;
        becomes(browser, "the next release", RELEASE, &next_name.into()).await?;
        assert_ne!(first_name, first_cache);

        // It is not wanted any more.
        browser.press(&by("link", "Settings")).await?;
        let switch = by("checkbox", "Open without network");
        browser.press(&switch).await?;
        browser
            .see_text("Off. The offline copy is deleted", TIMEOUT)
            .await?;
        let none: Vec<Value> = Vec::new();
        becomes(browser, "no cache", CACHES, &none.into()).await?;
        let registrations =
            "return navigator.serviceWorker.getRegistrations().then(all => all.length)";
        becomes(browser, "no worker", registrations, &0.into()).await?;
        Ok(())
    })
    .await;
}

/// Guards against a page that says it is being kept, and is not: the browser gave back the worker that had just been
/// switched off, without its files. And against an offline copy that comes back, empty, when the open page asks for
/// one more of its files.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_switched_off_and_on_is_kept() {
    drive("what_is_switched_off_and_on_is_kept", async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let release = Release::make("offline-again", Change::Nothing).await?;
        let site = release.folder().to_str().ok_or("no text")?;
        let service = Service::start(&["--site", site]).await?;
        let (_, cache) = cache_of(&release)?;
        let whole = vec![cache].into();
        browser
            .open(&format!("{}/settings", service.address()))
            .await?;
        becomes(browser, "its cache", CACHES, &whole).await?;
        becomes(browser, "a worker", IS_SETTLED, &true.into()).await?;
        browser.reload().await?;
        let switch = by("checkbox", "Open without network");
        browser.find_for(&switch, TIMEOUT).await?;
        browser.press(&switch).await?;
        let none: Vec<Value> = Vec::new();
        becomes(browser, "no cache", CACHES, &none.clone().into()).await?;
        browser
            .see_text("Off. The offline copy is deleted", TIMEOUT)
            .await?;
        let one_more =
            "return fetch(document.querySelector('link[rel=stylesheet]').href).then(it => it.ok)";
        becomes(browser, "one more file", one_more, &true.into()).await?;
        becomes(browser, "still no cache", CACHES, &none.into()).await?;
        browser.press(&switch).await?;
        becomes(browser, "its cache once more", CACHES, &whole).await
    })
    .await;
}

/// Guards against a page whose open tab loses its files to the next release: the worker of the one before
/// stays as long as a page of it is open.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_keeps_its_release() {
    drive("an_open_page_keeps_its_release", async |browser| {
        let colours = [("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 50)")];
        let first = Release::make("offline-older", Change::Nothing).await?;
        let next = Release::make("offline-newer", Change::Styles(&colours)).await?;
        let [(_, first_cache), (next_name, next_cache)] = [cache_of(&first)?, cache_of(&next)?];
        let place = tempfile::tempdir()?;
        let site = place.path().join("site");
        symlink(first.folder(), &site)?;
        let site = site.to_str().ok_or("no text")?;
        let service = Service::start(&["--site", site]).await?;
        browser.open(&format!("{}/settings", service.address())).await?;
        becomes(browser, "a worker", IS_SETTLED, &true.into()).await?;
        let older = browser.client.window().await?;
        std::fs::remove_file(place.path().join("site"))?;
        symlink(next.folder(), place.path().join("site"))?;
        let tab = browser
            .open_tab(&format!("{}/settings", service.address()))
            .await?;
        browser.switch_to(&tab).await?;
        becomes(browser, "the next release", RELEASE, &next_name.into()).await?;
        let waits = "
            return navigator.serviceWorker.getRegistration().then(it => it?.waiting?.state ?? 'none')";
        becomes(browser, "a worker that waits", waits, &"installed".into()).await?;
        let both = "return caches.keys().then(names => names.length)";
        becomes(browser, "both caches", both, &2.into()).await?;
        browser.switch_to(&older).await?;
        let keeps = format!(
            "return (() => {{ {CACHES} }})().then(all => all.includes('{first_cache}'))"
        );
        becomes(browser, "its own cache", &keeps, &true.into()).await?;
        // With the older page goes its release.
        browser.reload().await?;
        becomes(browser, "one cache", CACHES, &vec![next_cache].into()).await?;
        Ok(())
    })
    .await;
}

/// Guards against a release that waits for good, because a page that the browser has put to sleep, or keeps for
/// Back, has once said that it is of the one before.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_sleeps_holds_up_no_release() {
    drive("a_page_that_sleeps", async |browser| {
        let colours = [("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 50)")];
        let first = Release::make("sleeping-first", Change::Nothing).await?;
        let next = Release::make("sleeping-next", Change::Styles(&colours)).await?;
        let [(_, first_cache), (_, next_cache)] = [cache_of(&first)?, cache_of(&next)?];
        let place = tempfile::tempdir()?;
        let site = place.path().join("site");
        symlink(first.folder(), &site)?;
        let service = Service::start(&["--site", site.to_str().ok_or("no text")?]).await?;
        let address = service.address();
        browser.open(&address).await?;
        becomes(browser, "a worker", IS_SETTLED, &true.into()).await?;
        becomes(browser, "its cache", CACHES, &vec![first_cache].into()).await?;
        // From here on it is the worker's; and it follows what becomes of that 3 s later.
        browser.reload().await?;
        tokio::time::sleep(Duration::from_secs(5)).await;
        std::fs::remove_file(&site)?;
        symlink(next.folder(), &site)?;
        let hears = "
            return navigator.serviceWorker.getRegistration().then(it => it.update())
                .then(() => new Promise(done => setTimeout(done, 2000)))
                .then(() => navigator.serviceWorker.getRegistration()).then(it => !!it.waiting)";
        becomes(browser, "one that waits", hears, &true.into()).await?;

        let old = browser.client.window().await?;
        let new = browser.open_tab("about:blank").await?;
        browser.switch_to(&old).await?;
        let state = |state: &str| serde_json::json!({ "state": state });
        let command = "Page.setWebLifecycleState";
        browser.devtools(command, state("frozen")).await?;
        browser.switch_to(&new).await?;
        browser.open(&format!("{address}/gallery")).await?;
        becomes(browser, "its cache alone", CACHES, &vec![next_cache].into()).await?;
        browser.switch_to(&old).await?;
        browser.devtools(command, state("active")).await?;
        Ok(())
    })
    .await;
}
