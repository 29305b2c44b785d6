//! The page while the browser translates it, as Chrome's "Translate this page" does: each text node is replaced by `font`
//! elements, unless it stands in an element that says `translate="no"`.

use crate::studio::{Studio, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::studio::MODEL;
use atelier_end_to_end::wait::{becomes, gives};
use serde_json::{Value, json};

/// Plays the translator, now and whenever something changes. The words stay the same, so that a person and this test can
/// read them.
const TRANSLATOR: &str = "
    const isKept = text => !text.data.trim()
        || text.parentElement?.closest('[translate=no], font, script, style, textarea, title, svg');
    const translate = () => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const texts = [];
        while (walker.nextNode()) texts.push(walker.currentNode);
        for (const text of texts.filter(it => !isKept(it))) {
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

    async fn reads(&self, what: &str, selector: &str, wanted: &str) -> Result<()> {
        let script = format!(
            "return document.querySelector({})?.innerText.trim() ?? 'not there'",
            json!(selector)
        );
        becomes(self.browser, what, &script, wanted).await
    }
}

/// Guards against states that stay as they were when they were translated ("Submitting" above a finished picture, "0 of 12
/// done"), and against the prompt of another output next to the one that is shown large.
#[tokio::test(flavor = "multi_thread")]
async fn a_translated_page_goes_on_telling_how_things_stand() {
    visit("a_translated_page", &["--speed", "0.2"], async |studio| {
        let browser = studio.browser;
        studio.open(MODEL).await?;
        browser.find(&by("form", "Input")).await?;
        studio.translate().await?;
        browser
            .fill(&starting("textbox", "prompt"), "only one")
            .await?;
        studio.press("Generate").await?;
        studio.reads("the state", ".result .pill", "Completed").await?;
        let stale = "
            const words = document.querySelector('.result').innerText;
            return ['Queued', 'Submitting', 'Starting', 'Processing', 'You can close this page', 'Results appear here']
                .filter(it => words.includes(it))";
        becomes(browser, "no earlier state", stale, json!([])).await?;

        studio.reload().await?;
        studio.translate().await?;
        let prompts = ["red one", "green one", "blue one"].map(str::to_owned);
        studio.write(&prompts).await?;
        let label = "return [...document.querySelectorAll('button.primary')].map(it => it.innerText.trim())";
        gives(browser, "the button", label, |seen| seen.to_string().contains("Generate 3")).await?;
        studio.press("Generate 3").await?;
        studio.reads("the counts", ".run-counts", "3 completed").await?;
        let told = "
            const words = document.querySelector('article[aria-label^=Batch]').innerText;
            return ['queued', 'in progress', 'Queued', 'Submitting', 'Processing', ' left', 'Sending']
                .filter(it => words.includes(it))";
        becomes(browser, "no earlier count", told, json!([])).await?;

        browser.press(&by("link", "Gallery")).await?;
        browser.find(&by("list", "Outputs")).await?;
        studio.translate().await?;
        browser.press(&starting("button", "Image: only one")).await?;
        browser.find(&by("dialog", "Output")).await?;
        // Newest first: from the last one to the first and back.
        for step in ["Previous", "Previous", "Next", "Previous", "Previous", "Next"] {
            let before = shown(studio).await?;
            studio.press(step).await?;
            let moved = "return document.querySelector('.stage img')?.alt ?? ''";
            gives(browser, "another output", moved, |now| *now != before && now != "").await?;
            let fits = "
                const shown = document.querySelector('.stage img')?.alt ?? '';
                const prompt = document.querySelector('.lightbox-panel .task-prompt')?.innerText.trim();
                return shown.startsWith(`Image: ${prompt}`) || `${prompt} beside ${shown}`";
            becomes(browser, "its own prompt", fits, true).await?;
            let place = "
                const shown = document.querySelector('.stage img')?.alt;
                const tiles = [...document.querySelectorAll('.tile-open')].map(it => it.getAttribute('aria-label'));
                const head = document.querySelector('.lightbox-head p').innerText;
                return head.includes(`${tiles.indexOf(shown) + 1} of 4`) || `${head}: ${shown} of ${tiles}`";
            becomes(browser, "its place", place, true).await?;
        }
        Ok(())
    })
    .await;
}

/// What the output that is shown large is called.
async fn shown(studio: &Studio<'_>) -> Result<Value> {
    let script = "return document.querySelector('.stage img')?.alt ?? ''";
    studio.browser.run(script, vec![]).await
}
