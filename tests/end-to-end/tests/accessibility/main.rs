//! What axe-core finds on every page and state, in light and dark; and what moves after it was there.

mod movement;

use atelier_end_to_end::browser::{Browser, Scheme};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::look::SCHEMES;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::site::repository;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::{Result, tour};
use serde_json::{Value, json};
use std::time::Duration;

const MODEL: &str = "/models/image/tessera";

/// Enough for a picture on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The parts of a page that something is wrong with, each as a line.
const RUN: &str = "
    const runOnly = arguments[0] ?? undefined;
    const rules = runOnly ? {} : { 'target-size': { enabled: true } };
    return axe.run(document, { resultTypes: ['violations'], runOnly, rules }).then(({ violations }) =>
        violations.flatMap(({ id, help, nodes }) =>
            nodes.map(node => `${id} (${help}): ${node.html.slice(0, 200)}`)))";

/// Those of axe's default rules that look at colours.
const COLOUR_RULES: [&str; 2] = ["color-contrast", "link-in-text-block"];

struct Examination<'a> {
    browser: &'a Browser,
    address: String,
    axe: String,
    found: Vec<String>,
}

impl Examination<'_> {
    async fn open(&self, path: &str, role: &str, name: &str) -> Result<()> {
        let address = format!("{}{path}", self.address);
        self.browser.open(&address).await?;
        self.browser.find(&by(role, name)).await?;
        Ok(())
    }

    /// Looks at what is shown now. Only colours differ in dark.
    async fn examine(&mut self, state: &str) -> Result<()> {
        for scheme in SCHEMES {
            let rules = match scheme {
                Scheme::Light => Value::Null,
                Scheme::Dark => json!({ "type": "rule", "values": COLOUR_RULES }),
            };
            self.browser.prefer(scheme).await?;
            self.browser.settled().await?;
            if self.browser.run("return !window.axe", vec![]).await? == true {
                self.browser.run(&self.axe, vec![]).await?;
            }
            let lines = self.browser.run(RUN, vec![rules]).await?;
            let lines = lines.as_array().ok_or("axe has said nothing")?;
            let lines = lines.iter().filter_map(Value::as_str);
            self.found
                .extend(lines.map(|line| format!("{state}, {scheme:?}: {line}")));
        }
        Ok(())
    }

    async fn model_pages(&mut self) -> Result<()> {
        let browser = self.browser;
        self.open(MODEL, "form", "Input").await?;
        self.examine("a form").await?;
        browser.press(&by("button", "Generate")).await?;
        self.examine("a form with problems").await?;
        let prompt = browser.find(&starting("textbox", "prompt")).await?;
        prompt.send_keys("a rose window in te").await?;
        browser.find(&by("button", "teal")).await?;
        self.examine("words that are offered").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.see_text("Processing", TIMEOUT).await?;
        self.examine("a task under way").await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        self.examine("a result").await?;
        browser.press(&by("button", "More actions")).await?;
        browser.find(&by("button", "Use as input")).await?;
        self.examine("what is seldom done with a result").await?;
        browser.press(&by("button", "Use as input")).await?;
        browser.find(&starting("link", "Repaint")).await?;
        self.examine("where a result goes on").await?;
        browser.press(&by("button", "Presets")).await?;
        browser
            .fill(&by("textbox", "Name of the preset"), "glass")
            .await?;
        browser.press(&by("button", "Save")).await?;
        browser.find(&by("button", "Apply glass")).await?;
        self.examine("presets").await?;
        browser.press(&by("button", "Remove glass")).await?;
        browser.find_gone(&by("button", "Apply glass")).await?;
        self.examine("a preset that was removed").await?;
        browser.press(&by("button", "Undo")).await?;
        browser.find(&by("button", "Apply glass")).await?;
        browser.press(&by("button", "Close")).await?;
        browser.press(&by("radio", "JSON")).await?;
        self.examine("JSON").await?;
        self.open(&format!("{MODEL}?mode=integrations"), "heading", "Tessera")
            .await?;
        browser.see_text("OpenAI function", TIMEOUT).await?;
        self.examine("integrations").await
    }

    async fn batch_pages(&mut self) -> Result<()> {
        let browser = self.browser;
        for way in ["Sweep", "Import", "Lines"] {
            self.open(&format!("{MODEL}?mode=batch"), "radio", way)
                .await?;
            browser.press(&by("radio", way)).await?;
            self.examine(&format!("batch, {way}")).await?;
        }
        browser.fill(&by("textbox", "Prompts"), "red\nblue").await?;
        self.examine("a table").await?;
        browser.press(&by("button", "Generate 2")).await?;
        browser.find(&by("list", "Items of the batch")).await?;
        self.examine("a batch that was sent").await?;
        browser.press(&by("button", "Explore")).await?;
        browser.find(&by("dialog", "Sweep")).await?;
        browser.find(&by("radio", "red")).await?;
        self.examine("a sweep that is explored").await
    }

    async fn other_pages(&mut self) -> Result<()> {
        let browser = self.browser;
        self.open("/tasks", "heading", "Tasks").await?;
        browser.find(&by("list", "Tasks")).await?;
        self.examine("tasks").await?;
        browser.press(&by("link", "a rose window in te")).await?;
        browser.find(&by("button", "Run again")).await?;
        self.examine("one task").await?;
        self.open("/gallery", "list", "Outputs").await?;
        let tile = starting("button", "Image: a rose window in te");
        browser.find(&tile).await?.send_keys("x").await?;
        browser.find(&by("region", "Selection")).await?;
        self.examine("a selection in the gallery").await?;
        browser.press(&by("button", "Select none")).await?;
        browser
            .press(&starting("button", "Image: a rose window in te"))
            .await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser
            .press(&by("button", "Use as input").within(&dialog))
            .await?;
        browser.press(&starting("link", "Repaint")).await?;
        browser
            .fill(&starting("textbox", "prompt"), "the same in oil")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        self.open("/gallery", "list", "Outputs").await?;
        browser
            .press(&starting("button", "Image: the same in oil"))
            .await?;
        browser.find(&by("region", "Lineage")).await?;
        self.examine("an output large, and where it came from")
            .await?;
        self.open("/settings", "heading", "Settings").await?;
        self.examine("settings").await?;
        self.open("/nowhere", "heading", "Nothing here").await?;
        self.examine("a page that is not there").await
    }
}

