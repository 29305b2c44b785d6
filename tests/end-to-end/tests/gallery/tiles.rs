//! What is done with a tile where it lies.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;
use fantoccini::actions::{InputSource, MouseActions, PointerAction};
use serde_json::json;
use std::time::Duration;

use crate::{ENTER, RIGHT, Studio, TIMEOUT, visit};

/// Points at a tile.
async fn point_at(browser: &Browser, output: &str) -> Result<()> {
    let place = "
        const tile = document.querySelector(`[data-output='${arguments[0]}']`);
        const { left, top, width, height } = tile.getBoundingClientRect();
        return [Math.round(left + width / 2), Math.round(top + height / 2)]";
    let place = browser.run(place, vec![output.into()]).await?;
    let at = |axis: usize| place[axis].as_i64().unwrap_or_default() as f64;
    let point = MouseActions::new("mouse".to_owned()).then(PointerAction::MoveTo {
        duration: Some(Duration::ZERO),
        x: at(0),
        y: at(1),
    });
    Ok(browser.client.perform_actions(point).await?)
}

/// Gives the first tile the focus, in a window that has it: a page has the focus only once it was pressed somewhere.
async fn focus_first_tile(studio: &Studio<'_>) -> Result<()> {
    let heading = studio.browser.find(&by("heading", "Gallery")).await?;
    heading.click().await?;
    studio.focus_tile().await
}

/// Which output has the focus, and whether that is its tile.
const FOCUSED: &str = "
    const focused = document.activeElement;
    return focused.matches('.tile-open') ? focused.dataset.output : `${focused.tagName} ${focused.className}`";

/// Guards against Space that selects the tile while the heart on it has the focus.
#[tokio::test(flavor = "multi_thread")]
async fn space_presses_the_control_that_has_the_focus() {
    visit("space_presses_the_control", 1, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        let list = browser.find(&by("list", "Outputs")).await?;
        focus_first_tile(studio).await?;
        let heart = starting("button", "Favorite Image: amber").within(&list);
        browser.find(&heart).await?;
        browser
            .run("document.querySelector('.tile-favor').focus()", vec![])
            .await?;
        studio.keys(" ").await?;
        let pressed = "return document.querySelector('.tile-favor')?.ariaPressed ?? 'no button'";
        becomes(browser, "a favorite", pressed, "true").await?;
        let selected = "return String(document.querySelectorAll('.tile-select:checked').length)";
        becomes(browser, "what is selected", selected, "0").await
    })
    .await;
}

/// Guards against a caption that lies over the frame of a tile that is selected or has the focus.
#[tokio::test(flavor = "multi_thread")]
async fn a_caption_stays_within_the_frame_of_its_tile() {
    visit("a_caption_stays_within", 3, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        let inside = "
            const caption = document.querySelector('.tile-prompt');
            if (!caption) return 'no caption';
            const frame = caption.closest('.tile').getBoundingClientRect();
            const box = caption.getBoundingClientRect();
            const free = [box.left - frame.left, frame.right - box.right, frame.bottom - box.bottom];
            const words = caption.scrollWidth <= caption.clientWidth ? 'whole' : 'cut';
            return `${Math.min(...free) >= 2 ? 'within' : 'over'} the frame, ${words}`";
        for width in [320, 1280] {
            browser.set_size(width, 900).await?;
            focus_first_tile(studio).await?;
            // A key: only then has it the mark of the focus.
            studio.keys(RIGHT).await?;
            for what in ["of the focus", "of the selection"] {
                becomes(browser, what, inside, "within the frame, whole").await?;
                studio.keys("x").await?;
            }
        }
        Ok(())
    })
    .await;
}

