//! Tests of layout shifts.

use crate::{MODEL, TIMEOUT};
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::by;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::{Result, tour};
use serde_json::{Value, json};

/// Records the layout shifts since the page load, except those that user input has caused.
const RECORD_SHIFTS: &str = "
    window.moved = [];
    new PerformanceObserver(list => {
        for (const shift of list.getEntries()) {
            if (!shift.hadRecentInput) {
                const sources = shift.sources.map(({ node, previousRect, currentRect }) =>
                    `${node?.className || node?.nodeName} from ${previousRect.y} to ${currentRect.y}`);
                moved.push([shift.value, sources.join(', ')]);
            }
        }
    }).observe({ type: 'layout-shift', buffered: true });";

/// Guards against pages that shift while they load: later content must have its space from the first paint.
#[tokio::test(flavor = "multi_thread")]
async fn empty_pages_have_no_layout_shift() {
    drive("empty_pages_have_no_layout_shift", async |browser| {
        let service = Service::start_with_site(&[]).await?;
        browser.needs(Capability::LayoutShifts)?;
        browser.before_each_page(RECORD_SHIFTS).await?;
        let mut found = Vec::new();
        for (width, height) in [(1280, 900), (375, 740)] {
            browser.set_size(width, height).await?;
            for (path, heading) in [
                ("/", "Models"),
                ("/tasks", "Tasks"),
                ("/gallery", "Gallery"),
                ("/settings", "Settings"),
                (MODEL, "Tessera"),
            ] {
                let address = format!("{}{path}", service.address());
                found.extend(find_shifts(browser, &address, heading, width).await?);
            }
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
        Ok(())
    })
    .await;
}

/// Guards against shifts of pages with content, which is read from storage after the first paint.
#[tokio::test(flavor = "multi_thread")]
async fn pages_with_content_have_no_layout_shift() {
    drive("pages_with_content_have_no_layout_shift", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        browser.needs(Capability::LayoutShifts)?;
        let address = service.address();
        browser.set_size(1440, 900).await?;
        tour::create_content(browser, &address).await?;
        // A labelled grid instead of the plain one.
        let batch = format!("{address}{MODEL}?mode=batch");
        browser.open(&batch).await?;
        browser.press(&by("radio", "Sweep")).await?;
        browser.press(&by("button", "Another axis")).await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[0].select_by_value("prompt").await?;
        axes[1].select_by_value("panes").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[0].send_keys("dusk\u{e007}dawn").await?;
        values[1].send_keys("20, 40, 60").await?;
        browser.press(&by("button", "Add to the table")).await?;
        browser.press(&by("button", "Generate 6")).await?;
        browser.wait_for_text("6 completed", TIMEOUT).await?;
        browser.open(&format!("{address}/tasks")).await?;
        browser
            .find(&by("article", "Batch: amber and 2 others"))
            .await?;
        let links =
            "return [...document.querySelectorAll('.batch-row .cover')].map(link => link.pathname)";
        let links = browser.run(links, vec![]).await?;
        let links: Vec<&str> = links
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(links.len(), 2, "{links:?}");
        browser.before_each_page(RECORD_SHIFTS).await?;
        let mut found = Vec::new();
        for (width, height) in [(1440, 900), (320, 720)] {
            browser.set_size(width, height).await?;
            let mut pages = vec![("/tasks", "Tasks"), (MODEL, "Tessera")];
            pages.extend(links.iter().map(|link| (*link, "Batch")));
            for (path, heading) in pages {
                let address = format!("{address}{path}");
                found.extend(find_shifts(browser, &address, heading, width).await?);
            }
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
        Ok(())
    })
    .await;
}

/// Opens a page and returns its layout shifts, unless they are negligible.
async fn find_shifts(
    browser: &Browser,
    address: &str,
    heading: &str,
    width: u32,
) -> Result<Option<String>> {
    browser.open(address).await?;
    browser.find(&by("heading", heading)).await?;
    browser.wait_until_settled().await?;
    let moved = browser.run("return moved", vec![]).await?;
    let total: f64 = (moved.as_array().into_iter().flatten())
        .filter_map(|shift| shift[0].as_f64())
        .sum();
    // The cumulative layout shift. Web Vitals rate up to 0.1 as good.
    Ok((total >= 0.01).then(|| format!("{address} at {width}: {}", json!(moved))))
}
