//! Every output in one place, one of them large, several next to each other; and the keys and links that
//! lead there.

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

/// Stores completed tasks: so many, two outputs each, the higher the newer, ten a day.
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

/// A person in front of the gallery, with so many tasks.
async fn visit(name: &str, count: u32, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        browser.set_size(1280, 900).await?;
        studio.open("/gallery").await?;
        browser.see_text("Nothing made yet.", TIMEOUT).await?;
        let stored = browser.run(STORE, vec![json!(count)]).await?;
        assert_eq!(stored, Value::Bool(true));
        studio.open("/gallery").await?;
        studio.sees_outputs(2 * count).await?;
        steps(&studio).await
    })
    .await;
}

impl Studio<'_> {
    async fn open(&self, path: &str) -> Result<()> {
        let address = format!("{}{path}", self.service.address());
        self.browser.open(&address).await
    }

    async fn sees_outputs(&self, count: u32) -> Result<()> {
        let words = match count {
            1 => "1 output".to_owned(),
            n @ 0..1_000 => format!("{n} outputs"),
            n => format!("{},{:03} outputs", n / 1_000, n % 1_000),
        };
        self.browser.see_text(&words, TIMEOUT).await
    }

    /// Waits until the address has this in it, decoded.
    async fn is_at(&self, wanted: &str) -> Result<()> {
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

    /// Keys for whatever has the focus.
    async fn keys(&self, keys: &str) -> Result<()> {
        let focused = self.browser.client.active_element().await?;
        Ok(focused.send_keys(keys).await?)
    }

    /// Gives the first tile the focus.
    async fn focus_tile(&self) -> Result<()> {
        let focus = "document.querySelector('[data-output]').focus()";
        self.browser.run(focus, vec![]).await?;
        Ok(())
    }

    /// Shows the first output of this name large.
    async fn press_tile(&self, name: &str) -> Result<()> {
        // They come once the room for them is known, and are drawn anew as outputs come and go.
        until(format!("a press of “{name}”"), TIMEOUT, async || {
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

/// Guards against outputs that can't be found again, and a large view that is a dead end: no way on, no
/// address, nothing said of how it was made, and the focus lost behind it.
#[tokio::test(flavor = "multi_thread")]
async fn outputs_are_found_and_looked_at_one_after_the_other() {
    visit("outputs_are_found", 4, async |studio| {
        let browser = studio.browser;
        browser.find(&by("heading", "Gallery")).await?;
        let outputs = by("list", "Outputs");
        browser.find_in(&outputs, &any("listitem"), 8).await?;

        // Narrowed by text and model, which the address keeps.
        browser
            .fill(&by("searchbox", "Search outputs"), "jade")
            .await?;
        studio.sees_outputs(2).await?;
        studio.is_at("q=jade").await?;
        browser.client.refresh().await?;
        studio.sees_outputs(2).await?;
        studio.open("/gallery?model=image/strata").await?;
        studio.sees_outputs(4).await?;
        studio.open("/gallery?kind=video").await?;
        browser.see_text("No output matches.", TIMEOUT).await?;

        // Large, and on by keys and buttons.
        studio.open("/gallery").await?;
        studio.sees_outputs(8).await?;
        studio.press_tile("Image: rose harbour 2").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        studio.is_at("lightbox=made-00002/0").await?;
        browser.see_text("3 of 8", TIMEOUT).await?;
        studio.keys(RIGHT).await?;
        studio.is_at("lightbox=made-00002/1").await?;
        browser.press(&by("button", "Next").within(&dialog)).await?;
        studio.is_at("lightbox=made-00001/0").await?;
        browser.see_text("cobalt harbour 1", TIMEOUT).await?;
        browser
            .press(&by("button", "Previous").within(&dialog))
            .await?;
        studio.keys(LEFT).await?;
        studio.is_at("lightbox=made-00002/0").await?;
        // The address leads back here.
        browser.client.refresh().await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.see_text("3 of 8", TIMEOUT).await?;
        browser.press(&by("button", "Close")).await?;
        browser.find_gone(&by("dialog", "Output")).await?;

        // Back leads out, and the focus is where it was.
        studio.press_tile("Image: amber harbour 0").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.client.back().await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        until("the focus on what was seen", TIMEOUT, async || {
            let focused = browser.client.active_element().await?;
            let name = browser.name_of(&focused).await?;
            Ok(match name == "Image: amber harbour 0" {
                true => Seen::Yes(()),
                false => Seen::NotYet(name),
            })
        })
        .await?;
        // So it is after Escape.
        studio.keys(ENTER).await?;
        browser.find(&by("dialog", "Output")).await?;
        studio.keys(ESCAPE).await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        studio.is_at("/gallery").await
    })
    .await;
}

/// Guards against an output that leads nowhere: as another model's input, next to another one, as a link.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_goes_on_from_the_large_view() {
    visit("an_output_goes_on", 2, async |studio| {
        let browser = studio.browser;
        studio.open("/gallery?lightbox=made-00001/0").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser
            .press(&by("button", "Compare").within(&dialog))
            .await?;
        let compared = browser.find(&by("dialog", "Compare")).await?;
        studio.is_at("compare=made-00001/0,made-00001/1").await?;
        browser
            .see_text("Their inputs are the same.", TIMEOUT)
            .await?;
        // Guards against a comparison with one that was not chosen, and that can't be changed.
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
        studio.is_at("compare=made-00001/0,made-00000/0").await?;
        browser.see_text("What differs", TIMEOUT).await?;
        // Who has chosen both is asked nothing.
        studio
            .open("/gallery?compare=made-00001/0,made-00000/0")
            .await?;
        browser
            .find_gone(&by("radiogroup", "Compared with"))
            .await?;
        browser.see_text("What differs", TIMEOUT).await?;
        let row = browser.find(&by("rowheader", "seed")).await?;
        assert!(row.is_displayed().await?);
        drop(compared);

        studio.open("/gallery?lightbox=made-00001/0").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser
            .press(&by("button", "Use as input").within(&dialog))
            .await?;
        browser.press(&starting("link", "Repaint")).await?;
        studio.is_at("/models/image/repaint").await?;
        browser.find(&by("form", "Input")).await?;

        // Unknown here.
        studio.open("/gallery?lightbox=nowhere/0").await?;
        browser
            .see_text("This output isn't in this browser's history.", TIMEOUT)
            .await
    })
    .await;
}

/// Guards against a link that drops the seed or an input, or fills the form without a word on what the
/// model does not take.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_the_recipe() {
    drive("a_link_is_the_recipe", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        studio
            .open("/models/image/tessera#inputs=%7B%22prompt%22%3A%22gl%C3%A4ser%20%26%20gold%22%2C%22seed%22%3A18446744073709551615%2C%22nonsense%22%3A1%7D")
            .await?;
        let prompt = browser.find(&starting("textbox", "prompt")).await?;
        assert_eq!(prompt.prop("value").await?.as_deref(), Some("gläser & gold"));
        browser.see_text("nonsense", TIMEOUT).await?;
        let script = "
            const form = document.querySelector('form[aria-label=Input]');
            return [...form.querySelectorAll('input')].some(input => input.value === '18446744073709551615')";
        assert_eq!(browser.run(script, vec![]).await?, Value::Bool(true));
        browser.find(&by("button", "Copy link")).await?;
        // Taken once: a reload leaves alone what was typed since.
        let fragment = browser.run("return location.hash", vec![]).await?;
        assert_eq!(fragment, json!(""));
        Ok(())
    })
    .await;
}

/// Guards against a selection that is forgotten by scrolling or filters, or chooses something else.
#[tokio::test(flavor = "multi_thread")]
async fn several_are_chosen_with_keys() {
    visit("several_are_chosen", 4, async |studio| {
        let browser = studio.browser;
        studio.focus_tile().await?;
        studio.keys("x").await?;
        browser.see_text("1 selected", TIMEOUT).await?;
        studio.keys(&format!("{SHIFT}{RIGHT}{RIGHT}")).await?;
        browser.see_text("3 selected", TIMEOUT).await?;
        let bar = browser.find(&by("region", "Selection")).await?;
        browser
            .press(&by("button", "Favorite").within(&bar))
            .await?;
        browser
            .press(&by("button", "Select none").within(&bar))
            .await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.sees_outputs(3).await?;
        studio.is_at("favorites=yes").await?;
        // Guards against "0 outputs" of a page that begins narrowed to none, as if nothing had been made.
        let chosen = browser.client.current_url().await?;
        studio.open("/gallery?q=nothing").await?;
        browser.see_text("0 outputs of 8", TIMEOUT).await?;
        browser.open(chosen.as_str()).await?;
        studio.sees_outputs(3).await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.sees_outputs(8).await?;
        // Two tasks hold these three. While one is selected, all have a mark.
        studio.focus_tile().await?;
        studio.keys("x").await?;
        let outputs = by("list", "Outputs");
        let choices = browser
            .find_in(&outputs, &starting("checkbox", "Select"), 8)
            .await?;
        for choice in choices.iter().take(3).skip(1) {
            choice.click().await?;
        }
        browser.see_text("3 selected, 3 favorites", TIMEOUT).await?;
        // A favorite is not lost at one press.
        let remove = by("button", "Remove 2 tasks, 4 outputs");
        browser.press(&remove).await?;
        let question = by("dialog", "Remove favorites");
        browser.find(&question).await?;
        browser
            .see_text("That includes 3 favorites.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Keep")).await?;
        browser.find_gone(&question).await?;
        studio.sees_outputs(8).await?;
        browser.press(&remove).await?;
        let asked = browser.find(&question).await?;
        browser.stop_clock().await?;
        browser
            .press(&by("button", "Remove").within(&asked))
            .await?;
        studio.sees_outputs(4).await?;
        browser.press(&by("button", "Undo")).await?;
        studio.sees_outputs(8).await
    })
    .await;
}

/// Guards against keys that do nothing, or take what is typed into a field.
#[tokio::test(flavor = "multi_thread")]
async fn keys_lead_everywhere() {
    visit("keys_lead_everywhere", 2, async |studio| {
        let browser = studio.browser;
        studio.keys("?").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        studio.keys(ESCAPE).await?;
        browser
            .find_gone(&by("dialog", "Keyboard shortcuts"))
            .await?;
        studio.keys("gt").await?;
        studio.is_at("/tasks").await?;
        studio.keys("gm").await?;
        browser.find(&by("heading", "Models")).await?;
        studio.keys("gg").await?;
        browser.find(&by("heading", "Gallery")).await?;
        // In a field they are letters.
        browser
            .fill(&by("searchbox", "Search outputs"), "gt?")
            .await?;
        studio.is_at("/gallery?q=gt?").await?;
        studio.keys(&format!("{CONTROL}k")).await?;
        browser.find(&by("dialog", "Commands")).await?;
        studio.keys("tesse").await?;
        browser.find(&starting("option", "Tessera")).await?;
        studio.keys(ENTER).await?;
        studio.is_at("/models/image/tessera").await
    })
    .await;
}
