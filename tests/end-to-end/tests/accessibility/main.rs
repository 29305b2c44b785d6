//! Accessibility tests: axe-core on every page and state in light and dark mode, touch targets, and layout shifts.

mod movement;
mod pictures;

use atelier_end_to_end::browser::{Browser, Scheme};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::screenshot::SCHEMES;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::site::repository;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::{Result, tour};
use serde_json::{Value, json};
use std::time::Duration;

const MODEL: &str = "/models/image/tessera";

/// The time limit for an image on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs axe and returns one line for each violation.
const RUN_AXE: &str = "
    const runOnly = arguments[0] ?? undefined;
    const rules = runOnly ? {} : { 'target-size': { enabled: true } };
    return axe.run(document, { resultTypes: ['violations'], runOnly, rules }).then(({ violations }) =>
        violations.flatMap(({ id, help, nodes }) =>
            nodes.map(node => `${id} (${help}): ${node.html.slice(0, 200)}`)))";

/// The default rules of axe that check colors.
const COLOR_RULES: [&str; 2] = ["color-contrast", "link-in-text-block"];

/// Runs axe on pages and collects the violations.
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

    /// Examines the current state of the page. In dark mode, only checks the colors.
    async fn examine(&mut self, state: &str) -> Result<()> {
        for scheme in SCHEMES {
            let rules = match scheme {
                Scheme::Light => Value::Null,
                Scheme::Dark => json!({ "type": "rule", "values": COLOR_RULES }),
            };
            self.browser.set_color_scheme(scheme).await?;
            self.browser.wait_until_settled().await?;
            if self.browser.run("return !window.axe", vec![]).await? == true {
                self.browser.run(&self.axe, vec![]).await?;
            }
            let lines = self.browser.run(RUN_AXE, vec![rules]).await?;
            let lines = lines.as_array().ok_or("axe returned no result")?;
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
        self.examine("word suggestions").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Processing", TIMEOUT).await?;
        self.examine("a running task").await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        self.examine("a result").await?;
        browser.press(&by("button", "More actions")).await?;
        browser.find(&by("button", "Use as input")).await?;
        self.examine("the menu of a result").await?;
        browser.press(&by("button", "Use as input")).await?;
        browser.find(&starting("link", "Repaint")).await?;
        self.examine("the models that accept a result").await?;
        browser.press(&by("button", "Presets")).await?;
        browser
            .fill(&by("textbox", "Name of the preset"), "glass")
            .await?;
        browser.press(&by("button", "Save")).await?;
        browser.find(&by("button", "Apply glass")).await?;
        self.examine("presets").await?;
        browser.press(&by("button", "Remove glass")).await?;
        browser
            .wait_until_gone(&by("button", "Apply glass"))
            .await?;
        self.examine("a removed preset").await?;
        browser.press(&by("button", "Undo")).await?;
        browser.find(&by("button", "Apply glass")).await?;
        browser.press(&by("button", "Close")).await?;
        browser.press(&by("radio", "JSON")).await?;
        self.examine("JSON").await?;
        self.open(&format!("{MODEL}?mode=integrations"), "heading", "Tessera")
            .await?;
        browser.wait_for_text("OpenAI function", TIMEOUT).await?;
        self.examine("integrations").await
    }

    async fn batch_pages(&mut self) -> Result<()> {
        let browser = self.browser;
        for tab in ["Sweep", "Import", "Lines"] {
            self.open(&format!("{MODEL}?mode=batch"), "radio", tab)
                .await?;
            browser.press(&by("radio", tab)).await?;
            self.examine(&format!("batch, {tab}")).await?;
        }
        browser.fill(&by("textbox", "Prompts"), "red\nblue").await?;
        self.examine("a table").await?;
        browser.press(&by("button", "Generate 2")).await?;
        browser.find(&by("list", "Items of the batch")).await?;
        self.examine("a batch that was sent").await?;
        browser.press(&by("button", "Explore")).await?;
        browser.find(&by("dialog", "Sweep")).await?;
        browser.find(&by("radio", "red")).await?;
        self.examine("an explored sweep").await
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
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        self.open("/gallery", "list", "Outputs").await?;
        browser
            .press(&starting("button", "Image: the same in oil"))
            .await?;
        browser.find(&by("region", "Lineage")).await?;
        self.examine("an output in the lightbox with its lineage")
            .await?;
        self.open("/settings", "heading", "Settings").await?;
        self.examine("settings").await?;
        self.open("/nowhere", "heading", "Nothing here").await?;
        self.examine("a missing page").await
    }
}

