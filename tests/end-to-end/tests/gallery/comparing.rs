//! Outputs beside each other, and one over the other.

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
            (1440, 900, four, "4,large,aligned"),
            (2560, 900, four, "4,large,aligned"),
            (1440, 900, three, "3,large,aligned"),
        ] {
            browser.set_size(width, height).await?;
            studio.open(&format!("/gallery?{compared}")).await?;
            let what = format!("{compared} in {width} by {height}");
            becomes(browser, &what, LAID_OUT, wanted).await?;
        }
        // Higher than wide, two rows of two.
        browser.set_size(800, 1100).await?;
        studio.open(&format!("/gallery?{four}")).await?;
        let columns = LAID_OUT
            .replace("].join()", "][0]")
            .replace("[columns", "[String(columns)");
        becomes(browser, "two columns", &columns, "2").await
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
    const track = slider.getBoundingClientRect();
    const thumb = track.left + 12 + (track.width - 24) * slider.value / 100;
    const isSame = Math.abs(thumb - (bounds.left + (bounds.width - side) / 2 + line)) < 3;
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

/// Guards against a line that can only be moved far away from what it divides, and one that nobody would take hold of.
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
