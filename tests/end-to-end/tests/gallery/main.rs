//! The gallery of all outputs, the lightbox, comparisons, keyboard shortcuts and links.

mod arriving;
mod changes;
mod chosen;
mod commands;
mod comparing;
mod filters;
mod many;
mod removing;
mod shapes;
mod slideshow;
mod swiping;
mod tiles;
mod touched;
mod varying;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A script that stores `count` completed tasks with two outputs each. Higher numbers are newer, and each day has ten tasks.
const STORE: &str = "
    const [count] = arguments;
    const square = color => 'data:image/svg+xml,' + encodeURIComponent(
        `<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"64\" height=\"64\"><rect width=\"64\" height=\"64\" fill=\"${color}\"/></svg>`);
    const task = n => {
        const model = { category: 'image', subcategory: n % 2 ? 'tessera' : 'strata' };
        return {
            key: `made-${String(n).padStart(5, '0')}`, account: { address: '', uid: 'guest' }, model,
            model_name: n % 2 ? 'Tessera' : 'Strata',
            input: { model, values: { prompt: `${['amber', 'cobalt', 'rose', 'jade'][n % 4]} harbour ${n}`, seed: n, aspect_ratio: ['1:1', '3:2', '9:16'][n % 3] } },
            created: 1700000000000 + n * 8640000,
            state: { state: 'ready', id: `t${n}`, outputs: [square('teal'), square('gold')] },
            watching: true, finished: 1700000005000 + n * 8640000,
        };
    };
    return new Promise((done, failed) => {
        const opened = indexedDB.open('atelier');
        opened.onerror = failed;
        opened.onsuccess = () => {
            const database = opened.result;
            const transaction = database.transaction('tasks', 'readwrite');
            const store = transaction.objectStore('tasks');
            for (let n = 0; n < count; n++) store.put(JSON.stringify(task(n)), task(n).key);
            transaction.oncomplete = () => { database.close(); done(true); };
            transaction.onabort = failed;
        };
    });";

struct Studio<'a> {
    browser: &'a Browser,
    service: Service,
}

/// Runs the steps in the gallery with the outputs of `count` tasks.
async fn run_steps(name: &str, count: u32, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        browser.set_size(1280, 900).await?;
        studio.open("/gallery").await?;
        browser.wait_for_text("No outputs yet.", TIMEOUT).await?;
        let stored = browser.run(STORE, vec![json!(count)]).await?;
        assert_eq!(stored, Value::Bool(true));
        studio.open("/gallery").await?;
        studio.wait_for_outputs(2 * count).await?;
        steps(&studio).await
    })
    .await;
}

impl Studio<'_> {
    async fn open(&self, path: &str) -> Result<()> {
        let address = format!("{}{path}", self.service.address());
        self.browser.open(&address).await
    }

    /// Waits until the gallery shows this number of outputs.
    async fn wait_for_outputs(&self, count: u32) -> Result<()> {
        let label = match count {
            1 => "1 output".to_owned(),
            n @ 0..1_000 => format!("{n} outputs"),
            n => format!("{},{:03} outputs", n / 1_000, n % 1_000),
        };
        self.browser.wait_for_text(&label, TIMEOUT).await
    }

    /// Waits until the decoded address contains this text.
    async fn wait_for_address(&self, wanted: &str) -> Result<()> {
        let script =
            "return decodeURIComponent(location.pathname + location.search + location.hash)";
        until(format!("an address with {wanted}"), TIMEOUT, async || {
            let address = self.browser.run(script, vec![]).await?;
            let address = address.as_str().unwrap_or_default();
            Ok(match address.contains(wanted) {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("it is {address}")),
            })
        })
        .await
    }

    /// Sends keys to the focused element.
    async fn press_keys(&self, keys: &str) -> Result<()> {
        let focused = self.browser.client.active_element().await?;
        Ok(focused.send_keys(keys).await?)
    }

    /// Focuses the first tile.
    async fn focus_tile(&self) -> Result<()> {
        let focus = "document.querySelector('[data-output]').focus()";
        self.browser.run(focus, vec![]).await?;
        Ok(())
    }

    /// Opens the first output of this name in the lightbox.
    async fn press_tile(&self, name: &str) -> Result<()> {
        // Tiles appear once their layout is known, and are rendered again when outputs are added or removed.
        until(format!("a press on “{name}”"), TIMEOUT, async || {
            let list = self.browser.find(&by("list", "Outputs")).await?;
            let tiles = by("button", name).within(&list);
            Ok(match self.browser.find_all(&tiles).await?.first() {
                Some(tile) => Seen::Yes(tile.click().await?),
                None => Seen::NotYet("there is no such tile".into()),
            })
        })
        .await
    }
}

