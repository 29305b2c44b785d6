//! Long prompts in the grid of a batch and in comparisons.

use crate::studio::{TIMEOUT, run_steps};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};

const BEGINNING: &str =
    "a wide alpine valley seen from a high ridge in the cold of a late autumn morning";
const END: &str = "painted in soft gouache with visible strokes, generous empty space, a calm and slightly lonely mood, \
                   after the travel posters of the early twentieth century";

/// A script that returns the beginnings of the column headings, and whether the headings are low enough to leave space for
/// the images.
const HEADS: &str = "
    const heads = [...document.querySelectorAll('.thumbs-table thead th:not(.corner)')];
    const high = Math.max(...heads.map(head => head.getBoundingClientRect().height));
    return `${heads.map(head => head.innerText.slice(0, 24)).join('|')} ${high < 90 ? 'low' : 'high'}`";

/// Guards against column headings that are higher than the images, and whose visible parts are equal.
#[tokio::test(flavor = "multi_thread")]
async fn long_prompts_are_shortened_to_low_distinct_headings() {
    let name = "long_prompts_are_shortened_to_low_distinct_headings";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        studio.choose("Sweep").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[0].select_by_value("prompt").await?;
        let prompt_with = |light: &str| format!("{BEGINNING}, {light}, {END}");
        let prompts = [prompt_with("teal dawn"), prompt_with("pink dusk"), format!("a city in the rain, {END}")];
        browser
            .paste(&by("textbox", "Values"), &prompts.join("\n"))
            .await?;
        // The list of parsed values does not repeat them, and the buttons are in sight.
        browser.wait_until_gone(&by("list", "Values as understood")).await?;
        studio.press("Another axis").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[1].select_by_value("glow").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[1].send_keys("0, 1").await?;
        let in_sight = "
            const add = [...document.querySelectorAll('button')].find(it => it.innerText.trim() === 'Add to the table');
            const body = document.querySelector('.composer-body').getBoundingClientRect();
            return add.getBoundingClientRect().bottom <= body.bottom + 1 ? 'in sight' : 'below'";
        wait_for_value(browser, "the button to add the sweep", in_sight, "in sight").await?;
        studio.press("Generate 6").await?;
        studio.wait_for_counts("6 completed").await?;
        let low = "…late autumn morning, te|…late autumn morning, pi|a city in the rain, pain low";
        wait_for_value(browser, "the headings", HEADS, low).await?;
        // A press on a heading shows the full name inside the window. A press outside closes it and does nothing else.
        let name = by("button", &format!("…late autumn morning, teal dawn, {END}"));
        browser.press(&name).await?;
        browser.find(&by("dialog", "Full name")).await?;
        browser.wait_for_text(&prompts[0], TIMEOUT).await?;
        let cut = "
            const all = document.querySelector('.whole-name[open]').getBoundingClientRect();
            const isSeen = all.top >= 0 && all.left >= 0 && all.bottom <= innerHeight && all.right <= innerWidth;
            return isSeen ? 'whole' : 'cut'";
        wait_for_value(browser, "the full name", cut, "whole").await?;
        let escape = browser.client.active_element().await?;
        escape.send_keys("\u{e00c}").await?;
        browser.wait_until_gone(&by("dialog", "Full name")).await?;
        wait_for_value(browser, "the headings", HEADS, low).await?;
        browser.press(&name).await?;
        let all = browser.find(&by("dialog", "Full name")).await?;
        browser.find(&by("heading", "prompt").within(&all)).await?;
        browser.press(&by("button", "Close").within(&all)).await?;
        browser.wait_until_gone(&by("dialog", "Full name")).await?;
        let has_focus = "return document.activeElement.className";
        wait_for_value(browser, "what has the focus", has_focus, "head-name").await?;
        browser.press(&name).await?;
        browser.find(&by("dialog", "Full name")).await?;
        let picture = "
            const pictures = [...document.querySelectorAll('.thumbs-table .tile-open')];
            const place = pictures.at(-1).getBoundingClientRect();
            return [place.x + place.width / 2, place.y + place.height / 2]";
        let picture = browser.run(picture, vec![]).await?;
        let at = |axis: usize| picture[axis].as_f64().unwrap_or_default();
        let press = MouseActions::new("mouse".to_owned())
            .then(PointerAction::MoveTo {
                duration: None,
                x: at(0),
                y: at(1),
            })
            .then(PointerAction::Down {
                button: MOUSE_BUTTON_LEFT,
            })
            .then(PointerAction::Up {
                button: MOUSE_BUTTON_LEFT,
            });
        browser.client.perform_actions(press).await?;
        browser.wait_until_gone(&by("dialog", "Full name")).await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;

        // A comparison marks the words in which the prompts differ.
        let compare = "
            const links = [...document.querySelectorAll('a.thumb-caption')].slice(0, 2);
            const names = links.map(link => link.pathname.split('/').pop() + '/0');
            return names.length === 2 ? `?compare=${names}` : null";
        let query = browser.run(compare, vec![]).await?;
        let query = query.as_str().ok_or("no links")?.to_owned();
        browser.open(&studio.address(&format!("/gallery{query}"))).await?;
        browser.set_size(390, 844).await?;
        let differing = "
            const marks = [...document.querySelectorAll('.differences mark')].map(it => it.innerText);
            const high = Math.max(...[...document.querySelectorAll('.compared-head')].map(it => it.offsetHeight));
            return `${marks} ${high < 60 ? 'low' : 'high'}`";
        wait_for_value(browser, "what differs", differing, "teal dawn,,pink dusk, low").await?;
        let shows_equal_words = "return document.querySelector('.differences tbody').innerText.includes('twentieth')";
        wait_for_value(browser, "equal words", shows_equal_words, false).await?;
        browser.press(&by("button", "Show all of prompt")).await?;
        wait_for_value(browser, "the whole prompt", shows_equal_words, true).await?;
        browser.wait_for_text("Show less", TIMEOUT).await
    })
    .await;
}

/// Guards against long words that overflow their elements or the window in the sweep view on a phone.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_word_does_not_overflow_in_the_sweep_view() {
    let name = "a_long_word_does_not_overflow_in_the_sweep_view";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let word = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft";
        let prompts = format!("a {word}\namber");
        browser.paste(&by("textbox", "Prompts"), &prompts).await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        browser.set_size(320, 800).await?;
        studio.press("Explore").await?;
        browser.find(&by("dialog", "Sweep")).await?;
        let overflowing = "
            const dialog = document.querySelector('dialog.lightbox[open]');
            const texts = [...dialog.querySelectorAll('p, h2, legend, .sweep-axis-value, .segments span')];
            const out = texts.filter(it => it.checkVisibility()).filter(it => {
                const { left, right, width } = it.getBoundingClientRect();
                return left < 0 || right > innerWidth || it.scrollWidth > Math.ceil(width) + 1;
            });
            return texts.length ? out.map(it => it.className || it.tagName).join() : 'no texts'";
        wait_for_value(browser, "overflowing elements", overflowing, "").await
    })
    .await;
}
