//! The sweep view: one item at a time, with a control for each axis.

use crate::studio::{BATCH, SINGLE, Studio, TIMEOUT, error, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::Rule;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, until, wait_for_value};

const RIGHT: &str = "\u{e014}";
const END: &str = "\u{e010}";

/// Waits until the address contains this position in the sweep.
async fn wait_for_position(studio: &Studio<'_>, wanted: &str) -> Result<()> {
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

/// Waits until the sweep view shows exactly one image, with this name.
async fn wait_for_image(studio: &Studio<'_>, name: &str) -> Result<()> {
    until(format!("the image {name:?}"), TIMEOUT, async || {
        let dialog = studio.browser.find(&by("dialog", "Sweep")).await?;
        let images = any("image").within(&dialog);
        let mut names = Vec::new();
        for image in studio.browser.find_all(&images).await? {
            names.push(studio.browser.name_of(&image).await?);
        }
        Ok(match names == [name] {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("the images {names:?}")),
        })
    })
    .await
}

/// Waits until the comparison shows two outputs.
async fn wait_for_comparison(studio: &Studio<'_>) -> Result<()> {
    until("two compared outputs", TIMEOUT, async || {
        let compared = studio.browser.find(&by("dialog", "Compare")).await?;
        let items = any("listitem").within(&compared);
        let found = studio.browser.find_all(&items).await?;
        Ok(match found.len() {
            2 => Seen::Yes(()),
            count => Seen::NotYet(format!("{count} outputs are compared")),
        })
    })
    .await
}

async fn stop_comparing(studio: &Studio<'_>) -> Result<()> {
    let compared = studio.browser.find(&by("dialog", "Compare")).await?;
    let close = by("button", "Close").within(&compared);
    studio.browser.press(&close).await?;
    studio
        .browser
        .wait_until_gone(&by("dialog", "Compare"))
        .await
}

/// Opens the comparison from the sweep view at the last of three items. The first item has failed. Guards against a
/// sweep view that can only show one item at a time.
async fn compare_outputs(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    let sweep = browser.find(&by("dialog", "Sweep")).await?;
    browser
        .press(&by("button", "Compare by prompt").within(&sweep))
        .await?;
    wait_for_comparison(studio).await?;
    stop_comparing(studio).await?;
    wait_for_position(studio, "prompt=dusk&panes=60").await?;
    // The comparison offers all other items that have an output.
    browser
        .press(&by("button", "Compare").within(&sweep))
        .await?;
    wait_for_comparison(studio).await?;
    let compared = browser.find(&by("dialog", "Compare")).await?;
    let with = by("radiogroup", "Compared with").within(&compared);
    let with = browser.find(&with).await?;
    let choices = browser.find_all(&any("radio").within(&with)).await?;
    assert_eq!(
        choices.len(),
        4,
        "all other items with an output are offered"
    );
    browser
        .press(&by("radio", "dawn · 20").within(&with))
        .await?;
    let chosen = "return new URLSearchParams(location.search).get('compare').split(',').length";
    wait_for_value(browser, "the number of compared outputs", chosen, 2).await?;
    wait_for_comparison(studio).await?;
    stop_comparing(studio).await?;
    wait_for_position(studio, "prompt=dusk&panes=60").await
}

/// Marks an output as a favorite and downloads it with the keyboard. Guards against a sweep view in which these actions
/// need a pointer, and against downloaded files with equal names.
async fn use_shortcuts(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    let keys = browser.client.active_element().await?;
    keys.send_keys("f").await?;
    let pressed = "return document.querySelector('dialog[aria-label=Sweep] .heart').ariaPressed";
    wait_for_value(browser, "a favorite", pressed, "true").await?;
    keys.send_keys("d").await?;
    let saved = browser.wait_for_downloads(1, ".png").await?.remove(0);
    let name = saved.file_name().map(|name| name.to_string_lossy());
    assert_eq!(
        name.as_deref(),
        Some("tessera-panes-60-dawn-06-1.png"),
        "the name has the differing values and the number in the batch"
    );
    keys.send_keys("f").await?;
    wait_for_value(browser, "not a favorite", pressed, "false").await
}

/// Guards against images that are cut or padded to squares when the aspect ratio is an axis.
#[tokio::test(flavor = "multi_thread")]
async fn images_in_a_sweep_keep_their_aspect_ratios() {
    let name = "images_in_a_sweep_keep_their_aspect_ratios";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        studio.wait_for_counts("6 completed").await?;
        // Each image has its own aspect ratio and fits into its cell, and all have the same height.
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
            const describe = it => `${it.naturalWidth} by ${it.naturalHeight} in ${rect(it).width} by ${rect(it).height}`;
            return odd.map(describe).join()";
        wait_for_value(browser, "distorted images", shapes, "").await?;
        Ok(())
    })
    .await;
}

/// Guards against a sweep of three axes without labels, and against images under wrong labels.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_of_three_axes_is_shown_as_labelled_grids() {
    let name = "a_sweep_of_three_axes_is_shown_as_labelled_grids";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        studio.wait_for_counts("8 completed").await?;
        // Each cell contains the item with the values of its headings.
        let grids = "
        const text = it => it.innerText.replace(/\\s+/g, ' ').trim();
        const rows = [...document.querySelectorAll('.thumbs-table tr:not(.room)')];
        let [heading, columns] = ['', []];
        return rows.map(row => {
            if (row.className === 'block') return heading = text(row);
            if (row.className === 'names') {
                columns = [...row.cells].slice(1).map(it => text(it).split(' ').pop());
                return text(row);
            }
            const [head, ...cells] = row.cells;
            const named = cells.map((cell, at) => {
                const name = cell.querySelector('button').ariaLabel;
                const values = [heading, text(head), columns[at]].map(it => it.split(' ').pop());
                return values.every(value => name.includes(value)) ? 'right' : name;
            });
            return `${text(head)}: ${named}`;
        }).join('; ')";
        let names = "glow prompt dusk prompt dawn";
        let rows = "0: right,right; 1: right,right";
        let expected = format!("panes 20; {names}; {rows}; panes 40; {names}; {rows}");
        wait_for_value(browser, "the grids", grids, &*expected).await?;
        let lower = browser.find(&by("rowgroup", "panes 40")).await?;
        browser
            .find(&by("rowheader", "panes 40").within(&lower))
            .await?;
        browser
            .wait_for_text("dusk and 1 other × panes × glow", TIMEOUT)
            .await
    })
    .await;
}

