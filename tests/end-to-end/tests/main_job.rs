//! Tests of the main use case in a browser: from the model list to finished outputs.

use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{any, by, containing, control, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::{drive, skip_if_unsupported};
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Result, http};
use fantoccini::elements::Element;
use serde_json::Value;
use std::time::Duration;

/// The time limit for a generation. Models of the local service take up to 10 s, and longer on a busy machine.
const GENERATION: Duration = Duration::from_secs(60);

const PROMPT: &str = "a lighthouse at dusk, long exposure";

#[tokio::test(flavor = "multi_thread")]
async fn user_generates_and_downloads_from_model_list_to_task_list() {
    drive(
        "user_generates_and_downloads_from_model_list_to_task_list",
        async |browser| {
            let service = Service::start_with_site(&[]).await?;
            let model = find_image_model(&service).await?;

            browser.open(&service.address()).await?;
            browser.find(&by("heading", "Models")).await?;
            browser.press(&starting("link", &model.name)).await?;

            browser.find(&by("heading", &model.name)).await?;
            let form = browser.find(&by("form", "Input")).await?;
            browser
                .fill(&starting("textbox", "prompt").within(&form), PROMPT)
                .await?;
            browser.press(&by("button", "Generate")).await?;

            let result = browser.find(&by("region", "Result")).await?;
            let task = browser
                .find_with_limit(
                    &containing("article", "a lighthouse").within(&result),
                    GENERATION,
                )
                .await?;
            wait_for_state(browser, &task, "Completed").await?;
            wait_for_picture(browser, &task).await?;

            browser.press(&control("Download OpenAI function")).await?;
            browser.wait_for_downloads(1, ".py").await?;
            browser.press(&control("Download ComfyUI node")).await?;
            for file in browser.wait_for_downloads(2, ".py").await? {
                let name = file
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let text = std::fs::read_to_string(&file)?;
                assert!(
                    text.contains(&model.subcategory),
                    "{name} is about another model"
                );
                assert!(text.contains("/v2/generate"), "{name} does not generate");
            }

            browser.press(&by("link", "Tasks")).await?;
            browser.find(&by("heading", "Tasks")).await?;
            let list = browser.find(&by("list", "Tasks")).await?;
            let task = browser
                .find(&containing("article", "a lighthouse").within(&list))
                .await?;
            wait_for_state(browser, &task, "Completed").await?;

            let console =
                skip_if_unsupported("the console of the main job", browser.console().await)?;
            let problems: Vec<_> = console
                .iter()
                .flatten()
                .filter(|line| line.starts_with("SEVERE"))
                .collect();
            assert!(problems.is_empty(), "errors in the console: {problems:#?}");
            Ok(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn model_page_opens_at_its_address() {
    drive("model_page_opens_at_its_address", async |browser| {
        let service = Service::start_with_site(&[]).await?;
        let model = find_image_model(&service).await?;
        let Model {
            name,
            category,
            subcategory,
        } = &model;
        browser
            .open(&format!(
                "{}/models/{category}/{subcategory}",
                service.address()
            ))
            .await?;
        browser.find(&by("heading", name)).await?;
        browser.find(&by("form", "Input")).await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_form_sends_nothing_and_marks_prompt() {
    drive(
        "invalid_form_sends_nothing_and_marks_prompt",
        async |browser| {
            let service = Service::start_with_site(&[]).await?;
            let faults = atelier_end_to_end::fault::FaultProxy::start(&service.address()).await?;
            let model = find_image_model(&service).await?;
            browser.open(&faults.address()).await?;
            browser.press(&starting("link", &model.name)).await?;
            browser.press(&by("button", "Generate")).await?;
            let prompt = browser.find(&starting("textbox", "prompt")).await?;
            until("the prompt to be marked", GENERATION, async || {
                let marked = prompt.attr("aria-invalid").await?;
                Ok(match marked.as_deref() {
                    Some("true") => Seen::Yes(()),
                    other => Seen::NotYet(format!("aria-invalid is {other:?}")),
                })
            })
            .await?;
            assert!(
                !faults
                    .calls()
                    .iter()
                    .any(|call| call.path.starts_with("/v2/generate"))
            );
            Ok(())
        },
    )
    .await;
}

struct Model {
    name: String,
    category: String,
    subcategory: String,
}

/// Returns an image model whose only required parameter is the prompt.
async fn find_image_model(service: &Service) -> Result<Model> {
    let models = json(&format!("{}/api/models", service.address())).await?;
    for model in models["data"].as_array().into_iter().flatten() {
        let text = |field: &str| model[field].as_str().unwrap_or_default().to_owned();
        let model = Model {
            name: text("name"),
            category: text("category"),
            subcategory: text("subcategory"),
        };
        let schema = format!(
            "{}/api/schema/{}/{}",
            service.address(),
            model.category,
            model.subcategory
        );
        let schema = json(&schema).await?;
        let required = schema["data"]["parameters"]["required"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let only_prompt = required.len() == 1 && required[0]["name"] == "prompt";
        if model.category.contains("image") && only_prompt {
            return Ok(model);
        }
    }
    Err("the service has no image model that requires only a prompt".into())
}

async fn json(address: &str) -> Result<Value> {
    let (status, body) = http::get(address).await?;
    if status != 200 {
        return Err(format!("{address} answers {status}").into());
    }
    Ok(serde_json::from_slice(&body)?)
}

/// Waits until the task's live region contains this text.
async fn wait_for_state(browser: &Browser, task: &Element, expected: &str) -> Result<()> {
    until(
        format!("the task to be {expected}"),
        GENERATION,
        async || {
            let mut seen = Vec::new();
            for status in browser.find_all(&any("status").within(task)).await? {
                let text = status.text().await?;
                if text.contains(expected) {
                    return Ok(Seen::Yes(()));
                }
                seen.push(text);
            }
            Ok(Seen::NotYet(format!("the state is {seen:?}")))
        },
    )
    .await
}

/// Waits until a picture of the task is loaded and rendered.
async fn wait_for_picture(browser: &Browser, task: &Element) -> Result<()> {
    let script = "
        const [task] = arguments;
        return [...task.querySelectorAll('img')].map(image => {
            const box = image.getBoundingClientRect();
            return [image.naturalWidth, image.naturalHeight, box.width, box.height];
        })";
    until("a rendered picture", GENERATION, async || {
        let sizes = browser.run(script, vec![browser.argument(task)]).await?;
        let is_rendered = |size: &Value| {
            size.as_array()
                .is_some_and(|size| size.iter().all(|side| side.as_f64() > Some(0.0)))
        };
        Ok(
            if sizes
                .as_array()
                .is_some_and(|sizes| sizes.iter().any(is_rendered))
            {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("sizes of pictures: {sizes}"))
            },
        )
    })
    .await
}
