//! Tests of files of the previous release in the HTTP cache.

use crate::host::{
    FIRST, Host, RECOLORED, Releases, TIMEOUT, check_complete_release, not_found, releases,
    wait_for_release,
};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::release::has_stable_name;
use atelier_end_to_end::story::drive;

/// Guards against a file name whose hash is computed before the file's last change. Hosts serve these files as
/// immutable, so the name must change with the content.
#[tokio::test(flavor = "multi_thread")]
async fn file_name_never_has_two_contents() -> Result<()> {
    let all = releases().await?;
    let releases = [&all.first, &all.recolored, &all.rebuilt];
    let mut names = std::collections::BTreeMap::new();
    let mut duplicates = Vec::new();
    for release in releases {
        for (name, bytes) in release.files()? {
            if has_stable_name(&name) {
                continue;
            }
            if names.get(&name).is_some_and(|known| *known != bytes) {
                duplicates.push(name.clone());
            }
            names.insert(name, bytes);
        }
    }
    assert!(
        duplicates.is_empty(),
        "names with two contents: {duplicates:?}"
    );
    // Checks that the releases differ at all.
    for release in &releases[1..] {
        assert_ne!(release.files()?, all.first.files()?);
    }
    Ok(())
}

/// Guards against old scripts or style sheets in a new page: they were cached under names that now have another
/// content.
#[tokio::test(flavor = "multi_thread")]
async fn returning_visitor_gets_complete_new_release() {
    let name = "returning_visitor_gets_complete_new_release";
    drive(name, async |browser| {
        let Releases {
            first,
            recolored,
            rebuilt,
        } = releases().await?;
        let host = Host::start(browser, first).await?;
        check_complete_release(browser, &host, first, FIRST).await?;
        // The first release is completely cached. From now on, each page load must use only the deployed release.
        for (release, colors) in [(recolored, RECOLORED), (rebuilt, FIRST), (first, FIRST)] {
            host.deploy(release)?;
            check_complete_release(browser, &host, release, colors).await?;
        }
        host.deploy(recolored)?;
        host.proxy.clear_cache(browser).await?;
        check_complete_release(browser, &host, recolored, RECOLORED).await?;
        assert!(
            host.failed_requests().is_empty(),
            "{:?}",
            host.failed_requests()
        );
        let cached = recolored.path("atelier-", ".js")?;
        assert_eq!(host.requests(&cached), 2, "files are not cached at all");
        Ok(())
    })
    .await;
}

/// Guards against a cached script that fails to find the wasm or style sheets of its own release, or loads those of
/// another.
#[tokio::test(flavor = "multi_thread")]
async fn partial_http_cache_does_not_mix_releases() {
    drive(
        "partial_http_cache_does_not_mix_releases",
        async |browser| {
            let Releases {
                first,
                recolored,
                rebuilt,
                ..
            } = releases().await?;
            for gone in ["_bg.wasm", "_deferred.wasm", "_pages.wasm", ".js"] {
                let host = Host::start(browser, first).await?;
                host.proxy
                    .add(Rule::every(&first.path("atelier-", gone)?, Fault::NoStore));
                let style = first.path("pages-", ".css")?;
                host.proxy.add(Rule::every(&style, Fault::NoStore));
                check_complete_release(browser, &host, first, FIRST).await?;
                for (release, colors) in [(recolored, RECOLORED), (rebuilt, FIRST)] {
                    host.deploy(release)?;
                    check_complete_release(browser, &host, release, colors).await?;
                }
                assert!(
                    host.failed_requests().is_empty(),
                    "{gone}: {:?}",
                    host.failed_requests()
                );
            }
            Ok(())
        },
    )
    .await;
}

/// Guards against a page that shows `Atelier is opening…` forever: on Back, a browser shows the cached page without a
/// request, and its script is gone.
#[tokio::test(flavor = "multi_thread")]
async fn cached_page_reloads_if_its_script_is_gone() {
    let name = "cached_page_reloads_if_its_script_is_gone";
    drive(name, async |browser| {
        let Releases { first, rebuilt, .. } = releases().await?;
        for gone in [".js", "_bg.wasm"] {
            let host = Host::start(browser, first).await?;
            let gone = first.path("atelier-", gone)?;
            host.proxy.add(Rule::every(&gone, Fault::NoStore));
            browser.open(&host.address("/")).await?;
            browser.find(&starting("link", "Strata")).await?;
            // A page with an `unload` listener is not put in the back/forward cache.
            browser
                .run("addEventListener('unload', () => {})", vec![])
                .await?;
            browser.open("about:blank").await?;
            host.deploy(rebuilt)?;
            // Not the driver's Back command, which would wait for the page that is then replaced. The condition is
            // needed because the driver runs a script again if its page has changed meanwhile.
            let back = "if (location.href === 'about:blank') setTimeout(() => history.back())";
            browser.run(back, vec![]).await?;
            browser.find(&starting("link", "Strata")).await?;
            wait_for_release(browser, rebuilt).await?;
            assert!(
                host.failed_requests().contains(&gone),
                "the page was not from the cache"
            );
        }
        Ok(())
    })
    .await;
}

/// Guards against a page that reloads endlessly because its host lacks a file.
#[tokio::test(flavor = "multi_thread")]
async fn page_shows_error_if_it_cannot_start() {
    drive("page_shows_error_if_it_cannot_start", async |browser| {
        let Releases { first, .. } = releases().await?;
        let host = Host::start(browser, first).await?;
        let script = first.path("atelier-", ".js")?;
        for fault in [not_found(), Fault::NotJson] {
            host.proxy.clear();
            host.proxy.add(Rule::every(&script, fault));
            let before = host.requests("/");
            browser.open(&host.address("/")).await?;
            browser
                .wait_for_text("Atelier could not be opened", TIMEOUT)
                .await?;
            // The page, and at most two reloads.
            let loads = host.requests("/") - before;
            assert!(loads <= 3, "{loads} loads");
            host.proxy.clear();
            // Keeps the script out of the cache for the next fault.
            host.proxy.add(Rule::every(&script, Fault::NoStore));
            browser.press(&by("button", "Try again")).await?;
            browser.find(&starting("link", "Strata")).await?;
        }
        Ok(())
    })
    .await;
}
