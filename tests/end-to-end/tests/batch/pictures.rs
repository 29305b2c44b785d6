//! Pictures of the user's own in Batch mode: a row for each, pictures for the names in a table, and pictures as an axis. Each
//! task costs money, so each row is sent once, with its own picture.

use crate::studio::{Studio, TIMEOUT, error, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::models_file::{ModelsFile, PICTURES};
use atelier_end_to_end::wait::wait_for_value;
use serde_json::{Value, json};

const PAGE: &str = "/models/image/repaint";
const UPLOADS: &str = "/v2/uploads";

/// Helpers that make pictures, which differ in their widths, and drop them.
const FILES: &str = "
    const picture = async (name, width) => {
        const canvas = Object.assign(document.createElement('canvas'), { width, height: 16 });
        const context = canvas.getContext('2d');
        context.fillStyle = `hsl(${width * 7} 80% 50%)`;
        context.fillRect(2, 2, 8, 8);
        const content = await new Promise(done => canvas.toBlob(done, 'image/png'));
        return new File([content], name, { type: 'image/png' });
    };
    const pictures = (...all) => Promise.all(all.map(([name, width]) => picture(name, width)));
    const drop = (files, target = '.composer') => {
        const dataTransfer = new DataTransfer();
        files.forEach(file => dataTransfer.items.add(file));
        for (const type of ['dragover', 'drop']) {
            document.querySelector(target).dispatchEvent(
                new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        }
    };
";

/// Returns the widths of the pictures that were sent, in the order of the items.
const SENT_WIDTHS: &str = "
    return new Promise((done, failed) => {
        const opened = indexedDB.open('atelier');
        opened.onerror = () => failed(opened.error);
        opened.onsuccess = () => {
            const all = opened.result.transaction('tasks').objectStore('tasks').getAll();
            all.onsuccess = async () => {
                opened.result.close();
                const items = all.result.map(record => {
                    const text = JSON.stringify(record).replaceAll('\\\\', '');
                    return {
                        index: Number(/\"index\":(\\d+)/.exec(text)?.[1]),
                        url: /\"image_url\":\"([^\"]*)\"/.exec(text)?.[1],
                    };
                });
                items.sort((a, b) => a.index - b.index);
                done(await Promise.all(items.map(async ({ url }) => {
                    const reply = await fetch(new URL(url, location).pathname);
                    return (await createImageBitmap(await reply.blob())).width;
                })));
            };
        };
    })";

/// Opens Batch mode with a prompt in the single form.
async fn open(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.open(&studio.address(PAGE)).await?;
    browser.find(&by("heading", "Repaint")).await?;
    browser
        .fill(&starting("textbox", "prompt"), "a lamp")
        .await?;
    studio.choose("Batch").await?;
    browser.find(&by("button", "Add a row")).await?;
    Ok(())
}

async fn run(studio: &Studio<'_>, script: &str) -> Result<()> {
    let script = format!("{FILES} return (async () => {{ {script} }})()");
    studio.browser.run(&script, vec![]).await?;
    Ok(())
}

/// Opens Batch mode, adds two pictures whose uploads are held, and presses Generate, which waits for them.
async fn generate_with_held_uploads(studio: &Studio<'_>) -> Result<()> {
    open(studio).await?;
    studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
    run(studio, "drop(await pictures(['a.png', 20], ['b.png', 30]))").await?;
    studio.press("Generate 2").await?;
    let message = "Waiting for the upload of a.png and b.png.";
    studio.browser.wait_for_text(message, TIMEOUT).await
}

/// Returns the number of items that were sent to the service.
fn sent_items(studio: &Studio<'_>) -> usize {
    studio.generate_calls().iter().map(|call| call.items).sum()
}

async fn wait_for_uploads(studio: &Studio<'_>, count: usize) -> Result<()> {
    let is_upload = |path: &str| path == UPLOADS;
    let what = format!("{count} uploads");
    let count_of = |calls: &[atelier_end_to_end::fault::Call]| {
        calls.iter().filter(|call| is_upload(&call.path)).count()
    };
    studio.sees(&what, |calls| count_of(calls) >= count).await
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_dropped_pictures_become_fifty_items_with_their_own_pictures() {
    run_steps("fifty_pictures", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        run(
            studio,
            "drop(await pictures(...Array.from({ length: 50 }, (_, at) => [`${at}.png`, 16 + at])))",
        )
        .await?;
        assert_eq!(studio.row_count().await?, 50);
        // Generate waits, and a second press changes nothing.
        studio.press("Generate 50").await?;
        let waiting = "Waiting for the upload of 50 files. Generate follows.";
        browser.wait_for_text(waiting, TIMEOUT).await?;
        studio.press("Generate 50").await?;
        wait_for_uploads(studio, 3).await?;
        assert_eq!(studio.proxy.calls_to(UPLOADS).len(), 3, "uploads at once");
        assert_eq!(sent_items(studio), 0, "sent without a picture");
        studio.proxy.clear();
        studio.wait_for_counts("50 completed").await?;
        let widths: Vec<usize> = (16..66).collect();
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!(widths));
        assert_eq!(sent_items(studio), 50);
        assert_eq!(studio.proxy.calls_to(UPLOADS).len(), 50);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_are_matched_to_the_names_in_a_table() {
    run_steps("matched_pictures", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.choose("Import").await?;
        // The table and its files are dropped together.
        let table = "image_url,prompt\\nimg/b.png,first\\na.png,second\\nmissing.png,third";
        run(
            studio,
            &format!(
                "drop([
                    ...await pictures(['a.png', 20], ['B.png', 30], ['extra.png', 40]),
                    new File(['{table}'], 'rows.csv', {{ type: 'text/csv' }}),
                ], '#import')"
            ),
        )
        .await?;
        browser
            .wait_for_text("Matched 2 files by name. In no row: extra.png.", TIMEOUT)
            .await?;
        browser
            .wait_for_text(
                "Row 3: image_url has the name of a file, not an address",
                TIMEOUT,
            )
            .await?;
        studio.press("Don't use it").await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!([30, 20]));
        assert_eq!(sent_items(studio), 2);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_upload_of_a_row_is_tried_again() {
    run_steps("failed_picture", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.proxy.add(Rule::every(UPLOADS, error(403)));
        run(studio, "drop(await pictures(['a.png', 20], ['b.png', 30]))").await?;
        browser
            .wait_for_text("Fix 2 rows before sending them.", TIMEOUT)
            .await?;
        studio.proxy.clear();
        studio.press("Try again, row 2").await?;
        browser.find(&by("button", "Generate 1")).await?;
        browser.find(&by("textbox", "image_url, row 2")).await?;
        studio.press("Try again, row 1").await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!([20, 30]));
        assert_eq!(sent_items(studio), 2);
        Ok(())
    })
    .await;
}

/// Guards against a batch that is sent with other rows than those that were there when Generate was pressed.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_while_generate_waits_sends_nothing() {
    run_steps("change_while_waiting", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_with_held_uploads(studio).await?;
        studio.press("Remove the file, row 1").await?;
        browser
            .wait_for_text("Not sent: the input or the account changed", TIMEOUT)
            .await?;
        studio.proxy.clear();
        browser.find(&by("button", "Generate 1")).await?;
        browser.find(&by("textbox", "image_url, row 2")).await?;
        assert_eq!(sent_items(studio), 0);
        studio.press("Generate 1").await?;
        studio.wait_for_counts("1 completed").await?;
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!([30]));
        assert_eq!(sent_items(studio), 1);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_continue_outside_of_batch_mode_but_nothing_is_sent() {
    run_steps("left_while_waiting", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_with_held_uploads(studio).await?;
        studio.choose("One").await?;
        browser
            .wait_for_text("Not sent: Batch was left while Generate waited", TIMEOUT)
            .await?;
        studio.proxy.clear();
        studio.choose("Batch").await?;
        browser.find(&by("textbox", "image_url, row 1")).await?;
        browser.find(&by("textbox", "image_url, row 2")).await?;
        assert_eq!(sent_items(studio), 0);
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!([20, 30]));
        assert_eq!(sent_items(studio), 2);
        Ok(())
    })
    .await;
}

