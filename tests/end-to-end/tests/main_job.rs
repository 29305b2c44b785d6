//! What Atelier is for: from the list of models to finished outputs, by hand, in a browser.

use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{any, by, containing, control, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::{drive, unless_left_out};
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Result, http};
use fantoccini::elements::Element;
use serde_json::Value;
use std::time::Duration;

/// Models of the local service take up to 10 s, and longer on a busy machine.
const GENERATION: Duration = Duration::from_secs(60);

const PROMPT: &str = "a lighthouse at dusk, long exposure";

#[tokio::test(flavor = "multi_thread")]
async fn from_the_list_of_models_to_finished_outputs() {
    drive(
        "from_the_list_of_models_to_finished_outputs",
        async |browser| {
            let service = Service::with_site(&[]).await?;
            let model = image_model(&service).await?;

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
                .find_for(
                    &containing("article", "a lighthouse").within(&result),
                    GENERATION,
                )
                .await?;
            state(browser, &task, "Completed").await?;
            picture(browser, &task).await?;

            browser.press(&control("Download OpenAI function")).await?;
            browser.downloaded(1, ".py").await?;
            browser.press(&control("Download ComfyUI node")).await?;
            for file in browser.downloaded(2, ".py").await? {
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
            state(browser, &task, "Completed").await?;

            let console = unless_left_out("the console of the main job", browser.console().await)?;
            let problems: Vec<_> = console
                .iter()
                .flatten()
                .filter(|line| line.starts_with("SEVERE"))
                .collect();
            assert!(problems.is_empty(), "the console says: {problems:#?}");
            Ok(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_reached_by_its_address() {
    drive("a_model_is_reached_by_its_address", async |browser| {
        let service = Service::with_site(&[]).await?;
        let model = image_model(&service).await?;
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
async fn nothing_is_sent_while_the_form_is_not_valid() {
    drive(
        "nothing_is_sent_while_the_form_is_not_valid",
        async |browser| {
            let service = Service::with_site(&[]).await?;
            let faults = atelier_end_to_end::fault::FaultProxy::start(&service.address()).await?;
            let model = image_model(&service).await?;
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

/// A model that makes pictures and needs a prompt and nothing else.
async fn image_model(service: &Service) -> Result<Model> {
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
    Err("the service has no model that makes pictures of a prompt alone".into())
}

async fn json(address: &str) -> Result<Value> {
    let (status, body) = http::get(address).await?;
    if status != 200 {
        return Err(format!("{address} answers {status}").into());
    }
    Ok(serde_json::from_slice(&body)?)
}

/// Waits until the task's live region says this.
async fn state(browser: &Browser, task: &Element, wanted: &str) -> Result<()> {
    until(format!("the task to be {wanted}"), GENERATION, async || {
        let mut seen = Vec::new();
        for status in browser.find_all(&any("status").within(task)).await? {
            let text = status.text().await?;
            if text.contains(wanted) {
                return Ok(Seen::Yes(()));
            }
            seen.push(text);
        }
        Ok(Seen::NotYet(format!("its state is {seen:?}")))
    })
    .await
}

/// Waits until a picture of the task is loaded and has a size on the screen.
async fn picture(browser: &Browser, task: &Element) -> Result<()> {
    let script = "
        const [task] = arguments;
        return [...task.querySelectorAll('img')].map(image => {
            const box = image.getBoundingClientRect();
            return [image.naturalWidth, image.naturalHeight, box.width, box.height];
        })";
    until("a picture of some size", GENERATION, async || {
        let sizes = browser.run(script, vec![browser.argument(task)]).await?;
        let some_size = |size: &Value| {
            size.as_array()
                .is_some_and(|size| size.iter().all(|side| side.as_f64() > Some(0.0)))
        };
        Ok(
            if sizes
                .as_array()
                .is_some_and(|sizes| sizes.iter().any(some_size))
            {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("pictures are {sizes}"))
            },
        )
    })
    .await
}
