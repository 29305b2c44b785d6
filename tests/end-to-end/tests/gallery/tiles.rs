//! Actions on the tiles of the gallery.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::actions::{InputSource, MouseActions, PointerAction};
use serde_json::json;
use std::time::Duration;

use crate::{ENTER, RIGHT, Studio, TIMEOUT, run_steps};

/// Moves the pointer to a tile.
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

/// Focuses the first tile. The click before it focuses the window.
async fn focus_window_and_tile(studio: &Studio<'_>) -> Result<()> {
    let heading = studio.browser.find(&by("heading", "Gallery")).await?;
    heading.click().await?;
    studio.focus_tile().await
}

/// A script that returns the output whose tile has the focus, or else a description of the focused element.
const FOCUSED: &str = "
    const focused = document.activeElement;
    return focused.matches('.tile-open') ? focused.dataset.output : `${focused.tagName} ${focused.className}`";

/// Guards against Space that selects the tile while its Favorite button has the focus.
#[tokio::test(flavor = "multi_thread")]
async fn space_presses_the_focused_control() {
    run_steps("space_presses_the_focused_control", 1, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        let list = browser.find(&by("list", "Outputs")).await?;
        focus_window_and_tile(studio).await?;
        let heart = starting("button", "Favorite Image: amber").within(&list);
        browser.find(&heart).await?;
        browser
            .run("document.querySelector('.tile-favor').focus()", vec![])
            .await?;
        studio.press_keys(" ").await?;
        let pressed = "return document.querySelector('.tile-favor')?.ariaPressed ?? 'no button'";
        wait_for_value(browser, "a favorite", pressed, "true").await?;
        let selected = "return String(document.querySelectorAll('.tile-select:checked').length)";
        wait_for_value(browser, "the number of selected tiles", selected, "0").await
    })
    .await;
}

/// Guards against a caption that covers the outline of a selected or focused tile.
#[tokio::test(flavor = "multi_thread")]
async fn a_caption_does_not_cover_the_outline_of_its_tile() {
    let name = "a_caption_does_not_cover_the_outline_of_its_tile";
    run_steps(name, 3, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        let inside = "
            const caption = document.querySelector('.tile-prompt');
            if (!caption) return 'no caption';
            const frame = caption.closest('.tile').getBoundingClientRect();
            const box = caption.getBoundingClientRect();
            const free = [box.left - frame.left, frame.right - box.right, frame.bottom - box.bottom];
            const fit = caption.scrollWidth <= caption.clientWidth ? 'whole' : 'cut';
            return `${Math.min(...free) >= 2 ? 'within' : 'over'} the frame, ${fit}`";
        for width in [320, 1280] {
            browser.set_size(width, 900).await?;
            focus_window_and_tile(studio).await?;
            // The outline appears only after a key press.
            studio.press_keys(RIGHT).await?;
            for what in ["the focused tile", "the selected tile"] {
                wait_for_value(browser, what, inside, "within the frame, whole").await?;
                studio.press_keys("x").await?;
            }
        }
        Ok(())
    })
    .await;
}