/// Guards against tiles that can only be selected: a favorite or a file took the way through the large view; and
/// against buttons that the keyboard has to pass, one by one, on its way from tile to tile.
#[tokio::test(flavor = "multi_thread")]
async fn a_tile_is_a_favorite_and_a_file_at_one_press() {
    visit("a_tile_is_a_favorite", 3, async |studio| {
        let browser = studio.browser;
        // A tile has its buttons while it has the focus.
        browser.needs(Capability::FocusedWindow)?;
        let list = browser.find(&by("list", "Outputs")).await?;
        let favor = by("button", "Favorite Image: cobalt harbour 1").within(&list);
        let save = by("button", "Download Image: cobalt harbour 1").within(&list);

        // With the pointer, which leaves the focus alone.
        point_at(browser, "made-00001/0").await?;
        let heart = browser.find(&favor).await?;
        heart.click().await?;
        let pressed = "return document.querySelector('.tile-favor')?.ariaPressed ?? 'no button'";
        becomes(browser, "a favorite", pressed, "true").await?;
        browser.press(&save).await?;
        browser.downloaded(1, ".svg").await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.sees_outputs(1).await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.sees_outputs(6).await?;

        // At the keyboard each has a key, and the way from tile to tile is as short as it was.
        let stops = "
            const inList = [...document.querySelectorAll('.gallery > ul *')];
            return String(inList.filter(it => it.tabIndex === 0).length)";
        studio.focus_tile().await?;
        browser
            .find(&starting("button", "Favorite Image: rose").within(&list))
            .await?;
        becomes(browser, "one stop for all tiles", stops, "1").await?;
        studio.keys(RIGHT).await?;
        studio.keys("f").await?;
        becomes(browser, "a favorite by its key", pressed, "true").await?;
        becomes(browser, "the focus", FOCUSED, "made-00002/1").await?;
        studio.keys("d").await?;
        browser.downloaded(2, ".svg").await?;
        studio.keys("f").await?;
        becomes(browser, "no favorite any more", pressed, "false").await?;
        // The list of keys has them.
        studio.keys("?").await?;
        browser.see_text("Toggle favorite", TIMEOUT).await
    })
    .await;
}

/// Guards against a circle on every picture while a person does not mean to choose any, against a picture that is told
/// apart by its prompt alone and does not say it, and against a prompt under the buttons.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_lies_on_a_picture_until_somebody_comes_near() {
    visit("nothing_lies_on_a_picture", 2, async |studio| {
        let browser = studio.browser;
        // Where no finger points, which is the case here.
        let marks = "
            const marks = [...document.querySelectorAll('.tile-select')];
            return `${marks.filter(it => getComputedStyle(it).opacity === '1').length} of ${marks.length}`";
        becomes(browser, "marks at rest", marks, "0 of 0").await?;
        let prompts = "return [...document.querySelectorAll('.tile-prompt')].map(it => it.innerText.trim()).join()";
        becomes(browser, "prompts at rest", prompts, "").await?;

        point_at(browser, "made-00001/0").await?;
        becomes(browser, "the mark of one", marks, "1 of 1").await?;
        becomes(browser, "the prompt of one", prompts, "cobalt harbour 1").await?;
        let lies_free = "
            const words = document.querySelector('.tile-prompt > span')?.getBoundingClientRect();
            const buttons = [...document.querySelectorAll('.tile-actions button')].map(it => it.getBoundingClientRect());
            const tile = document.querySelector('.tile:has(.tile-prompt)')?.getBoundingClientRect();
            return !!words && buttons.length === 2 && words.bottom <= tile.bottom
                && buttons.every(it => it.bottom <= words.top)";
        becomes(browser, "a prompt below the buttons", lies_free, true).await?;

        // It is pressed with the mouse, and found by a person who sees none of it.
        let list = browser.find(&by("list", "Outputs")).await?;
        let mark = by("checkbox", "Select Image: cobalt harbour 1").within(&list);
        let marks_of_task = browser.find_all(&mark).await?;
        let mark = marks_of_task.first().ok_or("there is no such mark")?;
        mark.click().await?;
        becomes(browser, "the marks of all", marks, "4 of 4").await?;
        browser.press(&by("button", "Select none")).await
    })
    .await;
}