/// Guards against a row that another tab, or the next page, sends without its picture.
#[tokio::test(flavor = "multi_thread")]
async fn rows_whose_pictures_were_not_uploaded_say_so_after_a_reload() {
    run_steps("reloaded_pictures", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_with_held_uploads(studio).await?;
        let first = browser.tab().await?;
        studio.open_tab(&format!("{PAGE}?mode=batch")).await?;
        studio.enlarge_tab().await?;
        let message = "image_url has a file that was not uploaded";
        browser.wait_for_text(message, TIMEOUT).await?;
        let is_disabled = "
            const buttons = [...document.querySelectorAll('button.primary')];
            return buttons.find(it => it.textContent.includes('Generate')).disabled";
        wait_for_value(browser, "the disabled button", is_disabled, true).await?;
        browser.close_tab().await?;
        browser.switch_to(&first).await?;
        browser.reload().await?;
        // Guards against a press of Generate that the reload forgets without a word.
        let reloaded = "Not sent from this tab: the page was reloaded while Generate waited";
        browser.wait_for_text(reloaded, TIMEOUT).await?;
        let mark = "return sessionStorage.getItem('atelier.batch-waits.image/repaint')";
        wait_for_value(browser, "the removed mark", mark, Value::Null).await?;
        browser.wait_for_text(message, TIMEOUT).await?;
        wait_for_value(browser, "the disabled button", is_disabled, true).await?;
        studio.proxy.clear();
        assert_eq!(sent_items(studio), 0, "sent without a picture");
        run(studio, "drop(await pictures(['b.png', 30], ['a.png', 20]))").await?;
        browser
            .wait_for_text("Matched 2 files by name.", TIMEOUT)
            .await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!([20, 30]));
        assert_eq!(sent_items(studio), 2);
        Ok(())
    })
    .await;
}

