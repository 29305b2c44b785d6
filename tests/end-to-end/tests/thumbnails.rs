//! Tests of thumbnails: they are created once, shown in lists, and deleted with their outputs.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;
use std::time::Duration;

/// The time limit for a generation, or for a removal to become final, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour at noon";

/// Returns the number of stored thumbnails.
const COUNT: &str = "
    return new Promise((resolve, reject) => {
        const request = indexedDB.open('atelier-thumbnails');
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
            const database = request.result;
            const pictures = database.transaction('pictures').objectStore('pictures').count();
            pictures.onsuccess = () => { database.close(); resolve(pictures.result); };
        };
    })";

/// Returns for each picture in the gallery whether it is a thumbnail.
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
        .find_with_limit(&by("button", "Run again"), TIMEOUT)
        .await?;
    Ok(())
}

/// Guards against a gallery that fetches and decodes every full picture at each visit, against blurred tiles, and
/// against thumbnails of removed tasks.
#[tokio::test(flavor = "multi_thread")]
async fn visited_gallery_is_shown_from_thumbnails() {
    drive("visited_gallery_is_shown_from_thumbnails", async |browser| {
        browser.set_size(1280, 900).await?;
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let address = proxy.address();
        generate(browser, &address).await?;
        browser.open(&format!("{address}/gallery")).await?;
        let tile = containing("button", PROMPT);
        browser.find(&tile).await?;
        wait_for_value(browser, "a stored thumbnail", COUNT, json!(1)).await?;
        // The tile uses the thumbnail at once, so that full pictures don't fill the memory.
        wait_for_value(browser, "a tile with the thumbnail", TILES, json!([true])).await?;

        // The next visit, when the outputs are no longer available.
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        proxy.add(Rule::every("/outputs/*", gone));
        proxy.clear_cache(browser).await?;
        let file_calls = || {
            let calls = proxy.calls();
            let files = calls.iter().filter(|call| call.path.starts_with("/outputs/"));
            files.count()
        };
        // If storage answers late, a visit may fetch outputs before it uses thumbnails. So count the best of three
        // visits.
        let mut fewest = usize::MAX;
        for _ in 0..3 {
            let before = file_calls();
            browser.open(&format!("{address}/gallery")).await?;
            wait_for_value(browser, "tiles with thumbnails", TILES, json!([true])).await?;
            fewest = fewest.min(file_calls() - before);
        }
        assert_eq!(fewest, 0, "outputs were fetched");
        proxy.clear();
        let enlarge = "
            const slider = document.querySelector('.gallery-size input');
            slider.value = slider.max;
            slider.dispatchEvent(new Event('input', { bubbles: true }));
            return true";
        browser.run(enlarge, vec![]).await?;
        let sharp = "
            const picture = document.querySelector('.tile img');
            return !!picture && picture.naturalHeight * 1.3 >= picture.clientHeight * Math.min(devicePixelRatio, 2)";
        wait_for_value(browser, "a sharp tile", sharp, json!(true)).await?;

        browser.press(&tile).await?;
        browser.press(&by("button", "Remove task")).await?;
        wait_for_value(browser, "no stored thumbnail", COUNT, json!(0)).await
    })
    .await;
}

/// Guards against thumbnails that remain after the user deletes the saved outputs.
#[tokio::test(flavor = "multi_thread")]
async fn thumbnails_are_deleted_with_saved_outputs() {
    drive(
        "thumbnails_are_deleted_with_saved_outputs",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            let address = service.address();
            browser.open(&format!("{address}/settings")).await?;
            browser.press(&by("checkbox", "Keep outputs")).await?;
            browser.press(&by("button", "Save")).await?;
            browser.wait_for_text("Saved.", TIMEOUT).await?;
            generate(browser, &address).await?;
            browser.press(&by("link", "Tasks")).await?;
            browser.find(&containing("link", PROMPT)).await?;
            wait_for_value(browser, "a stored thumbnail", COUNT, json!(1)).await?;
            browser.press(&by("link", "Settings")).await?;
            browser.wait_for_text("1 copy, ", TIMEOUT).await?;
            browser.press(&by("button", "Delete kept outputs")).await?;
            browser.press(&by("button", "Delete them")).await?;
            wait_for_value(browser, "no stored thumbnail", COUNT, json!(0)).await
        },
    )
    .await;
}

/// Guards against pictures that stay missing after the network is back, and against a message that first suggests to
/// generate again.
#[tokio::test(flavor = "multi_thread")]
async fn failed_pictures_are_loaded_again_when_online() {
    drive(
        "failed_pictures_are_loaded_again_when_online",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            let proxy = FaultProxy::start(&service.address()).await?;
            proxy.add(Rule::every("/outputs/*", Fault::DropBefore));
            generate(browser, &proxy.address()).await?;
            browser
                .wait_for_text(
                    "Not loaded: the network or the file's host may be down",
                    TIMEOUT,
                )
                .await?;
            browser.press(&by("link", "Tasks")).await?;
            let pictures = "
            const pictures = [...document.querySelectorAll('main img')];
            return pictures.some(it => it.naturalWidth > 0)";
            let failed = "return document.querySelectorAll('main .media-gone').length > 0";
            wait_for_value(browser, "a missing picture", failed, json!(true)).await?;
            proxy.clear();
            let reconnect = "
            let isOnline = false;
            Object.defineProperty(navigator, 'onLine', { get: () => isOnline, configurable: true });
            window.dispatchEvent(new Event('offline'));
            isOnline = true;
            window.dispatchEvent(new Event('online'));";
            browser.run(reconnect, vec![]).await?;
            wait_for_value(browser, "the picture in the list", pictures, json!(true)).await?;
            proxy.add(Rule::every("/outputs/*", Fault::DropBefore));
            proxy.clear_cache(browser).await?;
            browser.press(&containing("link", PROMPT)).await?;
            browser
                .wait_for_text(
                    "Not loaded: the network or the file's host may be down",
                    TIMEOUT,
                )
                .await?;
            proxy.clear();
            browser.run(reconnect, vec![]).await?;
            wait_for_value(
                browser,
                "the picture on the task page",
                pictures,
                json!(true),
            )
            .await
        },
    )
    .await;
}