/// Guards against missing accessible names, insufficient contrast, and states that assistive technology can't read.
#[tokio::test(flavor = "multi_thread")]
async fn axe_finds_nothing_on_any_page_state_in_light_and_dark() {
    let name = "axe_finds_nothing_on_any_page_state_in_light_and_dark";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "2"]).await?;
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

/// Guards against the same violations on a first visit, and at every address with completed and failed tasks.
#[tokio::test(flavor = "multi_thread")]
async fn axe_finds_nothing_on_first_visit_and_at_any_address() {
    drive(
        "axe_finds_nothing_on_first_visit_and_at_any_address",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
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
            tour::create_content(browser, &address).await?;
            for page in tour::pages(browser, &address).await? {
                browser.open(&format!("{address}{page}")).await?;
                examination.examine(&page).await?;
            }
            let found = examination.found.join("\n");
            assert!(found.is_empty(), "{found}");
            Ok(())
        },
    )
    .await;
}

/// Emulates a phone with touch input.
async fn emulate_phone(browser: &Browser, width: u32) -> Result<()> {
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

/// Returns how much the page is wider than the viewport.
const TOO_WIDE: &str = "
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    return wide > 0 ? [`${wide} px too wide`] : [];";

/// Returns the controls whose touch target is smaller than 44 px around their center. Excludes links within text,
/// cells of tables, large pictures, and controls behind a dialog or the backdrop of a sheet.
const SMALL_TARGETS: &str = "
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
        const isHit = (x, y) => {
            const hit = document.elementFromPoint(x, y);
            return !hit || target.contains(hit) || hit.contains(it) && hit.localName === 'label' || hit.control === it;
        };
        const reach = 21;
        const missed = [[x - reach, y], [x + reach, y], [x, y - reach], [x, y + reach]]
            .filter(([x, y]) => !isHit(x, y)).map(([x, y]) => document.elementFromPoint(x, y).outerHTML.slice(0, 60));
        if (missed.length) found.push(`${it.localName} “${it.getAttribute('aria-label') ?? it.textContent.trim().slice(0, 30)}” `
            + `${width.toFixed(0)} × ${height.toFixed(0)}, next to it ${missed[0]}`);
    }
    return [...new Set(found)];";

async fn find_small_targets(browser: &Browser, page: &str, width: u32) -> Result<Vec<String>> {
    browser.wait_until_settled().await?;
    let mut found = Vec::new();
    for script in [TOO_WIDE, SMALL_TARGETS] {
        let lines = browser.run(script, vec![]).await?;
        let lines = lines.as_array().ok_or("the script returned no list")?;
        let lines = lines.iter().filter_map(Value::as_str);
        found.extend(lines.map(|line| format!("{page} at {width}: {line}")));
    }
    Ok(found)
}

/// Guards against pages that are wider than a phone, and against touch targets that are too small.
#[tokio::test(flavor = "multi_thread")]
async fn every_page_fits_phone_width_and_touch_target_size() {
    drive(
        "every_page_fits_phone_width_and_touch_target_size",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            let address = service.address();
            browser.open(&address).await?;
            browser.find(&by("region", "Welcome")).await?;
            tour::create_content(browser, &address).await?;
            let mut found = Vec::new();
            for width in [320, 375] {
                emulate_phone(browser, width).await?;
                for page in tour::pages(browser, &address).await? {
                    browser.open(&format!("{address}{page}")).await?;
                    found.extend(find_small_targets(browser, &page, width).await?);
                    // With a result, the form is collapsed: also check it expanded.
                    if page == "/models/image/strata" {
                        browser.press(&starting("textbox", "prompt")).await?;
                        browser.find(&by("button", "Clear form")).await?;
                        let state = format!("{page}, expanded");
                        found.extend(find_small_targets(browser, &state, width).await?);
                    }
                    if page.starts_with("/batches/") && page != "/batches/none" {
                        // After the check, the button may be under the page header.
                        browser.run("scrollTo(0, 0)", vec![]).await?;
                        browser.press(&by("button", "Explore")).await?;
                        browser.find(&by("dialog", "Sweep")).await?;
                        let state = format!("{page}, explored");
                        found.extend(find_small_targets(browser, &state, width).await?);
                    }
                }
            }
            assert!(found.is_empty(), "{}", found.join("\n"));
            Ok(())
        },
    )
    .await;
}