/// Guards against a lightbox whose arrows step through a batch in a different order than the grid.
#[tokio::test(flavor = "multi_thread")]
async fn the_lightbox_steps_through_a_grid_in_its_visible_order() {
    let name = "the_lightbox_steps_through_a_grid_in_its_visible_order";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        studio.wait_for_counts("6 completed").await?;
        // In a wide window the grid is transposed: the values of the first axis are the columns.
        browser.set_size(1900, 900).await?;
        let first = "return document.querySelectorAll('.thumbs-table tbody tr:has(th) td').length
            && document.querySelector('.thumbs-table tbody tr:has(th)').cells.length";
        wait_for_value(browser, "the number of cells in a row", first, 4).await?;
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
            wait_for_value(browser, "the shown output", shown, *next).await?;
        }
        browser.wait_for_text("6 of 6", TIMEOUT).await
    })
    .await;
}

/// Guards against a sweep whose results can be compared only as small images in a table. Also guards against losing the
/// position at a reload, and against showing the image of another item for an item without an image.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_explored_along_its_axes() {
    let name = "a_sweep_is_explored_along_its_axes";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        // The first item is refused, the others complete.
        studio.proxy.add(Rule::next(1, BATCH, error(400)));
        studio.proxy.add(Rule::next(1, SINGLE, error(422)));
        studio.press("Generate 6").await?;
        studio.wait_for_counts("5 completed, 1 failed").await?;

        browser.set_size(1280, 900).await?;
        studio.press("Explore").await?;
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser.wait_for_text("Item 1 of 6: Failed", TIMEOUT).await?;
        let shown = browser.find_all(&any("image").within(&dialog)).await?;
        assert!(shown.is_empty(), "a failed item shows an image");

        // The first axis has the focus.
        until("the first axis to have the focus", TIMEOUT, async || {
            let focused = browser.client.active_element().await?;
            Ok(match browser.name_of(&focused).await?.as_str() {
                "dusk" => Seen::Yes(()),
                name => Seen::NotYet(format!("{name:?} has the focus")),
            })
        })
        .await?;
        let focused = browser.client.active_element().await?;
        focused.send_keys(RIGHT).await?;
        wait_for_position(studio, "prompt=dawn&panes=20").await?;
        wait_for_image(studio, "Image: dawn").await?;
        let panes = browser.find(&by("slider", "panes").within(&dialog)).await?;
        let marks = "return document.querySelector('.sweep-ticks')?.textContent ?? ''";
        let marks = browser.run(marks, vec![]).await?;
        assert_eq!(marks, "204060", "labels of the scale");
        // Guards against a zoom that has to be repeated for each item.
        let zoom = "
            const picture = document.querySelector('.sweep-layer.current img');
            return picture && Math.round(picture.getBoundingClientRect().width / picture.clientWidth * 100)";
        panes.send_keys("+").await?;
        wait_for_value(browser, "the zoom", zoom, 125).await?;
        panes.send_keys(END).await?;
        wait_for_position(studio, "prompt=dawn&panes=60").await?;
        wait_for_value(browser, "the zoom of the next item", zoom, 125).await?;
        browser.wait_for_text("Item 6 of 6: Completed", TIMEOUT).await?;
        wait_for_image(studio, "Image: dawn").await?;
        use_shortcuts(studio).await?;
        for name in ["Favorite", "Vary", "Download", "Use as input"] {
            browser.find(&by("button", name).within(&dialog)).await?;
        }

        // The address restores the position.
        browser.run("location.reload()", vec![]).await?;
        browser.wait_for_text("Item 6 of 6: Completed", TIMEOUT).await?;
        wait_for_image(studio, "Image: dawn").await?;
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser.press(&by("radio", "dusk").within(&dialog)).await?;
        wait_for_position(studio, "prompt=dusk&panes=60").await?;
        browser.wait_for_text("Item 3 of 6: Completed", TIMEOUT).await?;
        wait_for_image(studio, "Image: dusk").await?;
        compare_outputs(studio).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.wait_until_gone(&by("dialog", "Sweep")).await?;
        wait_for_position(studio, "").await?;

        // From the lightbox, Explore opens the sweep at the position of that output. Close returns to the lightbox.
        browser.open(&studio.address("/gallery")).await?;
        until("a press on the second tile", TIMEOUT, async || {
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
        wait_for_image(studio, "Image: dawn").await?;
        let is_same_task = "
            const [task] = new URLSearchParams(location.search).get('lightbox').split('/');
            return [...document.querySelectorAll('dialog[aria-label=Sweep] a')].some(it => it.pathname.endsWith(task))";
        let is_same_task = browser.run(is_same_task, vec![]).await?;
        assert_eq!(is_same_task, true, "the sweep shows another item");
        let dialog = browser.find(&by("dialog", "Sweep")).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.find(&by("dialog", "Output")).await?;
        wait_for_position(studio, "").await
    })
    .await;
}
