//! A sweep, one item at a time, by a control for each of its axes.

use crate::studio::{BATCH, SINGLE, Studio, TIMEOUT, error, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::Rule;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, becomes, until};

const RIGHT: &str = "\u{e014}";
const END: &str = "\u{e010}";

/// Waits until the address says that the person is there.
async fn is_at(studio: &Studio<'_>, wanted: &str) -> Result<()> {
    let script = "return new URLSearchParams(location.search).get('sweep')?.split('@')[0] ?? ''";
    until(format!("the position {wanted:?}"), TIMEOUT, async || {
        let position = studio.browser.run(script, vec![]).await?;
        Ok(match position.as_str() == Some(wanted) {
            true => Seen::Yes(()),
            false => Seen::NotYet(position.to_string()),
        })
    })
    .await
}

/// Waits until the one picture in sight is this one.
async fn sees_picture(studio: &Studio<'_>, name: &str) -> Result<()> {
    until(format!("the picture {name:?}"), TIMEOUT, async || {
        let dialog = studio.browser.find(&by("dialog", "Sweep")).await?;
        let pictures = any("image").within(&dialog);
        let mut names = Vec::new();
        for picture in studio.browser.find_all(&pictures).await? {
            names.push(studio.browser.name_of(&picture).await?);
        }
        Ok(match names == [name] {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("there are {names:?}")),
        })
    })
    .await
}

async fn sees_two(studio: &Studio<'_>) -> Result<()> {
    until("two side by side", TIMEOUT, async || {
        let compared = studio.browser.find(&by("dialog", "Compare")).await?;
        let items = any("listitem").within(&compared);
        let found = studio.browser.find_all(&items).await?;
        Ok(match found.len() {
            2 => Seen::Yes(()),
            count => Seen::NotYet(format!("there are {count}")),
        })
    })
    .await
}

async fn stop_comparing(studio: &Studio<'_>) -> Result<()> {
    let compared = studio.browser.find(&by("dialog", "Compare")).await?;
    let close = by("button", "Close").within(&compared);
    studio.browser.press(&close).await?;
    studio.browser.find_gone(&by("dialog", "Compare")).await
}

/// From the last of three, the first of which failed. Guards against a sweep whose items are seen one at a time only.
async fn compares(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    let sweep = browser.find(&by("dialog", "Sweep")).await?;
    browser
        .press(&by("button", "Compare by prompt").within(&sweep))
        .await?;
    sees_two(studio).await?;
    stop_comparing(studio).await?;
    is_at(studio, "prompt=dusk&panes=60").await?;
    // What it is compared with is changed there, among all that have an output.
    browser
        .press(&by("button", "Compare").within(&sweep))
        .await?;
    sees_two(studio).await?;
    let compared = browser.find(&by("dialog", "Compare")).await?;
    let with = by("radiogroup", "Compared with").within(&compared);
    let with = browser.find(&with).await?;
    let choices = browser.find_all(&any("radio").within(&with)).await?;
    assert_eq!(choices.len(), 4, "all others with an output");
    browser
        .press(&by("radio", "dawn · 20").within(&with))
        .await?;
    let chosen = "return new URLSearchParams(location.search).get('compare').split(',').length";
    becomes(browser, "what is compared", chosen, 2).await?;
    sees_two(studio).await?;
    stop_comparing(studio).await?;
    is_at(studio, "prompt=dusk&panes=60").await
}

/// Guards against a sweep in which what is looked at can't be kept without a pointer, and against files that are all called
/// the same.
async fn acts_by_keys(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    let keys = browser.client.active_element().await?;
    keys.send_keys("f").await?;
    let pressed = "return document.querySelector('dialog[aria-label=Sweep] .heart').ariaPressed";
    becomes(browser, "a favorite", pressed, "true").await?;
    keys.send_keys("d").await?;
    let saved = browser.downloaded(1, ".png").await?.remove(0);
    let name = saved.file_name().map(|name| name.to_string_lossy());
    assert_eq!(
        name.as_deref(),
        Some("tessera-panes-60-dawn-06-1.png"),
        "what differs, and where it is in the batch"
    );
    keys.send_keys("f").await?;
    becomes(browser, "a favorite no more", pressed, "false").await
}