const LEFT: &str = "\u{e012}";
const RIGHT: &str = "\u{e014}";
const ESCAPE: &str = "\u{e00c}";
const ENTER: &str = "\u{e007}";
const SHIFT: &str = "\u{e008}";
const CONTROL: &str = "\u{e009}";

/// Guards against outputs that can't be found again, and against a lightbox without a next output, an address, or the inputs
/// of the output, or that loses the focus when it closes.
#[tokio::test(flavor = "multi_thread")]
async fn outputs_can_be_searched_and_viewed_in_the_lightbox() {
    let name = "outputs_can_be_searched_and_viewed_in_the_lightbox";
    run_steps(name, 4, async |studio| {
        let browser = studio.browser;
        browser.find(&by("heading", "Gallery")).await?;
        let outputs = by("list", "Outputs");
        browser.find_in(&outputs, &any("listitem"), 8).await?;

        // Filters by text and model are in the address.
        browser
            .fill(&by("searchbox", "Search outputs"), "jade")
            .await?;
        studio.wait_for_outputs(2).await?;
        studio.wait_for_address("q=jade").await?;
        browser.client.refresh().await?;
        studio.wait_for_outputs(2).await?;
        studio.open("/gallery?model=image/strata").await?;
        studio.wait_for_outputs(4).await?;
        studio.open("/gallery?kind=video").await?;
        browser.wait_for_text("No output matches.", TIMEOUT).await?;

        // Keys and buttons step through the outputs in the lightbox.
        studio.open("/gallery").await?;
        studio.wait_for_outputs(8).await?;
        studio.press_tile("Image: rose harbour 2").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        studio.wait_for_address("lightbox=made-00002/0").await?;
        browser.wait_for_text("3 of 8", TIMEOUT).await?;
        studio.press_keys(RIGHT).await?;
        studio.wait_for_address("lightbox=made-00002/1").await?;
        browser.press(&by("button", "Next").within(&dialog)).await?;
        studio.wait_for_address("lightbox=made-00001/0").await?;
        browser.wait_for_text("cobalt harbour 1", TIMEOUT).await?;
        browser
            .press(&by("button", "Previous").within(&dialog))
            .await?;
        studio.press_keys(LEFT).await?;
        studio.wait_for_address("lightbox=made-00002/0").await?;
        // The address restores the lightbox.
        browser.client.refresh().await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.wait_for_text("3 of 8", TIMEOUT).await?;
        browser.press(&by("button", "Close")).await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;

        // Back closes the lightbox and restores the focus.
        studio.press_tile("Image: amber harbour 0").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.client.back().await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        until(
            "the focus on the output that was open",
            TIMEOUT,
            async || {
                let focused = browser.client.active_element().await?;
                let name = browser.name_of(&focused).await?;
                Ok(match name == "Image: amber harbour 0" {
                    true => Seen::Yes(()),
                    false => Seen::NotYet(name),
                })
            },
        )
        .await?;
        // Escape closes the lightbox too.
        studio.press_keys(ENTER).await?;
        browser.find(&by("dialog", "Output")).await?;
        studio.press_keys(ESCAPE).await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        studio.wait_for_address("/gallery").await
    })
    .await;
}

