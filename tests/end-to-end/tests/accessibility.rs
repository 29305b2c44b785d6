//! What keeps people out: axe-core finds nothing on any page, in light and dark.

use atelier_end_to_end::browser::{Browser, Scheme};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::{Result, look, site, tour};
use serde_json::Value;

/// What axe-core finds on the page as it is, each with the element.
const FIND: &str = "
    return axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(
        ({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`)
    ))";

async fn axe() -> Result<String> {
    let file = site::repository().join(".tools/npm/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&file)
        .map_err(|error| format!("{}: {error}. `./dev test` installs it", file.display()).into())
}

async fn found(browser: &Browser, script: &str) -> Result<Vec<String>> {
    let found = browser.run(script, vec![]).await?;
    let found = found.as_array().cloned().unwrap_or_default();
    Ok(found
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect())
}

/// Guards against whatever a machine can tell: names, roles, contrast, order.
#[tokio::test(flavor = "multi_thread")]
async fn axe_finds_nothing_on_any_page() {
    drive("axe_finds_nothing", async |browser| {
        let axe = axe().await?;
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        let mut wrong = Vec::new();
        let mut look = async |page: &str| -> Result<()> {
            for scheme in look::SCHEMES {
                browser.prefer(scheme).await?;
                browser.open(&format!("{address}{page}")).await?;
                browser.settled().await?;
                browser.run(&axe, vec![]).await?;
                for line in found(browser, FIND).await? {
                    wrong.push(format!("{page} {scheme:?}: {line}"));
                }
            }
            Ok(())
        };
        // The first visit, before anything is there.
        look("/").await?;
        look("/tasks").await?;
        browser.prefer(Scheme::Light).await?;
        tour::make(browser, &address).await?;
        for page in tour::pages(browser, &address).await? {
            look(&page).await?;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    })
    .await;
}
