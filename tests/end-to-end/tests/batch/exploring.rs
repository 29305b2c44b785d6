//! A sweep, one item at a time, by a control for each of its axes.

use crate::studio::{BATCH, SINGLE, Studio, TIMEOUT, error, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::Rule;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, until};

const RIGHT: &str = "\u{e014}";
const END: &str = "\u{e010}";

/// Waits until the address says that the person is there.
async fn is_at(studio: &Studio<'_>, wanted: &str) -> Result<()> {
    let script = "return new URLSearchParams(location.search).get('sweep')?.split('@')[0] ?? ''";
    until(format!("the position {wanted:?}"), TIMEOUT, async || {
        let position = studio.browser.run(script, vec![]).await?;
        Ok(match position.as_str() == Some(wanted) {
            true => Seen::Yes(()),
            false => Seen::NotYet(position.to_string()),
        })
    })
    .await
}

/// Waits until the one picture in sight is this one.
async fn sees_picture(studio: &Studio<'_>, name: &str) -> Result<()> {
    until(format!("the picture {name:?}"), TIMEOUT, async || {
        let dialog = studio.browser.find(&by("dialog", "Sweep")).await?;
        let pictures = any("image").within(&dialog);
        let mut names = Vec::new();
        for picture in studio.browser.find_all(&pictures).await? {
            names.push(studio.browser.name_of(&picture).await?);
        }
        Ok(match names == [name] {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("there are {names:?}")),
        })
    })
    .await
}

/// Guards against a sweep whose results can only be compared as small pictures in a table, against a position that is
/// lost with a reload, and against a place without a picture that shows another one's.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_explored_along_its_axes() {
    visit("a_sweep_is_explored", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[0].select_by_value("prompt").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[0].send_keys("dusk\u{e007}dawn").await?;
        studio.press("Another axis").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[1].select_by_value("panes").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[1].send_keys("20, 40, 60").await?;
        studio.press("Add to the table").await?;
        // The first is refused, the others are made.
        studio.proxy.add(Rule::next(1, BATCH, error(400)));
        studio.proxy.add(Rule::next(1, SINGLE, error(422)));
        studio.press("Generate 6").await?;
        studio.see_counts("5 completed, 1 failed").await?;

        browser.set_size(1280, 900).await?;
        studio.press("Explore").await?;
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser.see_text("Item 1 of 6: Failed", TIMEOUT).await?;
        let shown = browser.find_all(&any("image").within(&dialog)).await?;
        assert!(shown.is_empty(), "a failed item shows a picture");

        // The keyboard is where it is needed: at the first axis.
        until("the first axis to have the focus", TIMEOUT, async || {
            let focused = browser.client.active_element().await?;
            Ok(match browser.name_of(&focused).await?.as_str() {
                "dusk" => Seen::Yes(()),
                name => Seen::NotYet(format!("{name:?} has it")),
            })
        })
        .await?;
        let focused = browser.client.active_element().await?;
        focused.send_keys(RIGHT).await?;
        is_at(studio, "prompt=dawn&panes=20").await?;
        sees_picture(studio, "Image: dawn").await?;
        let panes = browser.find(&by("slider", "panes").within(&dialog)).await?;
        let marks = "return document.querySelector('.sweep-ticks')?.textContent ?? ''";
        let marks = browser.run(marks, vec![]).await?;
        assert_eq!(marks, "204060", "what the marks of the scale mean");
        panes.send_keys(END).await?;
        is_at(studio, "prompt=dawn&panes=60").await?;
        browser.see_text("Item 6 of 6: Completed", TIMEOUT).await?;
        sees_picture(studio, "Image: dawn").await?;
        for name in ["Favorite", "Vary", "Download", "Use as input"] {
            browser.find(&by("button", name).within(&dialog)).await?;
        }

        // The address leads back here.
        browser.run("location.reload()", vec![]).await?;
        browser.see_text("Item 6 of 6: Completed", TIMEOUT).await?;
        sees_picture(studio, "Image: dawn").await?;
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser.press(&by("radio", "dusk").within(&dialog)).await?;
        is_at(studio, "prompt=dusk&panes=60").await?;
        browser.see_text("Item 3 of 6: Completed", TIMEOUT).await?;
        sees_picture(studio, "Image: dusk").await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.find_gone(&by("dialog", "Sweep")).await?;
        is_at(studio, "").await?;

        // An output leads to its own place among the others, above the large view, and back to that.
        browser.open(&studio.address("/gallery")).await?;
        until("a press of the second tile", TIMEOUT, async || {
            let tiles = browser
                .find_all(&starting("button", "Image: dawn"))
                .await?;
            Ok(match tiles.get(1) {
                Some(tile) => Seen::Yes(tile.click().await?),
                None => Seen::NotYet(format!("there are {}", tiles.len())),
            })
        })
        .await?;
        let output = browser.find(&by("dialog", "Output")).await?;
        browser
            .press(&by("button", "Explore").within(&output))
            .await?;
        sees_picture(studio, "Image: dawn").await?;
        let is_its_own = "
            const [task] = new URLSearchParams(location.search).get('lightbox').split('/');
            return [...document.querySelectorAll('dialog[aria-label=Sweep] a')].some(it => it.pathname.endsWith(task))";
        let is_its_own = browser.run(is_its_own, vec![]).await?;
        assert_eq!(is_its_own, true, "the sweep shows another item");
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.find(&by("dialog", "Output")).await?;
        is_at(studio, "").await
    })
    .await;
}
