//! Tests of the static start page (boot/), before the app is loaded: it looks like the app's model list, and user
//! input is kept when the app starts.

use std::time::Duration;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Opens the start page through a proxy that holds the wasm file until the rules are removed.
async fn open_without_app(browser: &Browser) -> Result<(Service, FaultProxy)> {
    let service = Service::start_with_site(&[]).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    let wasm = wasm_path(&service.address()).await?;
    proxy.add(Rule::every(&wasm, Fault::Hold));
    browser.open(&format!("{}/", proxy.address())).await?;
    browser.find(&starting("link", "Strata")).await?;
    assert!(is_booting(browser).await?, "the app was not held back");
    Ok((service, proxy))
}

/// Returns the path of the first wasm file.
async fn wasm_path(address: &str) -> Result<String> {
    let (_, page) = atelier_end_to_end::http::get(&format!("{address}/")).await?;
    let page = String::from_utf8_lossy(&page);
    let (before, _) = page.split_once("_bg.wasm").ok_or("the page has no wasm")?;
    let start = before.rfind('/').ok_or("the wasm file has no path")?;
    Ok(format!("{}_bg.wasm", &before[start..]))
}

async fn is_booting(browser: &Browser) -> Result<bool> {
    let script = "return document.getElementById('boot') !== null";
    Ok(browser.run(script, vec![]).await? == true)
}

/// Returns the visible texts, controls and status messages with their positions.
const VISIBLE_ELEMENTS: &str = "
    const shown = 'header.bar a, h1, h2, main [role=status], .welcome, .welcome p, .welcome a, .welcome button, '
        + 'input, .chip, .model-card, .model-card .cover, .model-card p';
    return [...document.querySelectorAll(shown)].filter((it) => it.checkVisibility()).map((it) => {
        const { x, y, width, height } = it.getBoundingClientRect();
        const words = [it.getAttribute('aria-label'), it.getAttribute('href'), it.getAttribute('aria-current'),
            it.checked, it.placeholder, it.innerText.replace(/\\s+/g, '')];
        return { what: [it.localName, ...words].join('|'), box: [x, y, width, height] };
    });";

/// Guards against a start page that differs from the app: the page would shift, or its texts would change.
#[tokio::test(flavor = "multi_thread")]
async fn static_start_page_is_identical_to_app() {
    drive("static_start_page_is_identical_to_app", async |browser| {
        for (width, height) in [(1280, 2400), (375, 2400), (2560, 1400)] {
            browser.set_size(width, height).await?;
            let (_service, proxy) = open_without_app(browser).await?;
            let before = browser.run(VISIBLE_ELEMENTS, vec![]).await?;
            // Counts the frames without the list.
            let watch = "window.gaps = 0;
                (function check() {
                    if (!document.querySelector('li h3 a')) window.gaps += 1;
                    requestAnimationFrame(check);
                })();";
            browser.run(watch, vec![]).await?;
            proxy.clear();
            // Holds the deferred part, which brings the wider web font. The accessibility suite checks its layout
            // shifts.
            proxy.add(Rule::every("/deferred-*", Fault::Hold));
            until("the app to start", TIMEOUT, async || {
                Ok(if is_booting(browser).await? {
                    Seen::NotYet("still the static start page".into())
                } else {
                    Seen::Yes(())
                })
            })
            .await?;
            let after = browser.run(VISIBLE_ELEMENTS, vec![]).await?;
            let (before, after) = (elements(&before), elements(&after));
            let texts = |of: &[(String, Vec<f64>)]| -> Vec<String> {
                of.iter().map(|(what, _)| what.clone()).collect()
            };
            assert_eq!(texts(&before), texts(&after), "at {width}");
            for ((what, from), (_, to)) in before.iter().zip(&after) {
                let moved = from
                    .iter()
                    .zip(to)
                    .any(|(from, to)| (from - to).abs() > 1.5);
                assert!(!moved, "{what} at {width}: {from:?}, then {to:?}");
            }
            assert_eq!(browser.run("return window.gaps", vec![]).await?, json!(0));
        }
        Ok(())
    })
    .await;
}

fn elements(shape: &Value) -> Vec<(String, Vec<f64>)> {
    let element = |it: &Value| {
        let numbers = it["box"].as_array().into_iter().flatten();
        let numbers = numbers.filter_map(Value::as_f64).collect();
        (it["what"].as_str().unwrap_or_default().to_owned(), numbers)
    };
    shape
        .as_array()
        .into_iter()
        .flatten()
        .map(element)
        .collect()
}