/// Guards against what keeps people out: names that are missing, colours that can't be told apart, states
/// that are not said.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_found_on_any_page_in_light_and_dark() {
    let name = "nothing_is_found_on_any_page_in_light_and_dark";
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "2"]).await?;
        let axe = repository().join(".tools/npm/node_modules/axe-core/axe.min.js");
        let mut examination = Examination {
            browser,
            address: service.address(),
            axe: std::fs::read_to_string(axe)?,
            found: Vec::new(),
        };
        browser.set_size(1280, 900).await?;
        examination.open("/", "heading", "Models").await?;
        browser.find(&starting("link", "Tessera")).await?;
        examination.examine("the models").await?;
        examination.model_pages().await?;
        examination.batch_pages().await?;
        examination.other_pages().await?;
        assert!(
            examination.found.is_empty(),
            "{}",
            examination.found.join("\n")
        );
        Ok(())
    })
    .await;
}

/// The same of a first visit, of every address there is, and of what failed.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_found_on_a_first_visit_nor_at_any_address() {
    drive("nothing_is_found_at_any_address", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        let axe = repository().join(".tools/npm/node_modules/axe-core/axe.min.js");
        let mut examination = Examination {
            browser,
            address: address.clone(),
            axe: std::fs::read_to_string(axe)?,
            found: Vec::new(),
        };
        examination.open("/", "region", "Welcome").await?;
        examination.examine("a first visit").await?;
        tour::make(browser, &address).await?;
        for page in tour::pages(browser, &address).await? {
            browser.open(&format!("{address}{page}")).await?;
            examination.examine(&page).await?;
        }
        let found = examination.found.join("\n");
        assert!(found.is_empty(), "{found}");
        Ok(())
    })
    .await;
}

/// A phone with a finger instead of a pointer.
async fn hold_a_phone(browser: &Browser, width: u32) -> Result<()> {
    let screen = json!({ "width": width, "height": 640, "deviceScaleFactor": 2, "mobile": true });
    let touch = json!({ "enabled": true, "maxTouchPoints": 5 });
    browser
        .devtools("Emulation.setDeviceMetricsOverride", screen)
        .await?;
    browser
        .devtools("Emulation.setTouchEmulationEnabled", touch)
        .await?;
    Ok(())
}

