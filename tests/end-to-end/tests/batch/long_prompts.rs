//! Prompts as long as people write them, where pictures are what is looked at.

use crate::studio::{TIMEOUT, visit};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};

const BEGINNING: &str =
    "a wide alpine valley seen from a high ridge in the cold of a late autumn morning";
const END: &str = "painted in soft gouache with visible strokes, generous empty space, a calm and slightly lonely mood, \
                   after the travel posters of the early twentieth century";

/// What stands above the columns, and whether it leaves the room to the pictures.
const HEADS: &str = "
    const heads = [...document.querySelectorAll('.thumbs-table thead th:not(.corner)')];
    const high = Math.max(...heads.map(head => head.getBoundingClientRect().height));
    return `${heads.map(head => head.innerText.slice(0, 24)).join('|')} ${high < 90 ? 'low' : 'high'}`";

/// Guards against names of columns that take more room than the pictures, and are the same as far as they are seen.
#[tokio::test(flavor = "multi_thread")]
async fn long_prompts_leave_the_room_to_the_pictures() {
    visit("long_prompts_leave", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        studio.choose("Sweep").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[0].select_by_value("prompt").await?;
        let of = |light: &str| format!("{BEGINNING}, {light}, {END}");
        let prompts = [of("teal dawn"), of("pink dusk"), format!("a city in the rain, {END}")];
        browser
            .paste(&by("textbox", "Values"), &prompts.join("\n"))
            .await?;
        // They stand there once, and what is done with them is in sight.
        browser.find_gone(&by("list", "Values as understood")).await?;
        studio.press("Another axis").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[1].select_by_value("glow").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[1].send_keys("0, 1").await?;
        let in_sight = "
            const add = [...document.querySelectorAll('button')].find(it => it.innerText.trim() === 'Add to the table');
            const body = document.querySelector('.composer-body').getBoundingClientRect();
            return add.getBoundingClientRect().bottom <= body.bottom + 1 ? 'in sight' : 'below'";
        becomes(browser, "the button that adds it", in_sight, "in sight").await?;
        studio.press("Generate 6").await?;
        studio.see_counts("6 completed").await?;
        let low = "…late autumn morning, te|…late autumn morning, pi|a city in the rain, pain low";
        becomes(browser, "the names", HEADS, low).await?;
        // All of one is there at a press, whole in the window; pressed away, nothing behind it is pressed.
        let name = by("button", &format!("…late autumn morning, teal dawn, {END}"));
        browser.press(&name).await?;
        browser.find(&by("dialog", "Full name")).await?;
        browser.see_text(&prompts[0], TIMEOUT).await?;
        let cut = "
            const all = document.querySelector('.whole-name[open]').getBoundingClientRect();
            const isSeen = all.top >= 0 && all.left >= 0 && all.bottom <= innerHeight && all.right <= innerWidth;
            return isSeen ? 'whole' : 'cut'";
        becomes(browser, "the name", cut, "whole").await?;
        let escape = browser.client.active_element().await?;
        escape.send_keys("\u{e00c}").await?;
        browser.find_gone(&by("dialog", "Full name")).await?;
        becomes(browser, "the names", HEADS, low).await?;
        browser.press(&name).await?;
        let all = browser.find(&by("dialog", "Full name")).await?;
        browser.find(&by("heading", "prompt").within(&all)).await?;
        browser.press(&by("button", "Close").within(&all)).await?;
        browser.find_gone(&by("dialog", "Full name")).await?;
        let has_focus = "return document.activeElement.className";
        becomes(browser, "what has the focus", has_focus, "head-name").await?;
        browser.press(&name).await?;
        browser.find(&by("dialog", "Full name")).await?;
        let picture = "
            const pictures = [...document.querySelectorAll('.thumbs-table .tile-open')];
            const place = pictures.at(-1).getBoundingClientRect();
            return [place.x + place.width / 2, place.y + place.height / 2]";
        let picture = browser.run(picture, vec![]).await?;
        let at = |way: usize| picture[way].as_f64().unwrap_or_default();
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
        browser.find_gone(&by("dialog", "Full name")).await?;
        browser.find_gone(&by("dialog", "Output")).await?;

        // Where they are compared it is said in which words they differ.
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
        becomes(browser, "what differs", differing, "teal dawn,,pink dusk, low").await?;
        let words = "return document.querySelector('.differences tbody').innerText.includes('twentieth')";
        becomes(browser, "what is the same", words, false).await?;
        browser.press(&by("button", "Show all of prompt")).await?;
        becomes(browser, "all of it", words, true).await?;
        browser.see_text("Show less", TIMEOUT).await
    })
    .await;
}

/// Guards against words that reach beyond what they stand in, and beyond the window, where items are explored on a phone.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_word_stays_in_its_place_where_items_are_explored() {
    visit("a_long_word_stays_in_its_place", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let word = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft";
        let prompts = format!("a {word}\namber");
        browser.paste(&by("textbox", "Prompts"), &prompts).await?;
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await?;
        browser.set_size(320, 800).await?;
        studio.press("Explore").await?;
        browser.find(&by("dialog", "Sweep")).await?;
        let beyond = "
            const dialog = document.querySelector('dialog.lightbox[open]');
            const words = [...dialog.querySelectorAll('p, h2, legend, .sweep-axis-value, .segments span')];
            const out = words.filter(it => it.checkVisibility()).filter(it => {
                const { left, right, width } = it.getBoundingClientRect();
                return left < 0 || right > innerWidth || it.scrollWidth > Math.ceil(width) + 1;
            });
            return words.length ? out.map(it => it.className || it.tagName).join() : 'no words'";
        becomes(browser, "what reaches beyond its place", beyond, "").await
    })
    .await;
}
