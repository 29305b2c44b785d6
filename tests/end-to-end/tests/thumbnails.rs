//! Small pictures of large ones: made once, shown wherever outputs are shown small, and gone with what they
//! are pictures of.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use serde_json::json;
use std::time::Duration;

/// Enough for a generation, or for a removal that can't be undone any more, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour at noon";

/// How many small pictures are kept.
const KEPT: &str = "
    return new Promise((resolve, reject) => {
        const request = indexedDB.open('atelier-thumbnails');
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
            const database = request.result;
            const pictures = database.transaction('pictures').objectStore('pictures').count();
            pictures.onsuccess = () => { database.close(); resolve(pictures.result); };
        };
    })";

/// Of the pictures in the gallery, which are small ones.
const TILES: &str = "
    return [...document.querySelectorAll('.tile img')]
        .map(it => it.naturalHeight > 0 && it.currentSrc.startsWith('blob:') && it.naturalHeight <= 480)";

async fn generate(browser: &Browser, address: &str) -> Result<()> {
    browser
        .open(&format!("{address}/models/image/strata"))
        .await?;
    browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
    browser.press(&by("button", "Generate")).await?;
    browser
        .find_for(&by("button", "Run again"), TIMEOUT)
        .await?;
    Ok(())
}

/// Guards against a gallery that fetches and decodes every picture in full at each visit, against tiles that are
/// soft, and against pictures of what a person has removed.
#[tokio::test(flavor = "multi_thread")]
async fn a_gallery_that_was_seen_is_there_without_the_outputs() {
    drive("a_gallery_that_was_seen", async |browser| {
        browser.set_size(1280, 900).await?;
        let service = Service::with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let address = proxy.address();
        generate(browser, &address).await?;
        browser.open(&format!("{address}/gallery")).await?;
        let tile = containing("button", PROMPT);
        browser.find(&tile).await?;
        becomes(browser, "a small picture", KEPT, json!(1)).await?;
        // In its place at once, so that the large ones do not fill the memory.
        becomes(browser, "a tile of it", TILES, json!([true])).await?;

        // The next visit.
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        proxy.add(Rule::every("/outputs/*", gone));
        proxy.clear_cache(browser).await?;
        let asked = || {
            let calls = proxy.calls();
            let files = calls.iter().filter(|call| call.path.starts_with("/outputs/"));
            files.count()
        };
        // A visit in which storage answers late shows the outputs, and the small ones only where these are gone.
        let mut fewest = usize::MAX;
        for _ in 0..3 {
            let before = asked();
            browser.open(&format!("{address}/gallery")).await?;
            becomes(browser, "tiles of small pictures", TILES, json!([true])).await?;
            fewest = fewest.min(asked() - before);
        }
        assert_eq!(fewest, 0, "outputs were fetched");
        proxy.clear();
        let sized = "
            const slider = document.querySelector('.gallery-size input');
            slider.value = slider.max;
            slider.dispatchEvent(new Event('input', { bubbles: true }));
            return true";
        browser.run(sized, vec![]).await?;
        let sharp = "
            const picture = document.querySelector('.tile img');
            return !!picture && picture.naturalHeight * 1.3 >= picture.clientHeight * Math.min(devicePixelRatio, 2)";
        becomes(browser, "a sharp tile", sharp, json!(true)).await?;

        browser.press(&tile).await?;
        browser.press(&by("button", "Remove task")).await?;
        becomes(browser, "no small picture", KEPT, json!(0)).await
    })
    .await;
}

/// Guards against pictures that stay when a person deletes what this browser keeps.
#[tokio::test(flavor = "multi_thread")]
async fn small_pictures_go_with_what_is_kept() {
    drive("small_pictures_go", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        browser.open(&format!("{address}/settings")).await?;
        browser.press(&by("checkbox", "Keep outputs")).await?;
        browser.press(&by("button", "Save")).await?;
        browser.see_text("Saved.", TIMEOUT).await?;
        generate(browser, &address).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("link", PROMPT)).await?;
        becomes(browser, "a small picture", KEPT, json!(1)).await?;
        browser.press(&by("link", "Settings")).await?;
        browser.see_text("1 copy, ", TIMEOUT).await?;
        browser.press(&by("button", "Delete kept outputs")).await?;
        browser.press(&by("button", "Delete them")).await?;
        becomes(browser, "no small picture", KEPT, json!(0)).await
    })
    .await;
}

/// Guards against pictures that stay away though the network is back, and against paying again as the first advice.
#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_loaded_is_tried_again_once_the_network_is_back() {
    drive("what_could_not_be_loaded", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        proxy.add(Rule::every("/outputs/*", Fault::DropBefore));
        generate(browser, &proxy.address()).await?;
        browser
            .see_text("Not loaded: the network may be away or blocked", TIMEOUT)
            .await?;
        browser.press(&by("link", "Tasks")).await?;
        let pictures = "
            const pictures = [...document.querySelectorAll('main img')];
            return pictures.some(it => it.naturalWidth > 0)";
        let failed = "return document.querySelectorAll('main .media-gone').length > 0";
        becomes(browser, "a picture that is away", failed, json!(true)).await?;
        proxy.clear();
        let back = "
            let there = false;
            Object.defineProperty(navigator, 'onLine', { get: () => there, configurable: true });
            window.dispatchEvent(new Event('offline'));
            there = true;
            window.dispatchEvent(new Event('online'));";
        browser.run(back, vec![]).await?;
        becomes(browser, "a small picture", pictures, json!(true)).await?;
        proxy.add(Rule::every("/outputs/*", Fault::DropBefore));
        proxy.clear_cache(browser).await?;
        browser.press(&containing("link", PROMPT)).await?;
        browser
            .see_text("Not loaded: the network may be away or blocked", TIMEOUT)
            .await?;
        proxy.clear();
        browser.run(back, vec![]).await?;
        becomes(browser, "the large picture", pictures, json!(true)).await
    })
    .await;
}
