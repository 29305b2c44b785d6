//! Comparing outputs next to each other and with a slider.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use std::time::Duration;

use crate::{RIGHT, run_steps};

/// A script that returns the number of columns, the size of the outputs, and whether each value is below its output.
const LAYOUT: &str = "
    const items = [...document.querySelectorAll('.compared > li')];
    const boxes = items.map(item => item.querySelector('.compared-output').getBoundingClientRect());
    const lefts = items.map(item => item.getBoundingClientRect().left);
    const columns = new Set(lefts.map(Math.round)).size;
    const drawn = Math.min(...boxes.map(({ width, height }) => Math.min(width, height)));
    const values = [...document.querySelectorAll('.differences tbody tr')].map(row => [...row.querySelectorAll('td')]);
    const isBelow = values.every(row => row.every(
        (value, at) => Math.abs(value.getBoundingClientRect().left - lefts[at]) < 2));
    return [columns, drawn > innerWidth / 5 || drawn > innerHeight / 2 ? 'large' : Math.round(drawn),
        values.flat().length && isBelow ? 'aligned' : 'astray'].join()";

/// Guards against four tiny outputs in a window that is mostly empty, and against a table whose columns are not below the
/// outputs.
#[tokio::test(flavor = "multi_thread")]
async fn compared_outputs_use_the_space_of_the_window() {
    let name = "compared_outputs_use_the_space_of_the_window";
    run_steps(name, 4, async |studio| {
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
            wait_for_value(browser, &what, LAYOUT, wanted).await?;
        }
        // Two rows of two where that makes the outputs larger, and on phones.
        let columns = LAYOUT
            .replace("].join()", "][0]")
            .replace("[columns", "[String(columns)");
        for (width, height) in [(1440, 900), (800, 1100), (390, 844)] {
            browser.set_size(width, height).await?;
            studio.open(&format!("/gallery?{four}")).await?;
            wait_for_value(browser, "two columns", &columns, "2").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a dialog as wide as the strip with all outputs to compare with: the other image and the Close button were
/// far outside the window.
#[tokio::test(flavor = "multi_thread")]
async fn many_choices_do_not_widen_the_comparison() {
    let name = "many_choices_do_not_widen_the_comparison";
    run_steps(name, 60, async |studio| {
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
            wait_for_value(browser, "the dialog inside the window", seen, "true,true,true").await?;
        }
        Ok(())
    })
    .await;
}

/// A script that returns the position of the line between the two images, in percent of the image, and whether the slider has
/// the same value.
const LINE: &str = "
    const output = document.querySelector('.compared > li:last-child .compared-output');
    const bounds = output.getBoundingClientRect();
    const side = Math.min(bounds.width, bounds.height);
    const line = parseFloat(getComputedStyle(output, '::after').left) + 1 - (bounds.width - side) / 2;
    const slider = document.querySelector('.comparison-slider input');
    const isSame = Math.abs(slider.value / 100 * side - line) < 3;
    return `${Math.round(line / side * 20) * 5}${isSame ? '' : ', and the slider elsewhere'}`";

/// A script that returns the distance of the grip from the line and the size of the grip, in px.
const GRIP: &str = "
    const output = document.querySelector('.compared > li:last-child .compared-output');
    const [line, grip] = ['::after', '::before'].map(part => getComputedStyle(output, part));
    if (grip.content === 'none') return 'no grip';
    const size = Math.min(parseFloat(grip.width), parseFloat(grip.height));
    const distance = Math.abs(parseFloat(line.left) + 1 - parseFloat(grip.left) - parseFloat(grip.width) / 2);
    return distance < 1.5 && size >= 36 ? 'on the line' : `${distance} px from it, ${size} px wide`";

/// Drags from one position on the image to another. Positions are fractions of its width.
async fn drag(browser: &Browser, from: f64, to: f64) -> Result<()> {
    let script = "
        const bounds = document.querySelector('.compared > li:last-child .compared-output').getBoundingClientRect();
        const side = Math.min(bounds.width, bounds.height);
        const left = bounds.left + (bounds.width - side) / 2;
        return [left, side, bounds.top + bounds.height / 2]";
    let place = browser.run(script, vec![]).await?;
    let number = |at: usize| place[at].as_f64().unwrap_or_default();
    let move_to = |share: f64, ms: u64| PointerAction::MoveTo {
        duration: Some(Duration::from_millis(ms)),
        x: (number(0) + number(1) * share).round(),
        y: number(2).round(),
    };
    let button = MOUSE_BUTTON_LEFT;
    let actions = MouseActions::new("mouse".to_owned())
        .then(move_to(from, 0))
        .then(PointerAction::Down { button })
        .then(move_to(to, 100))
        .then(PointerAction::Up { button });
    Ok(browser.client.perform_actions(actions).await?)
}

/// Guards against a line that can be moved only with a distant slider, and that does not look movable.
#[tokio::test(flavor = "multi_thread")]
async fn the_line_can_be_dragged_on_the_image() {
    run_steps("the_line_can_be_dragged_on_the_image", 2, async |studio| {
        let browser = studio.browser;
        studio
            .open("/gallery?compare=made-00001/0,made-00000/0")
            .await?;
        browser.press(&by("radio", "Slider")).await?;
        wait_for_value(browser, "the line in the middle", LINE, "50").await?;
        wait_for_value(browser, "the grip", GRIP, "on the line").await?;
        drag(browser, 0.5, 0.25).await?;
        wait_for_value(browser, "the grip after dragging", GRIP, "on the line").await?;
        wait_for_value(browser, "the line after dragging", LINE, "25").await?;
        // A press moves the line there, and keys move it from there.
        drag(browser, 0.9, 0.9).await?;
        wait_for_value(browser, "the line after a press", LINE, "90").await?;
        drag(browser, 0.5, -0.5).await?;
        wait_for_value(browser, "the line at the edge", LINE, "0").await?;
        studio.press_keys(&RIGHT.repeat(10)).await?;
        wait_for_value(browser, "the line after keys", LINE, "10").await
    })
    .await;
}

/// A script that returns for each image the zoom, the distance of the visible part from the center of the image to the right,
/// both in percent, and whether the image is clipped to its box.
const ZOOM: &str = "
    const round = part => Math.round(part * 20) * 5;
    return [...document.querySelectorAll('.compared img')].map(picture => {
        const seen = picture.getBoundingClientRect();
        const box = picture.closest('.compared-output').getBoundingClientRect();
        const offset = box.left + box.width / 2 - seen.left - seen.width / 2;
        const cut = getComputedStyle(picture).clipPath === 'none' ? '' : ', cut';
        return round(seen.width / picture.clientWidth) + ' ' + round(offset / picture.clientWidth) + cut;
    }).join('; ')";

/// Guards against images of which only one is zoomed, so that details can't be compared, and against a zoomed image that
/// covers the other.
#[tokio::test(flavor = "multi_thread")]
async fn compared_images_are_zoomed_together() {
    run_steps("compared_images_are_zoomed_together", 2, async |studio| {
        let browser = studio.browser;
        studio
            .open("/gallery?compare=made-00001/0,made-00000/0")
            .await?;
        wait_for_value(browser, "both whole", ZOOM, "100 0; 100 0").await?;
        let zoom = by("button", "Zoom");
        browser.press(&zoom).await?;
        wait_for_value(browser, "both twice as large", ZOOM, "200 0, cut; 200 0, cut").await?;
        studio.press_keys("0").await?;
        wait_for_value(browser, "both whole again", ZOOM, "100 0; 100 0").await?;
        studio.press_keys("++").await?;
        wait_for_value(browser, "both after keys", ZOOM, "155 0, cut; 155 0, cut").await?;
        // Zooms at the pointer, at the right edge of the second image.
        let wheel = "
            const picture = document.querySelectorAll('.compared img')[1];
            const box = picture.closest('.compared-output').getBoundingClientRect();
            picture.dispatchEvent(new WheelEvent('wheel', {
                bubbles: true, cancelable: true, deltaY: -2000,
                clientX: box.left + box.width / 2 + picture.clientWidth / 2, clientY: box.top + picture.clientHeight / 2,
            }))";
        browser.run(wheel, vec![]).await?;
        let closest = "425 85, cut; 425 85, cut";
        wait_for_value(browser, "both at the right edge", ZOOM, closest).await?;
        // The slider mode keeps the zoom.
        browser.press(&by("radio", "Slider")).await?;
        wait_for_value(browser, "both in slider mode", ZOOM, closest).await?;
        let before = browser.run(LINE, vec![]).await?;
        drag(browser, 0.8, 1.1).await?;
        wait_for_value(browser, "both moved", ZOOM, "425 55, cut; 425 55, cut").await?;
        assert_eq!(browser.run(LINE, vec![]).await?, before, "the line was moved");
        drag(browser, 0.5, 0.25).await?;
        wait_for_value(browser, "the line after dragging its grip", LINE, "25").await?;
        wait_for_value(browser, "both unmoved", ZOOM, "425 55, cut; 425 55, cut").await
    })
    .await;
}