/// Guards against a press that is lost, or that reloads the page, because the app was not loaded.
#[tokio::test(flavor = "multi_thread")]
async fn model_pressed_before_app_start_is_opened() {
    let name = "model_pressed_before_app_start_is_opened";
    drive(name, async |browser| {
        let (_service, proxy) = open_without_app(browser).await?;
        browser.press(&starting("link", "Strata")).await?;
        browser
            .wait_for_text("Atelier is opening…", TIMEOUT)
            .await?;
        assert_eq!(
            proxy.calls_to("/index.html").len() + proxy.calls_to("/").len(),
            1
        );
        proxy.clear();
        browser.find(&by("heading", "Strata")).await?;
        browser.find(&by("button", "Generate")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a press that is lost because the app replaces the page between pointer down and up.
#[tokio::test(flavor = "multi_thread")]
async fn app_start_waits_until_pointer_is_released() {
    let name = "app_start_waits_until_pointer_is_released";
    drive(name, async |browser| {
        let (_service, proxy) = open_without_app(browser).await?;
        let link = browser.find(&starting("link", "Strata")).await?;
        let (x, y, width, height) = link.rectangle().await?;
        let (x, y) = (x + width / 2.0, y + height / 2.0);
        let button = MOUSE_BUTTON_LEFT;
        let down = MouseActions::new("mouse".to_owned())
            .then(PointerAction::MoveTo {
                duration: None,
                x,
                y,
            })
            .then(PointerAction::Down { button });
        browser.client.perform_actions(down).await?;
        proxy.clear();
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(is_booting(browser).await?, "the app started meanwhile");
        let up = MouseActions::new("mouse".to_owned()).then(PointerAction::Up { button });
        browser.client.perform_actions(up).await?;
        browser.find(&by("button", "Generate")).await?;
        browser.find(&by("heading", "Strata")).await?;
        Ok(())
    })
    .await;
}

/// Guards against input that is lost when the app starts while the user types.
#[tokio::test(flavor = "multi_thread")]
async fn search_typed_before_app_start_is_kept() {
    let name = "search_typed_before_app_start_is_kept";
    drive(name, async |browser| {
        let (_service, proxy) = open_without_app(browser).await?;
        browser.press(&starting("radio", "image")).await?;
        let search = by("searchbox", "Search models");
        browser.fill(&search, "tess").await?;
        proxy.clear();
        browser.wait_until_gone(&starting("link", "Strata")).await?;
        browser.find(&starting("link", "Tessera")).await?;
        let script = "const { activeElement: it } = document;
            return [it.getAttribute('aria-label'), it.value, it.selectionStart,
                document.querySelector('[name=category]:checked').parentElement.textContent]";
        let expected = json!(["Search models", "tess", 4, "image"]);
        // The field gets the focus one frame after the list is rendered.
        until("the state of the search field", TIMEOUT, async || {
            let now = browser.run(script, vec![]).await?;
            Ok(if now == expected {
                Seen::Yes(())
            } else {
                Seen::NotYet(now.to_string())
            })
        })
        .await?;
        Ok(())
    })
    .await;
}

/// Guards against a list that jumps to the top when the app starts, so that the user presses another model.
#[tokio::test(flavor = "multi_thread")]
async fn scroll_position_is_kept_when_app_starts() {
    let name = "scroll_position_is_kept_when_app_starts";
    drive(name, async |browser| {
        browser.set_size(420, 500).await?;
        let (_service, proxy) = open_without_app(browser).await?;
        // Records the frames in which the card is not at the same position.
        let watch = "
            const link = [...document.querySelectorAll('li h3 a')].at(-1);
            link.scrollIntoView({ block: 'center', behavior: 'instant' });
            const [href, { y }] = [link.getAttribute('href'), link.getBoundingClientRect()];
            window.jumps = [];
            (function check() {
                const now = document.querySelector(`a[href='${href}']`)?.getBoundingClientRect().y;
                if (!(Math.abs(now - y) < 1.5)) window.jumps.push(now ?? null);
                requestAnimationFrame(check);
            })();
            return scrollY";
        let scrolled = browser.run(watch, vec![]).await?;
        assert!(scrolled.as_f64() > Some(300.0), "{scrolled}");
        proxy.clear();
        until("the app to start", TIMEOUT, async || {
            Ok(if is_booting(browser).await? {
                Seen::NotYet("still the static start page".into())
            } else {
                Seen::Yes(())
            })
        })
        .await?;
        // The deferred part of the app may load meanwhile.
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(browser.run("return window.jumps", vec![]).await?, json!([]));
        assert_eq!(browser.run("return scrollY", vec![]).await?, scrolled);
        Ok(())
    })
    .await;
}