/// Guards against pictures that are cut, or stand in squares that are not theirs, where the shape is an axis.
#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_a_sweep_keep_their_shapes() {
    visit("pictures_keep_their_shapes", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        studio.choose("Sweep").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[0].select_by_value("prompt").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[0].send_keys("dusk\u{e007}dawn").await?;
        studio.press("Another axis").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[1].select_by_value("aspect_ratio").await?;
        for shape in ["1:1", "16:9", "9:16"] {
            browser.press(&by("checkbox", shape)).await?;
        }
        studio.press("Add to the table").await?;
        studio.press("Generate 6").await?;
        studio.see_counts("6 completed").await?;
        // Each as it is, whole in its cell, and those of a row equally high.
        let shapes = "
            const pictures = [...document.querySelectorAll('.thumbs-table img')];
            if (pictures.length < 6 || !pictures.every(it => it.naturalWidth)) return 'loading';
            const rect = it => it.getBoundingClientRect();
            const odd = pictures.filter(it => {
                const [own, cell] = [rect(it), rect(it.closest('td'))];
                const shape = own.width / own.height / (it.naturalWidth / it.naturalHeight);
                const isWhole = own.top >= cell.top - 1 && own.bottom <= cell.bottom + 1 && own.right <= cell.right + 1;
                const isHigh = Math.abs(own.height - rect(pictures[0]).height) < 4;
                return Math.abs(shape - 1) > 0.02 || !isWhole || !isHigh;
            });
            const said = it => `${it.naturalWidth} by ${it.naturalHeight} in ${rect(it).width} by ${rect(it).height}`;
            return odd.map(said).join()";
        becomes(browser, "pictures that are not as they are", shapes, "").await?;
        Ok(())
    })
    .await;
}

/// Guards against a sweep of three axes without any labels, and against a picture below the label of another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_of_three_axes_is_labelled_grids() {
    visit(
        "three_axes_are_labelled",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            studio.choose("Sweep").await?;
            for (at, (parameter, values)) in [
                ("panes", "20, 40"),
                ("glow", "0, 1"),
                ("prompt", "dusk\u{e007}dawn"),
            ]
            .into_iter()
            .enumerate()
            {
                if at > 0 {
                    studio.press("Another axis").await?;
                }
                let axes = browser.find_all(&by("combobox", "Axis")).await?;
                axes[at].select_by_value(parameter).await?;
                let fields = browser.find_all(&by("textbox", "Values")).await?;
                fields[at].send_keys(values).await?;
            }
            studio.press("Add to the table").await?;
            studio.press("Generate 8").await?;
            studio.see_counts("8 completed").await?;
            // Under each heading what it says, and no cell whose item has other values than its labels.
            let grids = "
            const words = it => it.innerText.replace(/\\s+/g, ' ').trim();
            const rows = [...document.querySelectorAll('.thumbs-table tr:not(.room)')];
            let [heading, columns] = ['', []];
            return rows.map(row => {
                if (row.className === 'block') return heading = words(row);
                if (row.className === 'names') {
                    columns = [...row.cells].slice(1).map(it => words(it).split(' ').pop());
                    return words(row);
                }
                const [head, ...cells] = row.cells;
                const named = cells.map((cell, at) => {
                    const name = cell.querySelector('button').ariaLabel;
                    const said = [heading, words(head), columns[at]].map(it => it.split(' ').pop());
                    return said.every(value => name.includes(value)) ? 'right' : name;
                });
                return `${words(head)}: ${named}`;
            }).join('; ')";
            let names = "glow prompt dusk prompt dawn";
            let rows = "0: right,right; 1: right,right";
            let expected = format!("panes 20; {names}; {rows}; panes 40; {names}; {rows}");
            becomes(browser, "the grids", grids, &*expected).await?;
            let lower = browser.find(&by("rowgroup", "panes 40")).await?;
            browser
                .find(&by("rowheader", "panes 40").within(&lower))
                .await?;
            browser
                .see_text("dusk and 1 other × panes × glow", TIMEOUT)
                .await
        },
    )
    .await;
}

/// Guards against arrows that lead through a batch in an order that is not to be seen.
#[tokio::test(flavor = "multi_thread")]
async fn arrows_lead_through_a_grid_as_it_lies() {
    visit("arrows_lead_through_a_grid", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        studio.choose("Sweep").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[0].select_by_value("panes").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[0].send_keys("20, 40, 60").await?;
        studio.press("Another axis").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[1].select_by_value("prompt").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[1].send_keys("dusk\u{e007}dawn").await?;
        studio.press("Generate 6").await?;
        studio.see_counts("6 completed").await?;
        // What was sent below each other lies next to each other.
        browser.set_size(1900, 900).await?;
        let first = "return document.querySelectorAll('.thumbs-table tbody tr:has(th) td').length
            && document.querySelector('.thumbs-table tbody tr:has(th)').cells.length";
        becomes(browser, "how many cells a row has", first, 4).await?;
        let names = "return [...document.querySelectorAll('.thumbs-table [data-output]')].map(it => it.dataset.output).join()";
        let names = browser.run(names, vec![]).await?;
        let names: Vec<&str> = names.as_str().unwrap_or_default().split(',').collect();
        assert_eq!(names.len(), 6);
        browser
            .run("document.querySelector('.thumbs-table [data-output]').click()", vec![])
            .await?;
        let output = browser.find(&by("dialog", "Output")).await?;
        let shown = "return new URLSearchParams(location.search).get('lightbox')";
        for next in &names[1..] {
            browser.press(&by("button", "Next").within(&output)).await?;
            becomes(browser, "what is shown", shown, *next).await?;
        }
        browser.see_text("6 of 6", TIMEOUT).await
    })
    .await;
}