/// Guards against a mark that only a pointer brings.
#[tokio::test(flavor = "multi_thread")]
async fn the_focus_shows_the_mark_and_has_a_key_for_it() {
    visit("the_focus_shows_the_mark", 1, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        studio.focus_tile().await?;
        studio.keys(RIGHT).await?;
        let focused = "return document.querySelectorAll('.tile:focus-within .tile-select').length";
        becomes(browser, "the mark of the focused one", focused, 1).await?;
        studio.keys("x").await?;
        browser.find(&by("button", "Select none")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a heart that is lost on a pale picture.
#[tokio::test(flavor = "multi_thread")]
async fn a_favorite_is_seen_on_any_picture() {
    visit("a_favorite_is_seen", 1, async |studio| {
        let browser = studio.browser;
        // Else its tile keeps the focus, and with it the buttons.
        browser.needs(Capability::FocusedWindow)?;
        studio.focus_tile().await?;
        studio.keys("f").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        // White on its glass, over white.
        let contrast = "
            const tile = document.querySelector('.tile.favorite');
            const heart = tile && getComputedStyle(tile, '::after');
            if (heart?.visibility !== 'visible' || !heart.backgroundImage.startsWith('url(')) return 'no heart';
            const share = Number(heart.backgroundColor.match(/rgba\\(0, 0, 0, ([\\d.]+)\\)/)?.[1] ?? 0);
            const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            return 1.05 / (linear(1 - share) + 0.05) >= 4.5 ? 'seen' : 'lost'";
        becomes(browser, "the heart", contrast, "seen").await
    })
    .await;
}

/// Guards against one wide picture a row on a phone.
#[tokio::test(flavor = "multi_thread")]
async fn two_stand_in_a_row_on_a_phone() {
    visit("two_stand_in_a_row", 8, async |studio| {
        let browser = studio.browser;
        browser.set_size(320, 900).await?;
        studio.open("/gallery").await?;
        studio.sees_outputs(16).await?;
        // The last of a day may stand alone.
        let rows = "
            const tiles = [...document.querySelectorAll('.tile')].map(tile => tile.getBoundingClientRect());
            const heads = [...document.querySelectorAll('.gallery > h2')].map(head => head.getBoundingClientRect().top);
            const isLast = bottom => heads.some(top => Math.abs(top - bottom) < 10);
            const alone = tiles.filter(({ top, bottom }) =>
                !isLast(bottom) && tiles.filter(other => Math.abs(other.top - top) < 1).length < 2);
            return tiles.length < 4 ? 'no tiles' : alone.length ? `${alone.length} alone` : 'two or more'";
        becomes(browser, "rows of a phone", rows, "two or more").await
    })
    .await;
}

/// Guards against a button that is dimmed and does not say why.
#[tokio::test(flavor = "multi_thread")]
async fn compare_says_how_many_it_takes() {
    visit("compare_says_how_many", 4, async |studio| {
        let browser = studio.browser;
        studio.focus_tile().await?;
        studio.keys("x").await?;
        let bar = browser.find(&by("region", "Selection")).await?;
        let compare = by("button", "Compare").within(&bar);
        let why = "
            const button = [...document.querySelectorAll('.selection button')].find(it => it.innerText.trim() === 'Compare');
            return `${button.ariaDisabled} ${button.title}`";
        becomes(browser, "why not", why, "true Choose two to four").await?;
        // It can be reached, so that its title is read; and does nothing.
        let button = browser.find(&compare).await?;
        button.send_keys(ENTER).await?;
        studio.is_at("/gallery").await?;
        let dialogs = browser.find_all(&by("dialog", "Compare")).await?;
        assert_eq!(json!(dialogs.len()), json!(0));
        studio.focus_tile().await?;
        studio.keys(RIGHT).await?;
        studio.keys("x").await?;
        becomes(browser, "what it does", why, "false Side by side").await?;
        browser.press(&compare).await?;
        browser.find(&by("dialog", "Compare")).await?;
        Ok(())
    })
    .await;
}

/// Guards against fifteen buttons of four kinds next to a picture: what is done most is in tiles of one kind and size
/// that have room for their words, what is done seldom is in a menu, and a link can be copied without looking for it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_most_is_in_even_tiles() {
    visit("what_is_done_most", 2, async |studio| {
        let browser = studio.browser;
        studio.open("/gallery?lightbox=made-00001/0").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        for name in [
            "Favorite",
            "Vary",
            "Use as input",
            "Download",
            "Compare",
            "Run again",
            "Copy link",
        ] {
            browser.find(&by("button", name).within(&dialog)).await?;
        }
        let tiles = "
            const { children } = document.querySelector('.lightbox-actions');
            const drawn = [...children].filter(it => it.checkVisibility() && !it.matches('.menu'));
            const count = measured => new Set(drawn.map(measured)).size;
            const rows = count(it => Math.round(it.getBoundingClientRect().top));
            const heights = count(it => Math.round(it.getBoundingClientRect().height));
            const looks = count(it => getComputedStyle(it.querySelector('button') ?? it).backgroundColor);
            const cramped = [...document.querySelectorAll('.lightbox-actions .word')].filter(word => {
                const room = word.closest('button').clientWidth - word.getBoundingClientRect().width;
                return room < 8 || word.getClientRects().length > 1 || word.offsetHeight > 20;
            });
            return `${drawn.length} in ${rows} rows of ${heights} height, ${looks} kind, ${cramped.length} cramped`";
        for (width, rows) in [(1440, 2), (768, 1), (320, 2)] {
            browser.set_size(width, 900).await?;
            let even = format!("5 in {rows} rows of 1 height, 1 kind, 0 cramped");
            becomes(browser, "even tiles", tiles, even).await?;
        }
        let seldom = "
            const button = [...document.querySelectorAll('dialog[open] button')].find(it => it.innerText.trim() === 'Copy output URL');
            return button.closest('[popover]').matches(':popover-open') ? 'in sight' : 'in a menu'";
        becomes(browser, "what is done seldom", seldom, "in a menu").await?;
        browser.press(&by("button", "More").within(&dialog)).await?;
        becomes(browser, "what is done seldom", seldom, "in sight").await?;
        browser.find(&by("link", "Show task").within(&dialog)).await?;
        Ok(())
    })
    .await;
}

const DOWN: &str = "\u{e015}";
const UP: &str = "\u{e013}";
const SPACE: &str = "\u{e00d}";

/// Guards against a stop of Tab for each of thousands, a focus that is gone where its tile is out of sight, and a
/// heading of the day that is out of sight while its day is not.
#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_goes_anywhere_and_comes_back() {
    visit("the_keyboard_goes_anywhere", 100, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        studio.focus_tile().await?;
        let is_seen = "
            const { top, bottom } = document.activeElement.getBoundingClientRect();
            return document.activeElement.matches('.tile-open') && top > 60 && bottom < innerHeight + 1";
        for key in [DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, UP, UP, UP, UP, UP] {
            studio.keys(key).await?;
            becomes(browser, "the tile in sight", is_seen, true).await?;
        }
        let before = browser.run(FOCUSED, vec![]).await?;
        let far = "scrollTo(0, document.documentElement.scrollHeight)";
        browser.run(far, vec![]).await?;
        becomes(browser, "the day in sight", DAY, 1).await?;
        becomes(browser, "the focus", FOCUSED, before).await?;
        // It chooses where it is, and the next arrow leads on from there.
        studio.keys(SPACE).await?;
        browser.see_text("1 selected", TIMEOUT).await?;
        studio.is_at("/gallery").await?;
        studio.keys(RIGHT).await?;
        becomes(browser, "the tile in sight", is_seen, true).await
    })
    .await;
}

/// So many headings are right below the bar although their days begin above the screen.
const DAY: &str = "
    const held = [...document.querySelectorAll('.gallery > h2')].filter(day => {
        const { top, bottom } = day.firstElementChild.getBoundingClientRect();
        return day.getBoundingClientRect().top < 0 && top < 100 && bottom > 60;
    });
    return held.length";