/// Guards against a duplicated tab that denies that rows are sent, so that the user pays for them twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_duplicated_tab_does_not_deny_that_the_rows_are_sent() {
    run_steps("duplicated_tab", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_with_held_uploads(studio).await?;
        let first = browser.tab().await?;
        studio.open_tab(&format!("{PAGE}?mode=batch")).await?;
        // The page removes the mark of an earlier wait while it shows the rows.
        let rows = "Rows 1 and 2 were not added here and stay unchanged.";
        browser.wait_for_text(rows, TIMEOUT).await?;
        // A duplicate begins with a copy of the session storage.
        let copy = "sessionStorage.setItem('atelier.batch-waits.image/repaint', 'true')";
        browser.run(copy, vec![]).await?;
        browser.reload().await?;
        let reloaded = "Press Generate again unless another tab has sent the input.";
        browser.wait_for_text(reloaded, TIMEOUT).await?;
        browser.close_tab().await?;
        browser.switch_to(&first).await?;
        studio.proxy.clear();
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(sent_items(studio), 2);
        Ok(())
    })
    .await;
}

/// Guards against rows that Undo brings back without their files.
#[tokio::test(flavor = "multi_thread")]
async fn restored_rows_keep_the_uploads_of_their_pictures() {
    run_steps("restored_pictures", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        run(studio, "drop(await pictures(['a.png', 20], ['b.png', 30]))").await?;
        wait_for_uploads(studio, 2).await?;
        studio.press("Clear the table").await?;
        browser.wait_for_text("Removed 2 rows.", TIMEOUT).await?;
        studio.press("Undo").await?;
        assert_eq!(studio.row_count().await?, 2);
        studio.proxy.clear();
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!([20, 30]));
        assert_eq!(studio.proxy.calls_to(UPLOADS).len(), 2);
        Ok(())
    })
    .await;
}

/// Guards against rows that are sent before it is known whether the service still has their files.
#[tokio::test(flavor = "multi_thread")]
async fn generate_waits_until_the_files_of_the_rows_are_checked() {
    run_steps("checked_pictures", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        run(studio, "drop(await pictures(['a.png', 20], ['b.png', 30]))").await?;
        browser.find(&by("textbox", "image_url, row 1")).await?;
        browser.find(&by("textbox", "image_url, row 2")).await?;
        studio.proxy.add(Rule::every("/outputs/*", Fault::Hold));
        browser.reload().await?;
        studio.press("Generate 2").await?;
        let checking = "Checking the files. Generate follows.";
        browser.wait_for_text(checking, TIMEOUT).await?;
        assert_eq!(sent_items(studio), 0, "sent before the check");
        studio.proxy.clear();
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(sent_items(studio), 2);

        run(studio, "drop(await pictures(['c.png', 40]))").await?;
        browser.find(&by("textbox", "image_url, row 1")).await?;
        studio.proxy.add(Rule::every("/outputs/*", error(404)));
        browser.reload().await?;
        studio.press("Generate 1").await?;
        browser
            .wait_for_text("Not sent: the service no longer has c.png.", TIMEOUT)
            .await?;
        assert_eq!(sent_items(studio), 2, "sent with a lost file");
        Ok(())
    })
    .await;
}

/// Guards against a message about an upload that stays after it has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_because_of_the_single_form_ends_with_its_upload() {
    run_steps("refused_by_form", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address(PAGE)).await?;
        browser.find(&by("heading", "Repaint")).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        let choose = "
            const data = new DataTransfer();
            data.items.add(await picture('a.png', 20));
            const input = document.querySelector('.own-file input');
            input.files = data.files;
            input.dispatchEvent(new Event('change', { bubbles: true }));";
        run(studio, choose).await?;
        wait_for_uploads(studio, 1).await?;
        studio.choose("Batch").await?;
        studio.press("Add a row").await?;
        let refused = "Not sent: the upload of a.png for the single form is not finished.";
        browser.wait_for_text(refused, TIMEOUT).await?;
        studio.proxy.clear();
        let message = "return document.querySelector('.batch [role=alert]').textContent";
        wait_for_value(browser, "no message", message, "").await?;
        studio.press("Add a row").await?;
        assert_eq!(studio.row_count().await?, 1);
        Ok(())
    })
    .await;
}

