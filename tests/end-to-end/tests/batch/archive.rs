//! The archive of a batch, and its manifests.

use crate::size::store_batch;
use crate::studio::{Studio, TIMEOUT, error, numbered_prompts, run_steps};
use atelier_end_to_end::fault::Rule;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Result, http};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;

const TOKEN: &str = "tok-3f9a-never-to-be-written-down";

/// Returns the files of an archive by name. The library checks their checksums.
fn unzip(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut files = BTreeMap::new();
    for at in 0..archive.len() {
        let mut file = archive.by_index(at)?;
        let name = file.name()?.into_owned();
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        assert!(
            files.insert(name, content).is_none(),
            "a file name occurs twice"
        );
    }
    Ok(files)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

fn json_of(path: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Returns the path of an output's address, which names the proxy instead of the service.
fn path_of(url: &str) -> Result<String> {
    let url: url::Url = url.parse()?;
    Ok(url.path().to_owned())
}

async fn sign_in(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.open(&studio.address("/settings")).await?;
    browser.fill(&by("textbox", "User ID"), "me").await?;
    browser.fill(&by("textbox", "Access token"), TOKEN).await?;
    studio.press("Save").await?;
    // The reload shows the model's form, which appears once the credentials are set. A reload keeps them.
    studio.reload().await
}

/// Returns rows for a batch: some have two outputs, one fails, and some have prompts that are not valid file names.
fn rows() -> Value {
    json!([
        {"prompt": "a café, at night / in blue", "panes": 40, "seed": 18_446_744_073_709_551_615_u64},
        {"prompt": "two of them", "panes": 40, "num_outputs": 2, "lead": false},
        {"prompt": "broken [fail]", "panes": 40},
        {"prompt": "gone: its file", "panes": 40, "num_outputs": 2},
        {"prompt": "../../etc/passwd", "panes": 40, "layout": "rose"},
    ])
}

/// Guards against archives that other programs can't open, outputs that are changed or missing without a message, and a
/// token in the archive.
#[tokio::test(flavor = "multi_thread")]
async fn the_archive_contains_every_output_and_lists_missing_ones() {
    let name = "the_archive_contains_every_output_and_lists_missing_ones";
    let service = ["--speed", "0", "--token", TOKEN];
    run_steps(name, &service, async |studio| {
        let browser = studio.browser;
        sign_in(studio).await?;
        studio.choose("Import").await?;
        let rows = rows();
        // The maximum of `seed` depends on the schema.
        let mut rows = rows.as_array().cloned().unwrap_or_default();
        rows[0]["seed"] = json!(9_007_199_254_740_993_u64);
        if !accepts_large_seed(studio).await? {
            rows[0]["seed"] = json!(77);
        }
        let text = Value::Array(rows.clone()).to_string();
        browser.paste(&by("textbox", "Table"), &text).await?;
        studio.press("Add 5 items").await?;
        studio.press("Generate 5").await?;
        studio.wait_for_counts("4 completed, 1 failed").await?;

        // The manifest alone contains the addresses of the outputs.
        studio.press("Manifest JSON").await?;
        let manifest = json_of(&browser.wait_for_downloads(1, ".json").await?[0])?;
        let item = |n: usize| &manifest["items"][n - 1];
        for (n, row) in (1..).zip(&rows) {
            let mut input = item(n)["input"].clone();
            if row.get("seed").is_none() {
                // The page drew a random seed and recorded it.
                let drawn = input.as_object_mut().and_then(|input| input.remove("seed"));
                assert!(drawn.is_some_and(|seed| seed.is_u64()), "{}", item(n));
            }
            assert_eq!(input, *row);
            assert_eq!(item(n)["index"], json!(n));
            assert!(item(n)["id"].is_string(), "{}", item(n));
            assert!(item(n)["submitted"].is_string(), "{}", item(n));
            assert!(item(n)["finished"].is_string(), "{}", item(n));
        }
        // The second output fails: the page shows the first one, so the browser may have cached it.
        let missing_url = item(4)["outputs"][1]["url"].as_str().ok_or("no address")?;
        studio
            .proxy
            .add(Rule::every(&path_of(missing_url)?, error(404)));

        studio.press("Download all").await?;
        let archive = std::fs::read(&browser.wait_for_downloads(1, ".zip").await?[0])?;
        browser
            .wait_for_text("1 output could not be fetched", TIMEOUT)
            .await?;
        assert!(
            contains(&archive, "a-cafe-at-night"),
            "`contains` does not work"
        );
        assert!(!contains(&archive, TOKEN), "the token is in the archive");
        let mut files = unzip(&archive)?;
        let written = files.remove("manifest.json").ok_or("no manifest.json")?;
        let written: Value = serde_json::from_slice(&written)?;
        let table = files.remove("manifest.csv").ok_or("no manifest.csv")?;
        assert!(contains(&table, "05-etc-passwd-1.png"));
        let mut dated = zip::ZipArchive::new(Cursor::new(&archive))?;
        for name in ["05-etc-passwd-1.png", "manifest.csv"] {
            let date = dated.by_name(name)?.last_modified();
            assert!(date.ok_or("no date")?.year() > 1980, "date of {name}");
        }
        let expected = [
            "01-a-cafe-at-night-in-blue-1.png",
            "02-two-of-them-1.png",
            "02-two-of-them-2.png",
            "04-gone-its-file-1.png",
            "05-etc-passwd-1.png",
        ];
        assert_eq!(files.keys().collect::<Vec<_>>(), expected);
        let mut compared = 0;
        for item in written["items"].as_array().into_iter().flatten() {
            for output in item["outputs"].as_array().into_iter().flatten() {
                let Some(file) = output["file"].as_str() else {
                    assert_eq!(item["index"], json!(4), "{item}");
                    let reason = output["missing"].as_str().ok_or("no reason")?;
                    assert!(reason.ends_with('.'), "not a sentence: {reason}");
                    assert_eq!(output["url"], json!(missing_url));
                    continue;
                };
                let url = output["url"].as_str().ok_or("no address")?;
                let address = format!("{}{}", studio.service.address(), path_of(url)?);
                let (status, bytes) = http::get(&address).await?;
                assert_eq!(status, 200, "{address}");
                assert!(
                    files[file] == bytes,
                    "{file} differs from the file of the service"
                );
                compared += 1;
            }
        }
        assert_eq!(compared, 5, "{written:#}");
        let states: Vec<_> = written["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| item["state"].as_str())
            .collect();
        let completed = "Completed";
        assert_eq!(
            states,
            [completed, completed, "Failed", completed, completed]
        );
        let error = written["items"][2]["error"].as_str();
        assert!(error.is_some_and(|error| !error.is_empty()));

        // The manifest as a table has the same inputs.
        studio.press("Manifest CSV").await?;
        let table = std::fs::read_to_string(&browser.wait_for_downloads(1, ".csv").await?[0])?;
        assert!(table.contains("input.prompt") && !table.contains(TOKEN));
        Ok(())
    })
    .await;
}

/// Returns whether the model accepts seeds that a JavaScript number can't represent.
async fn accepts_large_seed(studio: &Studio<'_>) -> Result<bool> {
    let address = format!("{}/api/schema/image/tessera", studio.service.address());
    let (_, schema) = http::get(&address).await?;
    let schema: Value = serde_json::from_slice(&schema)?;
    let optional = schema["data"]["parameters"]["optional"].as_array();
    let seed = optional
        .into_iter()
        .flatten()
        .find(|parameter| parameter["name"] == "seed");
    let maximum = seed.and_then(|seed| seed["maximum"].as_u64());
    Ok(maximum.is_none_or(|maximum| maximum > 9_007_199_254_740_993))
}

/// Guards against a manifest that only the browser that wrote it can use.
#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_can_be_viewed_or_run_again() {
    let name = "a_manifest_can_be_viewed_or_run_again";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered_prompts("again", 3);
        studio.send(&prompts).await?;
        studio.wait_for_counts("3 completed").await?;
        studio.press("Manifest JSON").await?;
        let file = browser.wait_for_downloads(1, ".json").await?.remove(0);

        // The browser no longer has the batch.
        studio.press("Remove batch").await?;
        studio.choose("Import").await?;
        let choose = starting("button", "Choose a file");
        browser.choose_file(&choose, &file).await?;
        browser
            .wait_for_text("A manifest: 3 items can be added.", TIMEOUT)
            .await?;
        studio.press("View only").await?;
        let manifest = browser
            .find(&by("article", "Manifest: again 01 and 2 others"))
            .await?;
        until("the items of the manifest", TIMEOUT, async || {
            let items = studio.items_in(&manifest).await?;
            let shown = items.iter().map(|item| (&*item.prompt, &*item.state));
            let expected = prompts.iter().map(|prompt| (&**prompt, "Completed"));
            Ok(match shown.clone().eq(expected) {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("{:?}", shown.collect::<Vec<_>>())),
            })
        })
        .await?;
        assert_eq!(
            studio.call_sizes(),
            [3],
            "viewing the manifest sent something"
        );

        studio.press("Add 3 items").await?;
        assert_eq!(studio.rows().await?, prompts);
        studio.press("Generate 3").await?;
        studio.wait_for_counts("3 completed").await?;
        assert_eq!(studio.sent_prompts(), [prompts.clone(), prompts].concat());
        Ok(())
    })
    .await;
}

/// Guards against a page that does not respond while it packs an archive: other event handlers run between the files.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_responds_while_two_hundred_outputs_are_packed() {
    let name = "the_page_responds_while_two_hundred_outputs_are_packed";
    run_steps(name, &["--speed", "0"], async |studio| {
        store_batch(studio, 200).await?;
        let progress = by("progressbar", "Packing");
        let download = studio.browser.find(&by("button", "Download all")).await?;
        let script = "
            window.events = 0;
            const bar = document.querySelector('progress[aria-label=Packing]');
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => {
                if (!bar.closest('[hidden]')) window.events += 1;
                port2.postMessage(0);
            };
            port2.postMessage(0);";
        studio.browser.run(script, vec![]).await?;
        download.click().await?;
        let archive = std::fs::read(&studio.browser.wait_for_downloads(1, ".zip").await?[0])?;
        studio.browser.wait_until_gone(&progress).await?;
        let events = studio.browser.run("return window.events", vec![]).await?;
        // The archive also contains two manifests.
        assert_eq!(unzip(&archive)?.len(), 202);
        assert!(events.as_u64() > Some(50), "only {events} other events");
        Ok(())
    })
    .await;
}