/// Guards against tiles that can be favorited or downloaded only in the lightbox, and against buttons that are tab stops
/// between the tiles.
#[tokio::test(flavor = "multi_thread")]
async fn a_tile_can_be_favorited_and_downloaded_with_one_press() {
    let name = "a_tile_can_be_favorited_and_downloaded_with_one_press";
    run_steps(name, 3, async |studio| {
        let browser = studio.browser;
        // A focused tile has buttons.
        browser.needs(Capability::FocusedWindow)?;
        let list = browser.find(&by("list", "Outputs")).await?;
        let favor = by("button", "Favorite Image: cobalt harbour 1").within(&list);
        let save = by("button", "Download Image: cobalt harbour 1").within(&list);

        // The pointer does not move the focus.
        point_at(browser, "made-00001/0").await?;
        let heart = browser.find(&favor).await?;
        heart.click().await?;
        let pressed = "return document.querySelector('.tile-favor')?.ariaPressed ?? 'no button'";
        wait_for_value(browser, "a favorite", pressed, "true").await?;
        browser.press(&save).await?;
        browser.wait_for_downloads(1, ".svg").await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.wait_for_outputs(1).await?;
        browser.press(&by("checkbox", "Favorites")).await?;
        studio.wait_for_outputs(6).await?;

        // Each action has a shortcut, and the buttons add no tab stops.
        let stops = "
            const inList = [...document.querySelectorAll('.gallery > ul *')];
            return String(inList.filter(it => it.tabIndex === 0).length)";
        studio.focus_tile().await?;
        browser
            .find(&starting("button", "Favorite Image: rose").within(&list))
            .await?;
        wait_for_value(browser, "one tab stop for all tiles", stops, "1").await?;
        studio.press_keys(RIGHT).await?;
        studio.press_keys("f").await?;
        wait_for_value(browser, "a favorite after the shortcut", pressed, "true").await?;
        wait_for_value(browser, "the focus", FOCUSED, "made-00002/1").await?;
        studio.press_keys("d").await?;
        browser.wait_for_downloads(2, ".svg").await?;
        studio.press_keys("f").await?;
        wait_for_value(browser, "not a favorite", pressed, "false").await?;
        // The list of shortcuts contains these keys.
        studio.press_keys("?").await?;
        browser.wait_for_text("Toggle favorite", TIMEOUT).await
    })
    .await;
}

/// Guards against a checkbox on every image while none is selected, against images without a visible prompt, and against a
/// prompt behind the buttons.
#[tokio::test(flavor = "multi_thread")]
async fn tiles_show_a_checkbox_and_prompt_only_under_the_pointer() {
    let name = "tiles_show_a_checkbox_and_prompt_only_under_the_pointer";
    run_steps(name, 2, async |studio| {
        let browser = studio.browser;
        // This applies to devices with a pointer, as in this test.
        let marks = "
            const marks = [...document.querySelectorAll('.tile-select')];
            return `${marks.filter(it => getComputedStyle(it).opacity === '1').length} of ${marks.length}`";
        wait_for_value(browser, "checkboxes without a pointer", marks, "0 of 0").await?;
        let prompts = "return [...document.querySelectorAll('.tile-prompt')].map(it => it.innerText.trim()).join()";
        wait_for_value(browser, "prompts without a pointer", prompts, "").await?;

        point_at(browser, "made-00001/0").await?;
        wait_for_value(browser, "the checkbox under the pointer", marks, "1 of 1").await?;
        wait_for_value(browser, "the prompt under the pointer", prompts, "cobalt harbour 1").await?;
        let is_uncovered = "
            const text = document.querySelector('.tile-prompt > span')?.getBoundingClientRect();
            const buttons = [...document.querySelectorAll('.tile-actions button')].map(it => it.getBoundingClientRect());
            const tile = document.querySelector('.tile:has(.tile-prompt)')?.getBoundingClientRect();
            return !!text && buttons.length === 2 && text.bottom <= tile.bottom
                && buttons.every(it => it.bottom <= text.top)";
        wait_for_value(browser, "a prompt below the buttons", is_uncovered, true).await?;

        // The checkbox works with the mouse and has an accessible name.
        let list = browser.find(&by("list", "Outputs")).await?;
        let checkbox = by("checkbox", "Select Image: cobalt harbour 1").within(&list);
        let checkboxes = browser.find_all(&checkbox).await?;
        let checkbox = checkboxes.first().ok_or("there is no such checkbox")?;
        checkbox.click().await?;
        wait_for_value(browser, "the checkboxes of all tiles", marks, "4 of 4").await?;
        browser.press(&by("button", "Select none")).await
    })
    .await;
}