/// Guards against files that a model with only a list of them does not accept, and against names that are sent as addresses.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_pictures_become_lists() {
    let models = ModelsFile::new(PICTURES).expect("written");
    let arguments = ["--speed", "0", "--models", models.path()];
    run_steps("listed_pictures", &arguments, async |studio| {
        let browser = studio.browser;
        browser
            .open(&studio.address("/models/image/collage?mode=batch"))
            .await?;
        browser.find(&by("button", "Add a row")).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        run(studio, "drop(await pictures(['a.png', 20]))").await?;
        browser.find(&by("group", "images, row 1")).await?;
        studio.proxy.clear();
        let cell = by("textbox", "images, row 1");
        browser.find(&cell).await?;
        studio.press("Generate 1").await?;
        studio.sees("the list", |_| sent_items(studio) == 1).await?;

        studio.press("Add a row").await?;
        browser.fill(&cell, "my.folder/b.png, c.jfif").await?;
        browser
            .wait_for_text("images has names of files, not addresses", TIMEOUT)
            .await?;
        run(
            studio,
            "drop(await pictures(['b.png', 30], ['c.jfif', 40]))",
        )
        .await?;
        browser
            .wait_for_text("Matched 2 files by name.", TIMEOUT)
            .await?;
        studio.press("Generate 1").await?;
        studio.sees("both", |_| sent_items(studio) == 2).await?;
        assert_eq!(studio.proxy.calls_to(UPLOADS).len(), 3);
        Ok(())
    })
    .await;
}

/// Guards against pictures of a batch that can't be used at a service without uploads.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_uploads_gets_copies_in_the_requests() {
    let models = ModelsFile::new(PICTURES).expect("written");
    let arguments = [
        "--speed",
        "0",
        "--upload-limit",
        "off",
        "--models",
        models.path(),
    ];
    run_steps("pictures_in_requests", &arguments, async |studio| {
        let browser = studio.browser;
        browser
            .open(&studio.address("/models/image/frame?mode=batch"))
            .await?;
        browser.find(&by("button", "Add a row")).await?;
        run(
            studio,
            "drop(await pictures(['a.png', 800], ['b.png', 30]))",
        )
        .await?;
        browser
            .wait_for_text("The requests can have copies of the 2 pictures", TIMEOUT)
            .await?;
        // Guards against copies whose size the user can't choose.
        let side = browser
            .find(&by("combobox", "Longest side of copies"))
            .await?;
        side.select_by_value("512").await?;
        studio.press("Put smaller copies into the requests").await?;
        studio.press("Generate 2").await?;
        studio
            .sees("both items", |_| sent_items(studio) == 2)
            .await?;
        let widths = r#"return (async () => {
            const opened = await new Promise(done => {
                indexedDB.open('atelier').onsuccess = event => done(event.target.result);
            });
            const all = opened.transaction('tasks').objectStore('tasks').getAll();
            await new Promise(done => (all.onsuccess = done));
            opened.close();
            const found = JSON.stringify(all.result).matchAll(/data:image\/\w+;base64,[^"\\]+/g);
            const widths = [...new Set([...found].map(it => it[0]))].map(async picture => {
                const image = Object.assign(new Image(), { src: picture });
                await image.decode();
                return image.naturalWidth;
            });
            return (await Promise.all(widths)).sort((a, b) => a - b);
        })()"#;
        assert_eq!(browser.run(widths, vec![]).await?, json!([30, 512]));
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_has_pictures_as_an_axis() {
    run_steps("swept_pictures", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.choose("Sweep").await?;
        let select = "
            const select = document.querySelector('select[aria-label=\"Axis\"]');
            select.value = 'image_url';
            select.dispatchEvent(new Event('change', { bubbles: true }))";
        browser.run(select, vec![]).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        run(
            studio,
            "drop(await pictures(['a.png', 20], ['b.png', 30]), '.axis')",
        )
        .await?;
        browser
            .wait_for_text("The sweep needs 2 files: wait for the upload", TIMEOUT)
            .await?;
        studio.proxy.clear();
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(browser.run(SENT_WIDTHS, vec![]).await?, json!([20, 30]));
        assert_eq!(sent_items(studio), 2);
        let values: Value = browser
            .run(
                "return document.querySelector('[aria-label=Values]').value",
                vec![],
            )
            .await?;
        assert_eq!(values.as_str().map(|text| text.lines().count()), Some(2));
        // The sweep was sent, so it is not offered again.
        browser.find(&by("button", "Generate")).await?;
        Ok(())
    })
    .await;
}