/// Guards against a lightbox from which the output can't be used as the input of another model, compared or linked to.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_in_the_lightbox_can_be_compared_and_used_as_input() {
    let name = "an_output_in_the_lightbox_can_be_compared_and_used_as_input";
    run_steps(name, 2, async |studio| {
        let browser = studio.browser;
        studio.open("/gallery?lightbox=made-00001/0").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser
            .press(&by("button", "Compare").within(&dialog))
            .await?;
        let compared = browser.find(&by("dialog", "Compare")).await?;
        studio
            .wait_for_address("compare=made-00001/0,made-00001/1")
            .await?;
        browser
            .wait_for_text("Their inputs are the same.", TIMEOUT)
            .await?;
        // Guards against a comparison whose second output was not chosen and can't be changed.
        let others = by("radiogroup", "Compared with").within(&compared);
        let others = browser.find(&others).await?;
        let other = |name: &str| by("radio", name).within(&others);
        let chosen = browser
            .find(&other("2 of 4: cobalt harbour 1, output 2"))
            .await?;
        assert_eq!(chosen.prop("checked").await?.as_deref(), Some("true"));
        browser
            .press(&other("3 of 4: amber harbour 0, output 1"))
            .await?;
        studio
            .wait_for_address("compare=made-00001/0,made-00000/0")
            .await?;
        browser.wait_for_text("What differs", TIMEOUT).await?;
        // When both outputs were chosen, there is no choice of a second one.
        studio
            .open("/gallery?compare=made-00001/0,made-00000/0")
            .await?;
        browser
            .wait_until_gone(&by("radiogroup", "Compared with"))
            .await?;
        browser.wait_for_text("What differs", TIMEOUT).await?;
        let row = browser.find(&by("rowheader", "seed")).await?;
        assert!(row.is_displayed().await?);
        drop(compared);

        studio.open("/gallery?lightbox=made-00001/0").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser
            .press(&by("button", "Use as input").within(&dialog))
            .await?;
        browser.press(&starting("link", "Repaint")).await?;
        studio.wait_for_address("/models/image/repaint").await?;
        browser.find(&by("form", "Input")).await?;

        // An output that this browser does not have.
        studio.open("/gallery?lightbox=nowhere/0").await?;
        browser
            .wait_for_text("This output isn't in this browser's history.", TIMEOUT)
            .await
    })
    .await;
}

/// Guards against a link that loses the seed or another input, or that does not name the parameters that the model does not
/// have.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_fills_the_form_with_all_inputs() {
    drive("a_link_fills_the_form_with_all_inputs", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        studio
            .open("/models/image/tessera#inputs=%7B%22prompt%22%3A%22gl%C3%A4ser%20%26%20gold%22%2C%22seed%22%3A18446744073709551615%2C%22nonsense%22%3A1%7D")
            .await?;
        let prompt = browser.find(&starting("textbox", "prompt")).await?;
        assert_eq!(prompt.prop("value").await?.as_deref(), Some("gläser & gold"));
        browser.wait_for_text("nonsense", TIMEOUT).await?;
        let script = "
            const form = document.querySelector('form[aria-label=Input]');
            return [...form.querySelectorAll('input')].some(input => input.value === '18446744073709551615')";
        assert_eq!(browser.run(script, vec![]).await?, Value::Bool(true));
        browser.find(&by("button", "Copy link")).await?;
        // The inputs are removed from the address, so that a reload does not overwrite what was typed since.
        let fragment = browser.run("return location.hash", vec![]).await?;
        assert_eq!(fragment, json!(""));
        Ok(())
    })
    .await;
}