/// Guards against a checkbox that appears only under a pointer.
#[tokio::test(flavor = "multi_thread")]
async fn a_focused_tile_shows_its_checkbox_and_can_be_selected_with_a_key() {
    let name = "a_focused_tile_shows_its_checkbox_and_can_be_selected_with_a_key";
    run_steps(name, 1, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        studio.focus_tile().await?;
        studio.press_keys(RIGHT).await?;
        let focused = "return document.querySelectorAll('.tile:focus-within .tile-select').length";
        wait_for_value(browser, "the checkbox of the focused tile", focused, 1).await?;
        studio.press_keys("x").await?;
        browser.find(&by("button", "Select none")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a heart with too little contrast on a pale image.
#[tokio::test(flavor = "multi_thread")]
async fn the_heart_of_a_favorite_has_contrast_on_any_image() {
    let name = "the_heart_of_a_favorite_has_contrast_on_any_image";
    run_steps(name, 1, async |studio| {
        let browser = studio.browser;
        // In a window without focus, the tile would keep the focus and its buttons.
        browser.needs(Capability::FocusedWindow)?;
        studio.focus_tile().await?;
        studio.press_keys("f").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        // The contrast of the white heart on its translucent background over a white image.
        let contrast = "
            const tile = document.querySelector('.tile.favorite');
            const heart = tile && getComputedStyle(tile, '::after');
            if (heart?.visibility !== 'visible' || !heart.backgroundImage.startsWith('url(')) return 'no heart';
            const share = Number(heart.backgroundColor.match(/rgba\\(0, 0, 0, ([\\d.]+)\\)/)?.[1] ?? 0);
            const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            return 1.05 / (linear(1 - share) + 0.05) >= 4.5 ? 'seen' : 'lost'";
        wait_for_value(browser, "the heart", contrast, "seen").await
    })
    .await;
}

/// Guards against rows with one wide image on a phone.
#[tokio::test(flavor = "multi_thread")]
async fn rows_on_a_phone_have_at_least_two_tiles() {
    let name = "rows_on_a_phone_have_at_least_two_tiles";
    run_steps(name, 8, async |studio| {
        let browser = studio.browser;
        browser.set_size(320, 900).await?;
        studio.open("/gallery").await?;
        studio.wait_for_outputs(16).await?;
        // The last tile of a day may be alone in its row.
        let rows = "
            const tiles = [...document.querySelectorAll('.tile')].map(tile => tile.getBoundingClientRect());
            const heads = [...document.querySelectorAll('.gallery > h2')].map(head => head.getBoundingClientRect().top);
            const isLast = bottom => heads.some(top => Math.abs(top - bottom) < 10);
            const alone = tiles.filter(({ top, bottom }) =>
                !isLast(bottom) && tiles.filter(other => Math.abs(other.top - top) < 1).length < 2);
            return tiles.length < 4 ? 'no tiles' : alone.length ? `${alone.length} alone` : 'two or more'";
        wait_for_value(browser, "rows of a phone", rows, "two or more").await
    })
    .await;
}

/// Guards against a disabled button that does not say why.
#[tokio::test(flavor = "multi_thread")]
async fn compare_says_how_many_outputs_it_needs() {
    run_steps("compare_says_how_many_outputs_it_needs", 4, async |studio| {
        let browser = studio.browser;
        studio.focus_tile().await?;
        studio.press_keys("x").await?;
        let bar = browser.find(&by("region", "Selection")).await?;
        let compare = by("button", "Compare").within(&bar);
        let state = "
            const button = [...document.querySelectorAll('.selection button')].find(it => it.innerText.trim() === 'Compare');
            return `${button.ariaDisabled} ${button.title}`";
        wait_for_value(browser, "the reason", state, "true Choose two to four").await?;
        // The button can be focused, so that its title is read, and does nothing.
        let button = browser.find(&compare).await?;
        button.send_keys(ENTER).await?;
        studio.wait_for_address("/gallery").await?;
        let dialogs = browser.find_all(&by("dialog", "Compare")).await?;
        assert_eq!(json!(dialogs.len()), json!(0));
        studio.focus_tile().await?;
        studio.press_keys(RIGHT).await?;
        studio.press_keys("x").await?;
        wait_for_value(browser, "the title", state, "false Side by side").await?;
        browser.press(&compare).await?;
        browser.find(&by("dialog", "Compare")).await?;
        Ok(())
    })
    .await;
}

/// Guards against fifteen buttons of four styles next to an image. Frequent actions are buttons of one style and size with
/// enough space for their labels, including Copy link. Rare actions are in a menu.
#[tokio::test(flavor = "multi_thread")]
async fn frequent_actions_are_buttons_of_equal_size() {
    let name = "frequent_actions_are_buttons_of_equal_size";
    run_steps(name, 2, async |studio| {
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
        let layout = "
            const { children } = document.querySelector('.lightbox-actions');
            const drawn = [...children].filter(it => it.checkVisibility() && !it.matches('.menu'));
            const count = measured => new Set(drawn.map(measured)).size;
            const rows = count(it => Math.round(it.getBoundingClientRect().top));
            const heights = count(it => Math.round(it.getBoundingClientRect().height));
            const looks = count(it => getComputedStyle(it.querySelector('button') ?? it).backgroundColor);
            const cramped = [...document.querySelectorAll('.lightbox-actions .word')].filter(label => {
                const space = label.closest('button').clientWidth - label.getBoundingClientRect().width;
                return space < 8 || label.getClientRects().length > 1 || label.offsetHeight > 20;
            });
            return `${drawn.length} in ${rows} rows of ${heights} height, ${looks} kind, ${cramped.length} cramped`";
        for (width, rows) in [(1440, 2), (768, 1), (320, 2)] {
            browser.set_size(width, 900).await?;
            let expected = format!("5 in {rows} rows of 1 height, 1 kind, 0 cramped");
            wait_for_value(browser, "the buttons", layout, expected).await?;
        }
        let rare = "
            const button = [...document.querySelectorAll('dialog[open] button')].find(it => it.innerText.trim() === 'Copy output URL');
            return button.closest('[popover]').matches(':popover-open') ? 'in sight' : 'in a menu'";
        wait_for_value(browser, "a rare action", rare, "in a menu").await?;
        browser.press(&by("button", "More").within(&dialog)).await?;
        wait_for_value(browser, "a rare action", rare, "in sight").await?;
        browser.find(&by("link", "Show task").within(&dialog)).await?;
        Ok(())
    })
    .await;
}

const DOWN: &str = "\u{e015}";
const UP: &str = "\u{e013}";
const SPACE: &str = "\u{e00d}";

/// Guards against a tab stop for each of thousands of tiles, a focus that is lost when its tile is scrolled out of view, and a
/// day heading that is out of view while outputs of its day are visible.
#[tokio::test(flavor = "multi_thread")]
async fn a_focused_tile_keeps_the_focus_when_it_is_scrolled_out_of_view() {
    let name = "a_focused_tile_keeps_the_focus_when_it_is_scrolled_out_of_view";
    run_steps(name, 100, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::FocusedWindow)?;
        studio.focus_tile().await?;
        let is_seen = "
            const { top, bottom } = document.activeElement.getBoundingClientRect();
            return document.activeElement.matches('.tile-open') && top > 60 && bottom < innerHeight + 1";
        for key in [DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, UP, UP, UP, UP, UP] {
            studio.press_keys(key).await?;
            wait_for_value(browser, "the tile in sight", is_seen, true).await?;
        }
        let before = browser.run(FOCUSED, vec![]).await?;
        let scroll_to_end = "scrollTo(0, document.documentElement.scrollHeight)";
        browser.run(scroll_to_end, vec![]).await?;
        wait_for_value(browser, "the number of day headings at the top", STICKY_DAYS, 1).await?;
        wait_for_value(browser, "the focus", FOCUSED, before).await?;
        // Space selects the focused tile, and the next arrow key moves on from there.
        studio.press_keys(SPACE).await?;
        browser.wait_for_text("1 selected", TIMEOUT).await?;
        studio.wait_for_address("/gallery").await?;
        studio.press_keys(RIGHT).await?;
        wait_for_value(browser, "the tile in sight", is_seen, true).await
    })
    .await;
}

/// A script that returns the number of day headings that stick to the top while their days start above the window.
const STICKY_DAYS: &str = "
    const sticky = [...document.querySelectorAll('.gallery > h2')].filter(day => {
        const { top, bottom } = day.firstElementChild.getBoundingClientRect();
        return day.getBoundingClientRect().top < 0 && top < 100 && bottom > 60;
    });
    return sticky.length";
