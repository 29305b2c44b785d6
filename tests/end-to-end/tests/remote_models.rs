//! Tests of models that the local service runs with external programs: progress, and an unavailable model.

use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::models_file::ModelsFile;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::{http, wait};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

/// The time limit for the service and the page to check again, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(90);

const MODELS: &str = r#"
[[model]]
category = "image"
subcategory = "sketch"
name = "Sketch"
description = "Draws with a program of mine."
makes = "image"

[model.command]
program = "./draw.sh"

[[model.parameter]]
name = "prompt"
type = "string"
required = true
max_length = 200
"#;

/// Prints progress messages, and waits for the file `go`.
const PROGRAM: &str = "#!/bin/sh
input=$(cat)
printf 'loading\\r' >&2
echo 'step 5 of 20' >&2
while [ -d \"$(dirname \"$0\")\" ] && [ ! -e \"$(dirname \"$0\")/go\" ]; do sleep 0.1; done
printf '%s' \"$input\" > out.json
";

/// Reports fractions, and waits for the file `go`.
const MEASURED: &str = "#!/bin/sh
input=$(cat)
echo 'progress 0.4 step 8 of 20' >&2
while [ -d \"$(dirname \"$0\")\" ] && [ ! -e \"$(dirname \"$0\")/go\" ]; do sleep 0.1; done
printf '%s' \"$input\" > out.json
";

/// Guards against a wait without the progress that the program reports, and against a page that does not show that a
/// model is unavailable.
#[tokio::test(flavor = "multi_thread")]
async fn progress_and_unavailable_model_are_shown() {
    let name = "progress_and_unavailable_model_are_shown";
    drive(name, async |browser| {
        let models = ModelsFile::with_program(MODELS, PROGRAM)?;
        let service = Service::start_with_site(&["--models", models.path()]).await?;
        let page = format!("{}/models/image/sketch", service.address());
        browser.open(&page).await?;
        browser
            .fill(&starting("textbox", "prompt"), "a heron")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("step 5 of 20", TIMEOUT).await?;
        wait::until("the progress bar".to_owned(), TIMEOUT, async || {
            let value = "return document.querySelector('.waiting progress')?.value ?? null";
            let value = browser.run(value, vec![]).await?;
            Ok(match value.as_f64() {
                Some(0.25) => wait::Seen::Yes(()),
                _ => wait::Seen::NotYet(format!("its value is {value}")),
            })
        })
        .await?;
        fs::write(models.folder().join("go"), "")?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;

        // The model becomes unavailable. The service still accepts a task, which shows why it waits.
        fs::remove_file(models.folder().join("draw.sh"))?;
        wait::until(
            "the model to be away in the list".to_owned(),
            TIMEOUT,
            async || {
                let (_, list) = http::get(&format!("{}/api/models", service.address())).await?;
                let list: Value = serde_json::from_slice(&list)?;
                let models = list["data"].as_array().ok_or("no list")?;
                Ok(match models.iter().any(|model| model["away"].is_string()) {
                    true => wait::Seen::Yes(()),
                    false => wait::Seen::NotYet("no model is away".to_owned()),
                })
            },
        )
        .await?;
        browser.open(&service.address()).await?;
        browser.wait_for_text("Unavailable", TIMEOUT).await?;
        browser.press(&by("link", "Sketch")).await?;
        browser.wait_for_text("Unavailable: ", TIMEOUT).await?;
        browser
            .fill(&starting("textbox", "prompt"), "a crane")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("The model is away: ", TIMEOUT)
            .await?;

        // The model is available again, and its task completes, without a reload of the page.
        models.write_program(PROGRAM)?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        wait::until(
            "no model to be away on the page".to_owned(),
            TIMEOUT,
            async || {
                let text = browser
                    .run("return document.body.innerText", vec![])
                    .await?;
                Ok(
                    match text
                        .as_str()
                        .is_some_and(|text| text.contains("Unavailable: "))
                    {
                        true => wait::Seen::NotYet("the page still shows it".to_owned()),
                        false => wait::Seen::Yes(()),
                    },
                )
            },
        )
        .await?;
        Ok(())
    })
    .await;
}

/// Guards against a fraction that is not shown at the task or in the list of tasks.
#[tokio::test(flavor = "multi_thread")]
async fn a_reported_fraction_is_shown() {
    drive("a_reported_fraction_is_shown", async |browser| {
        let models = ModelsFile::with_program(MODELS, MEASURED)?;
        let service = Service::start_with_site(&["--models", models.path()]).await?;
        let page = format!("{}/models/image/sketch", service.address());
        browser.open(&page).await?;
        browser
            .fill(&starting("textbox", "prompt"), "a heron")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("40 %", TIMEOUT).await?;
        let bar = browser.find(&by("progressbar", "Under way")).await?;
        let value = bar.attr("aria-valuetext").await?;
        assert_eq!(value.as_deref(), Some("40 %"));
        let script = "
            const line = document.querySelector('.progress-line');
            return [arguments[0].value, line.textContent, line.title]";
        let shown = browser.run(script, vec![browser.argument(&bar)]).await?;
        let message = "step 8 of 20";
        assert_eq!(shown, json!([0.4, message, message]));

        browser.press(&by("link", "Tasks")).await?;
        wait::until("the bar in the list".to_owned(), TIMEOUT, async || {
            let width = "
                return document.querySelector('.task-row .done-bar:not([hidden])')
                    ?.style.getPropertyValue('--done') ?? null";
            let width = browser.run(width, vec![]).await?;
            Ok(match width.as_str() {
                Some("40.0%") => wait::Seen::Yes(()),
                _ => wait::Seen::NotYet(format!("its width is {width}")),
            })
        })
        .await?;
        fs::write(models.folder().join("go"), "")?;
        browser.wait_for_text("Completed", TIMEOUT).await
    })
    .await;
}
