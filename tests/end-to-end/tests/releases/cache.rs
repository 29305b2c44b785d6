//! What a browser has kept of the release before.

use crate::host::{
    FIRST, Host, RECOLOURED, Releases, TIMEOUT, not_found, releases, see_all_of, see_release,
};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::release::has_lasting_name;
use atelier_end_to_end::story::drive;

/// Guards against a name that is taken before a file's last change: hosts serve names for ever.
#[tokio::test(flavor = "multi_thread")]
async fn no_name_has_two_contents() -> Result<()> {
    let all = releases().await?;
    let releases = [&all.first, &all.recoloured, &all.rebuilt];
    let mut names = std::collections::BTreeMap::new();
    let mut twice = Vec::new();
    for release in releases {
        for (name, bytes) in release.files()? {
            if has_lasting_name(&name) {
                continue;
            }
            if names.get(&name).is_some_and(|known| *known != bytes) {
                twice.push(name.clone());
            }
            names.insert(name, bytes);
        }
    }
    assert!(twice.is_empty(), "two contents each: {twice:?}");
    // So that it means something: each of them is another one.
    for release in &releases[1..] {
        assert_ne!(release.files()?, all.first.files()?);
    }
    Ok(())
}

/// Guards against yesterday's script or style sheets in today's page: they were kept under names
/// that had got another content.
#[tokio::test(flavor = "multi_thread")]
async fn a_returning_visitor_gets_the_new_release_whole() {
    let name = "a_returning_visitor_gets_the_new_release_whole";
    drive(name, async |browser| {
        let Releases {
            first,
            recoloured,
            rebuilt,
        } = releases().await?;
        let host = Host::with(browser, first).await?;
        see_all_of(browser, &host, first, FIRST).await?;
        // All of the first release is kept, and from now on all of the next.
        for (release, colours) in [(recoloured, RECOLOURED), (rebuilt, FIRST), (first, FIRST)] {
            host.deploy(release)?;
            see_all_of(browser, &host, release, colours).await?;
        }
        host.deploy(recoloured)?;
        host.proxy.clear_cache(browser).await?;
        see_all_of(browser, &host, recoloured, RECOLOURED).await?;
        assert!(host.missed().is_empty(), "{:?}", host.missed());
        let kept = recoloured.path("atelier-", ".js")?;
        assert_eq!(host.asked(&kept), 2, "files are not kept at all");
        Ok(())
    })
    .await;
}

/// Guards against a script that is still there and looks for the wasm or the style sheets of its own
/// release in vain, or finds those of another.
#[tokio::test(flavor = "multi_thread")]
async fn half_of_a_cache_makes_no_mix() {
    drive("half_of_a_cache_makes_no_mix", async |browser| {
        let Releases {
            first,
            recoloured,
            rebuilt,
            ..
        } = releases().await?;
        for gone in ["_bg.wasm", "_deferred.wasm", "_pages.wasm", ".js"] {
            let host = Host::with(browser, first).await?;
            host.proxy
                .add(Rule::every(&first.path("atelier-", gone)?, Fault::Unkept));
            let style = first.path("pages-", ".css")?;
            host.proxy.add(Rule::every(&style, Fault::Unkept));
            see_all_of(browser, &host, first, FIRST).await?;
            for (release, colours) in [(recoloured, RECOLOURED), (rebuilt, FIRST)] {
                host.deploy(release)?;
                see_all_of(browser, &host, release, colours).await?;
            }
            assert!(host.missed().is_empty(), "{gone}: {:?}", host.missed());
        }
        Ok(())
    })
    .await;
}

/// Guards against a page that says `Atelier is opening…` for ever: going back, a browser shows the
/// page that it has kept without asking, whose script is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_kept_page_whose_script_is_gone_begins_anew() {
    let name = "a_kept_page_whose_script_is_gone_begins_anew";
    drive(name, async |browser| {
        let Releases { first, rebuilt, .. } = releases().await?;
        for gone in [".js", "_bg.wasm"] {
            let host = Host::with(browser, first).await?;
            let gone = first.path("atelier-", gone)?;
            host.proxy.add(Rule::every(&gone, Fault::Unkept));
            browser.open(&host.address("/")).await?;
            browser.find(&starting("link", "Strata")).await?;
            // A page that listens for this is not kept alive.
            browser
                .run("addEventListener('unload', () => {})", vec![])
                .await?;
            browser.open("about:blank").await?;
            host.deploy(rebuilt)?;
            // Not the driver's own way back: it waits for a page that gives way to another one. Once: the
            // driver runs a script again whose page has gone meanwhile.
            let back = "if (location.href === 'about:blank') setTimeout(() => history.back())";
            browser.run(back, vec![]).await?;
            browser.find(&starting("link", "Strata")).await?;
            see_release(browser, rebuilt).await?;
            assert!(host.missed().contains(&gone), "it was not the kept page");
        }
        Ok(())
    })
    .await;
}

/// Guards against a page that is loaded over and over because its host lacks a file for good.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_can_not_begin_says_so() {
    drive("a_page_that_can_not_begin_says_so", async |browser| {
        let Releases { first, .. } = releases().await?;
        let host = Host::with(browser, first).await?;
        let script = first.path("atelier-", ".js")?;
        for fault in [not_found(), Fault::NotJson] {
            host.proxy.clear();
            host.proxy.add(Rule::every(&script, fault));
            let before = host.asked("/");
            browser.open(&host.address("/")).await?;
            browser
                .see_text("Atelier could not be opened", TIMEOUT)
                .await?;
            // The page, the same afresh, and what became of it.
            let loads = host.asked("/") - before;
            assert!(loads <= 3, "{loads} loads");
            host.proxy.clear();
            // So that it is not kept for the other fault.
            host.proxy.add(Rule::every(&script, Fault::Unkept));
            browser.press(&by("button", "Try again")).await?;
            browser.find(&starting("link", "Strata")).await?;
        }
        Ok(())
    })
    .await;
}
