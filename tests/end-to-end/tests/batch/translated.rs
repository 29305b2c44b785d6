//! The page while the browser translates it. Chrome's "Translate this page" replaces each text node with `font` elements,
//! except inside elements with `translate="no"`.

use crate::studio::{Studio, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::studio::MODEL;
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use serde_json::{Value, json};

/// Replaces text nodes as a translator does, now and after every change. The text itself stays the same, so that the test
/// can compare it.
const TRANSLATOR: &str = "
    const isExempt = text => !text.data.trim()
        || text.parentElement?.closest('[translate=no], font, script, style, textarea, title, svg');
    const translate = () => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const texts = [];
        while (walker.nextNode()) texts.push(walker.currentNode);
        for (const text of texts.filter(it => !isExempt(it))) {
            const [outer, inner] = [document.createElement('font'), document.createElement('font')];
            inner.textContent = text.data;
            outer.append(inner);
            text.replaceWith(outer);
        }
    };
    new MutationObserver(translate)
        .observe(document.body, { childList: true, characterData: true, subtree: true });
    translate();
    return document.querySelectorAll('font').length > 0";

impl Studio<'_> {
    async fn translate(&self) -> Result<()> {
        let is_translated = self.browser.run(TRANSLATOR, vec![]).await?;
        assert_eq!(is_translated, json!(true), "there is nothing to translate");
        Ok(())
    }

    /// Waits until the first element that matches the selector has this text.
    async fn wait_for_text(&self, what: &str, selector: &str, wanted: &str) -> Result<()> {
        let script = format!(
            "return document.querySelector({})?.innerText.trim() ?? 'not there'",
            json!(selector)
        );
        wait_for_value(self.browser, what, &script, wanted).await
    }
}

/// Guards against states that no longer change once they are translated (for instance "Submitting" above a finished
/// image, or "0 of 12 done"), and against showing the prompt of another output in the lightbox.
#[tokio::test(flavor = "multi_thread")]
async fn a_translated_page_still_updates_its_texts() {
    let name = "a_translated_page_still_updates_its_texts";
    run_steps(name, &["--speed", "0.2"], async |studio| {
        let browser = studio.browser;
        studio.open(MODEL).await?;
        browser.find(&by("form", "Input")).await?;
        studio.translate().await?;
        browser
            .fill(&starting("textbox", "prompt"), "only one")
            .await?;
        studio.press("Generate").await?;
        studio.wait_for_text("the state", ".result .pill", "Completed").await?;
        let stale = "
            const text = document.querySelector('.result').innerText;
            return ['Queued', 'Submitting', 'Starting', 'Processing', 'You can close this page', 'Results appear here']
                .filter(it => text.includes(it))";
        wait_for_value(browser, "stale states", stale, json!([])).await?;

        studio.reload().await?;
        studio.translate().await?;
        let prompts = ["red one", "green one", "blue one"].map(str::to_owned);
        studio.type_prompts(&prompts).await?;
        let label = "return [...document.querySelectorAll('button.primary')].map(it => it.innerText.trim())";
        wait_for_match(browser, "the button", label, |seen| seen.to_string().contains("Generate 3")).await?;
        studio.press("Generate 3").await?;
        studio.wait_for_text("the counts", ".run-counts", "3 completed").await?;
        let stale = "
            const text = document.querySelector('article[aria-label^=Batch]').innerText;
            return ['queued', 'in progress', 'Queued', 'Submitting', 'Processing', ' left', 'Sending']
                .filter(it => text.includes(it))";
        wait_for_value(browser, "stale counts", stale, json!([])).await?;

        browser.press(&by("link", "Gallery")).await?;
        browser.find(&by("list", "Outputs")).await?;
        studio.translate().await?;
        browser.press(&starting("button", "Image: only one")).await?;
        browser.find(&by("dialog", "Output")).await?;
        // The newest output is first, so these steps go from the last output to the first and back.
        for step in ["Previous", "Previous", "Next", "Previous", "Previous", "Next"] {
            let before = shown_output(studio).await?;
            studio.press(step).await?;
            let moved = "return document.querySelector('.stage img')?.alt ?? ''";
            wait_for_match(browser, "another output", moved, |now| *now != before && now != "").await?;
            let fits = "
                const shown = document.querySelector('.stage img')?.alt ?? '';
                const prompt = document.querySelector('.lightbox-panel .task-prompt')?.innerText.trim();
                return shown.startsWith(`Image: ${prompt}`) || `${prompt} next to ${shown}`";
            wait_for_value(browser, "the prompt of the shown output", fits, true).await?;
            let position = "
                const shown = document.querySelector('.stage img')?.alt;
                const tiles = [...document.querySelectorAll('.tile-open')].map(it => it.getAttribute('aria-label'));
                const head = document.querySelector('.lightbox-head p').innerText;
                return head.includes(`${tiles.indexOf(shown) + 1} of 4`) || `${head}: ${shown} of ${tiles}`";
            wait_for_value(browser, "the position of the shown output", position, true).await?;
        }
        Ok(())
    })
    .await;
}

/// Returns the accessible name of the output in the lightbox.
async fn shown_output(studio: &Studio<'_>) -> Result<Value> {
    let script = "return document.querySelector('.stage img')?.alt ?? ''";
    studio.browser.run(script, vec![]).await
}
