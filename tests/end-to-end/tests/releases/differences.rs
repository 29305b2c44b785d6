//! Tests of updates for browsers that still have the previous release.

use crate::host::{
    FIRST, Host, MODEL, Releases, TIMEOUT, check_complete_release, releases, wait_for_release,
};
use atelier_end_to_end::find::by;
use atelier_end_to_end::release::{Change, Release};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};

/// Guards against updates that are sent whole to browsers that have the previous release.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_sent_as_differences() {
    drive("an_update_is_sent_as_differences", async |browser| {
        let Releases { first, .. } = releases().await?;
        let update = Release::make("update", Change::Optimised("--vacuum")).await?;
        update.add_differences(first).await?;
        let host = Host::start(browser, first).await?;
        check_complete_release(browser, &host, first, FIRST).await?;
        // The browser stores a dictionary shortly after it has loaded the file.
        for part in ["_bg.wasm", "_deferred.wasm", "_pages.wasm"] {
            let missing = format!("/atelier-0000000000000000{part}");
            let ask = format!("return fetch('{missing}').then(() => true)");
            until(format!("the dictionary of {part}"), TIMEOUT, async || {
                browser.run(&ask, vec![]).await?;
                let call = host.proxy.calls_to(&missing).pop();
                Ok(match call.and_then(|call| call.dictionary) {
                    Some(_) => Seen::Yes(()),
                    None => Seen::NotYet("no header Available-Dictionary".to_owned()),
                })
            })
            .await?;
        }
        host.deploy(&update)?;
        browser.open(&host.address(MODEL)).await?;
        browser.find(&by("button", "Generate")).await?;
        wait_for_release(browser, &update).await?;
        let script = "
            const entries = performance.getEntriesByType('resource');
            return entries.filter(({ name }) => /_(bg|deferred|pages)[.]wasm$/.test(name))
                .map(({ name, encodedBodySize, decodedBodySize }) => [name, encodedBodySize, decodedBodySize])";
        let sizes = browser.run(script, vec![]).await?;
        let sizes = sizes.as_array().ok_or("no sizes")?;
        assert_eq!(sizes.len(), 3, "{sizes:?}");
        for size in sizes {
            let (sent, whole) = (size[1].as_u64(), size[2].as_u64());
            let (Some(sent), Some(whole)) = (sent, whole) else {
                panic!("{size}");
            };
            assert!(sent > 0 && sent * 20 < whole, "{size}");
        }
        Ok(())
    })
    .await;
}