/// Guards against a selection that is lost or changed by scrolling or by filters.
#[tokio::test(flavor = "multi_thread")]
async fn several_outputs_can_be_selected_with_keys() {
    let name = "several_outputs_can_be_selected_with_keys";
    run_steps(name, 4, async |studio| {
        let browser = studio.browser;
        studio.focus_tile().await?;
        studio.press_keys("x").await?;
        browser.wait_for_text("1 selected", TIMEOUT).await?;
        studio.press_keys(&format!("{SHIFT}{RIGHT}{RIGHT}")).await?;
        browser.wait_for_text("3 selected", TIMEOUT).await?;
        let bar = browser.find(&by("region", "Selection")).await?;
        browser
            .press(&by("button", "Favorite").within(&bar))
            .await?;
        browser
            .press(&by("button", "Select none").within(&bar))
            .await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.wait_for_outputs(3).await?;
        studio.wait_for_address("favorites=yes").await?;
        // Guards against "0 outputs", as if there were none, when the page is opened with a filter that matches none.
        let chosen = browser.client.current_url().await?;
        studio.open("/gallery?q=nothing").await?;
        browser.wait_for_text("0 outputs of 8", TIMEOUT).await?;
        browser.open(chosen.as_str()).await?;
        studio.wait_for_outputs(3).await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.wait_for_outputs(8).await?;
        // These three outputs belong to two tasks. While an output is selected, all tiles have a checkbox.
        studio.focus_tile().await?;
        studio.press_keys("x").await?;
        let outputs = by("list", "Outputs");
        let choices = browser
            .find_in(&outputs, &starting("checkbox", "Select"), 8)
            .await?;
        for choice in choices.iter().take(3).skip(1) {
            choice.click().await?;
        }
        browser
            .wait_for_text("3 selected, 3 favorites", TIMEOUT)
            .await?;
        // Removing a favorite needs a confirmation.
        let remove = by("button", "Remove 2 tasks, 4 outputs");
        browser.press(&remove).await?;
        let question = by("dialog", "Remove favorites");
        browser.find(&question).await?;
        browser
            .wait_for_text("That includes 3 favorites.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Keep")).await?;
        browser.wait_until_gone(&question).await?;
        studio.wait_for_outputs(8).await?;
        browser.press(&remove).await?;
        let dialog = browser.find(&question).await?;
        browser.stop_clock().await?;
        browser
            .press(&by("button", "Remove").within(&dialog))
            .await?;
        studio.wait_for_outputs(4).await?;
        browser.press(&by("button", "Undo")).await?;
        studio.wait_for_outputs(8).await
    })
    .await;
}

/// Guards against shortcuts that do nothing, and against shortcuts that trigger while the user types in a field.
#[tokio::test(flavor = "multi_thread")]
async fn shortcuts_open_pages_except_while_typing_in_a_field() {
    let name = "shortcuts_open_pages_except_while_typing_in_a_field";
    run_steps(name, 2, async |studio| {
        let browser = studio.browser;
        studio.press_keys("?").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        studio.press_keys(ESCAPE).await?;
        browser
            .wait_until_gone(&by("dialog", "Keyboard shortcuts"))
            .await?;
        studio.press_keys("gt").await?;
        studio.wait_for_address("/tasks").await?;
        studio.press_keys("gm").await?;
        browser.find(&by("heading", "Models")).await?;
        studio.press_keys("gg").await?;
        browser.find(&by("heading", "Gallery")).await?;
        // In a field, the keys type letters.
        browser
            .fill(&by("searchbox", "Search outputs"), "gt?")
            .await?;
        studio.wait_for_address("/gallery?q=gt?").await?;
        studio.press_keys(&format!("{CONTROL}k")).await?;
        browser.find(&by("dialog", "Commands")).await?;
        studio.press_keys("tesse").await?;
        browser.find(&starting("option", "Tessera")).await?;
        studio.press_keys(ENTER).await?;
        studio.wait_for_address("/models/image/tessera").await
    })
    .await;
}
