//! What a visitor sees and does before the program is there (boot/): it is the list that the program then
//! shows, and nothing that was done in it is lost.

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

/// The page in front of a service; its program is held back until the rules are forgotten.
async fn held_back(browser: &Browser) -> Result<(Service, FaultProxy)> {
    let service = Service::with_site(&[]).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    let wasm = wasm(&service.address()).await?;
    proxy.add(Rule::every(&wasm, Fault::Hold));
    browser.open(&format!("{}/", proxy.address())).await?;
    browser.find(&starting("link", "Strata")).await?;
    assert!(is_booting(browser).await?, "the program was not held back");
    Ok((service, proxy))
}

/// The path of the first wasm file.
async fn wasm(address: &str) -> Result<String> {
    let (_, page) = atelier_end_to_end::http::get(&format!("{address}/")).await?;
    let page = String::from_utf8_lossy(&page);
    let (before, _) = page.split_once("_bg.wasm").ok_or("the page has no wasm")?;
    let start = before.rfind('/').ok_or("its wasm has no path")?;
    Ok(format!("{}_bg.wasm", &before[start..]))
}

async fn is_booting(browser: &Browser) -> Result<bool> {
    let script = "return document.getElementById('boot') !== null";
    Ok(browser.run(script, vec![]).await? == true)
}

/// What is there to read, press and hear, and where: whole pixels are as exact as the program's own rows.
const SHAPE: &str = "
    const shown = 'header.bar a, h1, h2, main [role=status], .welcome, .welcome p, .welcome a, .welcome button, '
        + 'input, .chip, .model-card, .model-card .cover, .model-card p';
    return [...document.querySelectorAll(shown)].filter((it) => it.checkVisibility()).map((it) => {
        const { x, y, width, height } = it.getBoundingClientRect();
        const words = [it.getAttribute('aria-label'), it.getAttribute('href'), it.getAttribute('aria-current'),
            it.checked, it.placeholder, it.innerText.replace(/\\s+/g, '')];
        return { what: [it.localName, ...words].join('|'), box: [x, y, width, height] };
    });";

/// Guards against a first screen that is another one than the program's: the page would jump, or change
/// its words, under the eyes.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_screen_is_the_program_s() {
    drive("the_first_screen_is_the_program_s", async |browser| {
        for (width, height) in [(1280, 2400), (375, 2400), (2560, 1400)] {
            browser.set_size(width, height).await?;
            let (_service, proxy) = held_back(browser).await?;
            let before = browser.run(SHAPE, vec![]).await?;
            // Once the list was there, it is there in every frame.
            let watch = "window.gaps = 0;
                (function look() {
                    if (!document.querySelector('li h3 a')) window.gaps += 1;
                    requestAnimationFrame(look);
                })();";
            browser.run(watch, vec![]).await?;
            proxy.clear();
            // The typeface comes with it, and is a little wider; that it moves nothing else is of the suite on accessibility.
            proxy.add(Rule::every("/deferred-*", Fault::Hold));
            until("the program", TIMEOUT, async || {
                Ok(if is_booting(browser).await? {
                    Seen::NotYet("only what stands there before it".into())
                } else {
                    Seen::Yes(())
                })
            })
            .await?;
            let after = browser.run(SHAPE, vec![]).await?;
            let (before, after) = (pieces(&before), pieces(&after));
            let words = |of: &[(String, Vec<f64>)]| -> Vec<String> {
                of.iter().map(|(what, _)| what.clone()).collect()
            };
            assert_eq!(words(&before), words(&after), "at {width}");
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

fn pieces(shape: &Value) -> Vec<(String, Vec<f64>)> {
    let piece = |it: &Value| {
        let numbers = it["box"].as_array().into_iter().flatten();
        let numbers = numbers.filter_map(Value::as_f64).collect();
        (it["what"].as_str().unwrap_or_default().to_owned(), numbers)
    };
    shape.as_array().into_iter().flatten().map(piece).collect()
}

/// Guards against a press that is lost, or that begins from nothing, because the program was not there.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_pressed_before_the_program_is_opened_by_it() {
    let name = "a_model_that_is_pressed_before_the_program_is_opened_by_it";
    drive(name, async |browser| {
        let (_service, proxy) = held_back(browser).await?;
        browser.press(&starting("link", "Strata")).await?;
        browser.see_text("Atelier is opening…", TIMEOUT).await?;
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

/// Guards against a press that is lost because the program came between its beginning and its end.
#[tokio::test(flavor = "multi_thread")]
async fn a_press_that_begins_before_the_program_ends_before_it() {
    let name = "a_press_that_begins_before_the_program_ends_before_it";
    drive(name, async |browser| {
        let (_service, proxy) = held_back(browser).await?;
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
        assert!(is_booting(browser).await?, "the program came meanwhile");
        let up = MouseActions::new("mouse".to_owned()).then(PointerAction::Up { button });
        browser.client.perform_actions(up).await?;
        browser.find(&by("button", "Generate")).await?;
        browser.find(&by("heading", "Strata")).await?;
        Ok(())
    })
    .await;
}

/// Guards against letters and choices that are lost when the program comes while a person types.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_sought_before_the_program_is_found_by_it() {
    let name = "what_is_sought_before_the_program_is_found_by_it";
    drive(name, async |browser| {
        let (_service, proxy) = held_back(browser).await?;
        browser.press(&starting("radio", "image")).await?;
        let search = by("searchbox", "Search models");
        browser.fill(&search, "tess").await?;
        proxy.clear();
        browser.find_gone(&starting("link", "Strata")).await?;
        browser.find(&starting("link", "Tessera")).await?;
        let script = "const { activeElement: it } = document;
            return [it.getAttribute('aria-label'), it.value, it.selectionStart,
                document.querySelector('[name=category]:checked').parentElement.textContent]";
        let wanted = json!(["Search models", "tess", 4, "image"]);
        // The field has the focus from the frame after the list's on.
        until("the field as it was", TIMEOUT, async || {
            let now = browser.run(script, vec![]).await?;
            Ok(if now == wanted {
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

/// Guards against a list that jumps to its top when the program comes: who has scrolled loses the place,
/// or presses another model than the one under the finger.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_stays_where_it_was_scrolled_to() {
    let name = "the_list_stays_where_it_was_scrolled_to";
    drive(name, async |browser| {
        browser.set_size(420, 500).await?;
        let (_service, proxy) = held_back(browser).await?;
        // A person sees the same card at the same place in every frame.
        let watch = "
            const link = [...document.querySelectorAll('li h3 a')].at(-1);
            link.scrollIntoView({ block: 'center', behavior: 'instant' });
            const [href, { y }] = [link.getAttribute('href'), link.getBoundingClientRect()];
            window.jumps = [];
            (function look() {
                const now = document.querySelector(`a[href='${href}']`)?.getBoundingClientRect().y;
                if (!(Math.abs(now - y) < 1.5)) window.jumps.push(now ?? null);
                requestAnimationFrame(look);
            })();
            return scrollY";
        let scrolled = browser.run(watch, vec![]).await?;
        assert!(scrolled.as_f64() > Some(300.0), "{scrolled}");
        proxy.clear();
        until("the program", TIMEOUT, async || {
            Ok(if is_booting(browser).await? {
                Seen::NotYet("only what stands there before it".into())
            } else {
                Seen::Yes(())
            })
        })
        .await?;
        // The later part of the program may come meanwhile.
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(browser.run("return window.jumps", vec![]).await?, json!([]));
        assert_eq!(browser.run("return scrollY", vec![]).await?, scrolled);
        Ok(())
    })
    .await;
}