/// Guards against a sweep whose results can only be compared as small pictures in a table, against a position that is
/// lost with a reload, and against a place without a picture that shows another one's.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_explored_along_its_axes() {
    visit("a_sweep_is_explored", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[0].select_by_value("prompt").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[0].send_keys("dusk\u{e007}dawn").await?;
        studio.press("Another axis").await?;
        let axes = browser.find_all(&by("combobox", "Axis")).await?;
        axes[1].select_by_value("panes").await?;
        let values = browser.find_all(&by("textbox", "Values")).await?;
        values[1].send_keys("20, 40, 60").await?;
        studio.press("Add to the table").await?;
        // The first is refused, the others are made.
        studio.proxy.add(Rule::next(1, BATCH, error(400)));
        studio.proxy.add(Rule::next(1, SINGLE, error(422)));
        studio.press("Generate 6").await?;
        studio.see_counts("5 completed, 1 failed").await?;

        browser.set_size(1280, 900).await?;
        studio.press("Explore").await?;
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser.see_text("Item 1 of 6: Failed", TIMEOUT).await?;
        let shown = browser.find_all(&any("image").within(&dialog)).await?;
        assert!(shown.is_empty(), "a failed item shows a picture");

        // The keyboard is where it is needed: at the first axis.
        until("the first axis to have the focus", TIMEOUT, async || {
            let focused = browser.client.active_element().await?;
            Ok(match browser.name_of(&focused).await?.as_str() {
                "dusk" => Seen::Yes(()),
                name => Seen::NotYet(format!("{name:?} has it")),
            })
        })
        .await?;
        let focused = browser.client.active_element().await?;
        focused.send_keys(RIGHT).await?;
        is_at(studio, "prompt=dawn&panes=20").await?;
        sees_picture(studio, "Image: dawn").await?;
        let panes = browser.find(&by("slider", "panes").within(&dialog)).await?;
        let marks = "return document.querySelector('.sweep-ticks')?.textContent ?? ''";
        let marks = browser.run(marks, vec![]).await?;
        assert_eq!(marks, "204060", "what the marks of the scale mean");
        // Guards against a detail that has to be looked for in each item anew.
        let close = "
            const picture = document.querySelector('.sweep-layer.current img');
            return picture && Math.round(picture.getBoundingClientRect().width / picture.clientWidth * 100)";
        panes.send_keys("+").await?;
        becomes(browser, "how close it is", close, 125).await?;
        panes.send_keys(END).await?;
        is_at(studio, "prompt=dawn&panes=60").await?;
        becomes(browser, "how close the next is", close, 125).await?;
        browser.see_text("Item 6 of 6: Completed", TIMEOUT).await?;
        sees_picture(studio, "Image: dawn").await?;
        acts_by_keys(studio).await?;
        for name in ["Favorite", "Vary", "Download", "Use as input"] {
            browser.find(&by("button", name).within(&dialog)).await?;
        }

        // The address leads back here.
        browser.run("location.reload()", vec![]).await?;
        browser.see_text("Item 6 of 6: Completed", TIMEOUT).await?;
        sees_picture(studio, "Image: dawn").await?;
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser.press(&by("radio", "dusk").within(&dialog)).await?;
        is_at(studio, "prompt=dusk&panes=60").await?;
        browser.see_text("Item 3 of 6: Completed", TIMEOUT).await?;
        sees_picture(studio, "Image: dusk").await?;
        compares(studio).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.find_gone(&by("dialog", "Sweep")).await?;
        is_at(studio, "").await?;

        // An output leads to its own place among the others, above the large view, and back to that.
        browser.open(&studio.address("/gallery")).await?;
        until("a press of the second tile", TIMEOUT, async || {
            let tiles = browser
                .find_all(&starting("button", "Image: dawn"))
                .await?;
            Ok(match tiles.get(1) {
                Some(tile) => Seen::Yes(tile.click().await?),
                None => Seen::NotYet(format!("there are {}", tiles.len())),
            })
        })
        .await?;
        let output = browser.find(&by("dialog", "Output")).await?;
        browser
            .press(&by("button", "Explore").within(&output))
            .await?;
        sees_picture(studio, "Image: dawn").await?;
        let is_its_own = "
            const [task] = new URLSearchParams(location.search).get('lightbox').split('/');
            return [...document.querySelectorAll('dialog[aria-label=Sweep] a')].some(it => it.pathname.endsWith(task))";
        let is_its_own = browser.run(is_its_own, vec![]).await?;
        assert_eq!(is_its_own, true, "the sweep shows another item");
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.find(&by("dialog", "Output")).await?;
        is_at(studio, "").await
    })
    .await;
}
