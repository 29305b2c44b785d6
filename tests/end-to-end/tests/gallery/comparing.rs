//! Outputs next to each other, and one over the other.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use std::time::Duration;

use crate::{RIGHT, visit};

/// In how many columns they stand, how large they are drawn, and whether each value is below what it belongs to.
const LAID_OUT: &str = "
    const items = [...document.querySelectorAll('.compared > li')];
    const rooms = items.map(item => item.querySelector('.compared-output').getBoundingClientRect());
    const lefts = items.map(item => item.getBoundingClientRect().left);
    const columns = new Set(lefts.map(Math.round)).size;
    const drawn = Math.min(...rooms.map(({ width, height }) => Math.min(width, height)));
    const values = [...document.querySelectorAll('.differences tbody tr')].map(row => [...row.querySelectorAll('td')]);
    const isBelow = values.every(row => row.every(
        (value, at) => Math.abs(value.getBoundingClientRect().left - lefts[at]) < 2));
    return [columns, drawn > innerWidth / 5 || drawn > innerHeight / 2 ? 'large' : Math.round(drawn),
        values.flat().length && isBelow ? 'aligned' : 'astray'].join()";

/// Guards against four stamps in a window that is mostly empty, and a table whose columns, the first
/// among them, are somewhere else.
#[tokio::test(flavor = "multi_thread")]
async fn four_are_as_large_as_the_window_lets_them() {
    visit("four_are_as_large", 4, async |studio| {
        let browser = studio.browser;
        let four = "compare=made-00000/0,made-00001/0,made-00002/0,made-00003/0";
        let three = "compare=made-00000/0,made-00001/0,made-00002/0";
        for (width, height, compared, wanted) in [
            (2560, 900, four, "4,large,aligned"),
            (1440, 900, three, "3,large,aligned"),
        ] {
            browser.set_size(width, height).await?;
            studio.open(&format!("/gallery?{compared}")).await?;
            let what = format!("{compared} in {width} by {height}");
            becomes(browser, &what, LAID_OUT, wanted).await?;
        }
        // Two rows of two where these are larger, and on phones.
        let columns = LAID_OUT
            .replace("].join()", "][0]")
            .replace("[columns", "[String(columns)");
        for (width, height) in [(1440, 900), (800, 1100), (390, 844)] {
            browser.set_size(width, height).await?;
            studio.open(&format!("/gallery?{four}")).await?;
            becomes(browser, "two columns", &columns, "2").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a dialog as wide as the strip of all outputs that the large one can be compared with: the other
/// picture and the way out were far outside the window.
#[tokio::test(flavor = "multi_thread")]
async fn many_to_choose_from_do_not_widen_it() {
    visit("many_to_choose_from", 60, async |studio| {
        let browser = studio.browser;
        for width in [1440, 390] {
            browser.set_size(width, 844).await?;
            studio.open("/gallery?lightbox=made-00010/0").await?;
            browser.press(&by("button", "Compare")).await?;
            let seen = "
                const dialog = document.querySelector('dialog.comparison[open]');
                const close = dialog?.querySelector('[aria-label=Close]')?.getBoundingClientRect();
                const choices = dialog?.querySelectorAll('.companion-choice').length;
                return close && [choices > 20, dialog.scrollWidth <= innerWidth, close.right <= innerWidth].join()";
            becomes(browser, "all of it in the window", seen, "true,true,true").await?;
        }
        Ok(())
    })
    .await;
}

/// Where the line between the two is, in percent of the picture; and whether the slider says the same.
const LINE: &str = "
    const output = document.querySelector('.compared > li:last-child .compared-output');
    const bounds = output.getBoundingClientRect();
    const side = Math.min(bounds.width, bounds.height);
    const line = parseFloat(getComputedStyle(output, '::after').left) + 1 - (bounds.width - side) / 2;
    const slider = document.querySelector('.comparison-slider input');
    const isSame = Math.abs(slider.value / 100 * side - line) < 3;
    return `${Math.round(line / side * 20) * 5}${isSame ? '' : ', and the slider elsewhere'}`";

/// How far the grip's middle is from the line, and how large the grip is, in px.
const GRIP: &str = "
    const output = document.querySelector('.compared > li:last-child .compared-output');
    const [line, grip] = ['::after', '::before'].map(part => getComputedStyle(output, part));
    if (grip.content === 'none') return 'no grip';
    const size = Math.min(parseFloat(grip.width), parseFloat(grip.height));
    const away = Math.abs(parseFloat(line.left) + 1 - parseFloat(grip.left) - parseFloat(grip.width) / 2);
    return away < 1.5 && size >= 36 ? 'on the line' : `${away} px from it, ${size} px wide`";

async fn draw(browser: &Browser, from: f64, to: f64) -> Result<()> {
    let script = "
        const bounds = document.querySelector('.compared > li:last-child .compared-output').getBoundingClientRect();
        const side = Math.min(bounds.width, bounds.height);
        const left = bounds.left + (bounds.width - side) / 2;
        return [left, side, bounds.top + bounds.height / 2]";
    let place = browser.run(script, vec![]).await?;
    let number = |at: usize| place[at].as_f64().unwrap_or_default();
    let goes_to = |share: f64, ms: u64| PointerAction::MoveTo {
        duration: Some(Duration::from_millis(ms)),
        x: (number(0) + number(1) * share).round(),
        y: number(2).round(),
    };
    let button = MOUSE_BUTTON_LEFT;
    let drawn = MouseActions::new("mouse".to_owned())
        .then(goes_to(from, 0))
        .then(PointerAction::Down { button })
        .then(goes_to(to, 100))
        .then(PointerAction::Up { button });
    Ok(browser.client.perform_actions(drawn).await?)
}

/// Guards against a line that can only be moved far away from what it divides, and one that does not look as if it
/// could be moved.
#[tokio::test(flavor = "multi_thread")]
async fn the_line_is_drawn_on_the_picture() {
    visit("the_line_is_drawn", 2, async |studio| {
        let browser = studio.browser;
        studio
            .open("/gallery?compare=made-00001/0,made-00000/0")
            .await?;
        browser.press(&by("radio", "Slider")).await?;
        becomes(browser, "the line in the middle", LINE, "50").await?;
        becomes(browser, "the grip", GRIP, "on the line").await?;
        draw(browser, 0.5, 0.25).await?;
        becomes(browser, "the grip where it was drawn", GRIP, "on the line").await?;
        becomes(browser, "the line where it was drawn", LINE, "25").await?;
        // Where it is pressed, it comes; and keys go on from there.
        draw(browser, 0.9, 0.9).await?;
        becomes(browser, "the line where it was pressed", LINE, "90").await?;
        draw(browser, 0.5, -0.5).await?;
        becomes(browser, "the line at the edge", LINE, "0").await?;
        studio.keys(&RIGHT.repeat(10)).await?;
        becomes(browser, "the line by keys", LINE, "10").await
    })
    .await;
}

/// How large each picture is seen, and how far to the right of its middle what is in sight lies, in percent of its own
/// room; and whether it stays in that.
const CLOSE: &str = "
    const round = part => Math.round(part * 20) * 5;
    return [...document.querySelectorAll('.compared img')].map(picture => {
        const seen = picture.getBoundingClientRect();
        const room = picture.closest('.compared-output').getBoundingClientRect();
        const away = room.left + room.width / 2 - seen.left - seen.width / 2;
        const cut = getComputedStyle(picture).clipPath === 'none' ? '' : ', cut';
        return round(seen.width / picture.clientWidth) + ' ' + round(away / picture.clientWidth) + cut;
    }).join('; ')";

/// Guards against pictures of which only one is seen closer, so that details can't be compared, and against one that
/// lies over its neighbor then.
#[tokio::test(flavor = "multi_thread")]
async fn pictures_come_closer_in_step() {
    visit("pictures_come_closer", 2, async |studio| {
        let browser = studio.browser;
        studio
            .open("/gallery?compare=made-00001/0,made-00000/0")
            .await?;
        becomes(browser, "both as a whole", CLOSE, "100 0; 100 0").await?;
        let zoom = by("button", "Zoom");
        browser.press(&zoom).await?;
        becomes(browser, "both twice as large", CLOSE, "200 0, cut; 200 0, cut").await?;
        studio.keys("0").await?;
        becomes(browser, "both as a whole again", CLOSE, "100 0; 100 0").await?;
        studio.keys("++").await?;
        becomes(browser, "both by keys", CLOSE, "155 0, cut; 155 0, cut").await?;
        // Under the pointer, at the right edge of the room of the second picture.
        let wheel = "
            const picture = document.querySelectorAll('.compared img')[1];
            const room = picture.closest('.compared-output').getBoundingClientRect();
            picture.dispatchEvent(new WheelEvent('wheel', {
                bubbles: true, cancelable: true, deltaY: -2000,
                clientX: room.left + room.width / 2 + picture.clientWidth / 2, clientY: room.top + picture.clientHeight / 2,
            }))";
        browser.run(wheel, vec![]).await?;
        let closest = "425 85, cut; 425 85, cut";
        becomes(browser, "both at the right edge", CLOSE, closest).await?;
        // What is close stays so where the two lie one over the other.
        browser.press(&by("radio", "Slider")).await?;
        becomes(browser, "both over each other", CLOSE, closest).await?;
        let before = browser.run(LINE, vec![]).await?;
        draw(browser, 0.8, 1.1).await?;
        becomes(browser, "both moved", CLOSE, "425 55, cut; 425 55, cut").await?;
        assert_eq!(browser.run(LINE, vec![]).await?, before, "the line was drawn");
        draw(browser, 0.5, 0.25).await?;
        becomes(browser, "the line by its grip", LINE, "25").await?;
        becomes(browser, "both where they were", CLOSE, "425 55, cut; 425 55, cut").await
    })
    .await;
}
