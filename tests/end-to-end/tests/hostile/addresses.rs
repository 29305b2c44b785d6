//! Addresses that would execute code or read local files.

use atelier_end_to_end::find::by;
use serde_json::{Value, json};

use crate::service::model;
use crate::studio::run_until_settled;

const HARMFUL: [&str; 10] = [
    "javascript:window.pwned=1",
    "JaVaScRiPt:window.pwned=1",
    " \u{1}javascript:window.pwned=1",
    "java\tscript:window.pwned=1",
    "data:text/html,<script>window.pwned=1</script>",
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='window.pwned=1'/>",
    "vbscript:window.pwned=1",
    "file:///etc/passwd",
    "blob:null/0-0-0",
    "view-source:http://127.0.0.1/",
];

/// Returns whether a browser would execute this address or read a local file. Browsers ignore control characters and
/// whitespace in it.
fn is_harmful(address: &str) -> bool {
    let read: String = address
        .chars()
        .filter(|c| !c.is_control() && !c.is_whitespace())
        .collect();
    let read = read.to_lowercase();
    [
        "javascript:",
        "vbscript:",
        "file:",
        "view-source:",
        "data:text/html",
    ]
    .iter()
    .any(|scheme| read.starts_with(scheme))
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_with_harmful_addresses_are_neither_linked_nor_shown() {
    let name = "outputs_with_harmful_addresses_are_neither_linked_nor_shown";
    run_until_settled(name, async |studio| {
        let output: Vec<&str> = HARMFUL
            .iter()
            .copied()
            .chain(["/outputs/picture.svg"])
            .collect();
        let done = json!({"success": true, "data": {"status": "completed", "output": output}});
        studio.service.answer("/v2/response", &done);
        studio.generate("harm").await?;
        studio.wait_for_status("Completed").await?;
        // The harmless output is shown, so the harmful ones were processed too.
        let good = studio.addresses().await?;
        assert!(
            good.iter()
                .any(|address| address.ends_with("/outputs/picture.svg")),
            "{good:?}"
        );
        for path in ["/tasks", "/models/image/plain"] {
            studio.open(path).await?;
            studio.wait_for_status("Completed").await?;
            let bad: Vec<String> = studio
                .addresses()
                .await?
                .into_iter()
                .filter(|a| is_harmful(a))
                .collect();
            assert!(bad.is_empty(), "{path}: {bad:?}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn harmful_addresses_of_documentation_and_previews_are_not_linked() {
    let name = "harmful_addresses_of_documentation_and_previews_are_not_linked";
    run_until_settled(name, async |studio| {
        let models: Vec<Value> = HARMFUL
            .iter()
            .enumerate()
            .map(|(n, address)| {
                let mut entry = model(&format!("Model {n}"), "image", &format!("m{n}"));
                entry["documentation"] = (*address).into();
                entry["preview"] = (*address).into();
                entry
            })
            .collect();
        studio.service.set_models(&models);
        for n in 0..HARMFUL.len() {
            studio.open(&format!("/models/image/m{n}")).await?;
            studio
                .browser
                .find(&by("heading", &format!("Model {n}")))
                .await?;
            studio.browser.find(&by("form", "Input")).await?;
            let bad: Vec<String> = studio
                .addresses()
                .await?
                .into_iter()
                .filter(|a| is_harmful(a))
                .collect();
            assert!(bad.is_empty(), "{bad:?}");
        }
        Ok(())
    })
    .await;
}