/// What is wider than the screen.
const WIDE: &str = "
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    return wide > 0 ? [`${wide} px too wide`] : [];";

/// What a finger can hardly press: of each control the stretch around its middle that leads to it, where that
/// is under 44 px. A link within a sentence is as high as its line, the cells of a table are as dense as a
/// table, and a picture is large enough. Behind a dialog nothing is pressed, and neither is under the shade of a sheet.
const SMALL: &str = "
    const shown = (it) => it.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const found = [];
    const sheet = document.querySelector('form[aria-label=Input]');
    const isShaded = sheet && getComputedStyle(sheet, '::before').position === 'fixed';
    const front = document.querySelector('dialog:modal') ?? (isShaded ? sheet : document);
    for (const it of front.querySelectorAll('button, a[href], select, textarea, input, summary')) {
        const isInText = getComputedStyle(it).display === 'inline' && !it.classList.contains('cover');
        if (!shown(it) || it.disabled || it.closest('[inert], .sheet') || isInText) continue;
        const target = it.matches('[type=radio], [type=checkbox], [type=file]') && it.labels[0] || it;
        target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
        const { left, top, width, height } = target.getBoundingClientRect();
        if (width === 0 || height === 0 || (width > 120 && height > 120)) continue;
        const [x, y] = [left + width / 2, top + height / 2];
        const leads = (x, y) => {
            const hit = document.elementFromPoint(x, y);
            return !hit || target.contains(hit) || hit.contains(it) && hit.localName === 'label' || hit.control === it;
        };
        const reach = 21;
        const missed = [[x - reach, y], [x + reach, y], [x, y - reach], [x, y + reach]]
            .filter(([x, y]) => !leads(x, y)).map(([x, y]) => document.elementFromPoint(x, y).outerHTML.slice(0, 60));
        if (missed.length) found.push(`${it.localName} “${it.getAttribute('aria-label') ?? it.textContent.trim().slice(0, 30)}” `
            + `${width.toFixed(0)} × ${height.toFixed(0)}, beside it ${missed[0]}`);
    }
    return [...new Set(found)];";

async fn what_a_finger_misses(browser: &Browser, page: &str, width: u32) -> Result<Vec<String>> {
    browser.settled().await?;
    let mut found = Vec::new();
    for script in [WIDE, SMALL] {
        let lines = browser.run(script, vec![]).await?;
        let lines = lines.as_array().ok_or("nothing was looked at")?;
        let lines = lines.iter().filter_map(Value::as_str);
        found.extend(lines.map(|line| format!("{page} at {width}: {line}")));
    }
    Ok(found)
}

/// Guards against pages that are wider than a phone, and against targets that a finger misses.
#[tokio::test(flavor = "multi_thread")]
async fn every_page_fits_a_phone_and_a_finger() {
    drive("every_page_fits_a_phone_and_a_finger", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        browser.open(&address).await?;
        browser.find(&by("region", "Welcome")).await?;
        tour::make(browser, &address).await?;
        let mut found = Vec::new();
        for width in [320, 375] {
            hold_a_phone(browser, width).await?;
            for page in tour::pages(browser, &address).await? {
                browser.open(&format!("{address}{page}")).await?;
                found.extend(what_a_finger_misses(browser, &page, width).await?);
                // Next to a result the form is one line: how the rest is had, is to be seen.
                if page == "/models/image/strata" {
                    browser.press(&starting("textbox", "prompt")).await?;
                    browser.find(&by("button", "Clear form")).await?;
                    let state = format!("{page}, unfolded");
                    found.extend(what_a_finger_misses(browser, &state, width).await?);
                }
                if page.starts_with("/batches/") && page != "/batches/none" {
                    // Where the look has ended, it may be under the head of the page.
                    browser.run("scrollTo(0, 0)", vec![]).await?;
                    browser.press(&by("button", "Explore")).await?;
                    browser.find(&by("dialog", "Sweep")).await?;
                    let state = format!("{page}, explored");
                    found.extend(what_a_finger_misses(browser, &state, width).await?);
                }
            }
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
        Ok(())
    })
    .await;
}
