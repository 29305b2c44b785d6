//! One release after another: what a browser has kept of the one before, or still runs of it, never
//! mixes with the next.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::release::{Change, Release, has_lasting_name};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::OnceCell;

const TIMEOUT: Duration = Duration::from_secs(20);

const MODEL: &str = "/models/image/tessera";

/// A colour of the first view, and one of the deferred part.
const COLOURS: [(&str, &str, &str); 2] = [
    ("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 30)"),
    ("model", "color: var(--muted)", "color: rgb(1 2 3)"),
];

/// What the second of [`COLOURS`] is seen as.
const DEFERRED_COLOUR: &str = "rgb(1, 2, 3)";

struct Releases {
    first: Release,
    recoloured: Release,
    /// The same source, built with other options of a tool.
    rebuilt: Release,
}

/// Made once for all tests.
async fn releases() -> Result<&'static Releases> {
    static RELEASES: OnceCell<Releases> = OnceCell::const_new();
    RELEASES
        .get_or_try_init(async || {
            let (first, recoloured, rebuilt) = tokio::try_join!(
                Release::make("first", Change::Nothing),
                Release::make("recoloured", Change::Styles(&COLOURS)),
                Release::make("rebuilt", Change::Optimised("--vacuum")),
            )?;
            Ok(Releases {
                first,
                recoloured,
                rebuilt,
            })
        })
        .await
}

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

/// A host whose page can be exchanged for another release of it.
struct Host {
    // The order of the fields is the order of ending.
    proxy: FaultProxy,
    _service: Service,
    place: TempDir,
}

impl Host {
    /// Without the service worker, whose caches would hide what hosts and browsers keep; offline.rs has it.
    async fn with(browser: &Browser, release: &Release) -> Result<Self> {
        let place = tempfile::tempdir()?;
        symlink(release.folder(), place.path().join("site"))?;
        let site = place.path().join("site");
        let service = Service::start(&["--site", site.to_str().ok_or("no text")?]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let off = "try { localStorage.setItem('atelier.offline', 'off') } catch {}";
        proxy.before_each_page(browser, off).await?;
        Ok(Self {
            proxy,
            _service: service,
            place,
        })
    }

    /// From now on this release is there, and nothing of the one before.
    fn deploy(&self, release: &Release) -> Result<()> {
        let new = self.place.path().join("new");
        symlink(release.folder(), &new)?;
        Ok(std::fs::rename(new, self.place.path().join("site"))?)
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.proxy.address())
    }

    /// The files of the page that were asked for and not had.
    fn missed(&self) -> Vec<String> {
        let calls = self.proxy.calls().into_iter();
        calls
            .filter(|call| !call.path.starts_with("/api/") && !call.path.starts_with("/v2/"))
            .filter(|call| call.status.is_some_and(|status| status >= 400))
            .map(|call| call.path)
            .collect()
    }

    /// How often a file was asked for.
    fn asked(&self, path: &str) -> usize {
        self.proxy.calls_to(path).len()
    }
}

/// The release that the page says it is of.
async fn release_of(browser: &Browser) -> Result<Value> {
    let script = "return document.querySelector('meta[name=release]').content";
    browser.run(script, vec![]).await
}

/// Which release a folder is of, by its page.
fn name_of(release: &Release) -> Result<String> {
    let page = std::fs::read_to_string(release.folder().join("index.html"))?;
    let (_, rest) = page
        .split_once("name=\"release\" content=\"")
        .ok_or("the page does not say its release")?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

/// Waits until the page is one of this release.
async fn see_release(browser: &Browser, release: &Release) -> Result<()> {
    let name = name_of(release)?;
    until(format!("release {name}"), TIMEOUT, async || {
        let seen = release_of(browser).await?;
        Ok(if seen == *name {
            Seen::Yes(())
        } else {
            Seen::NotYet(format!("it is {seen}"))
        })
    })
    .await
}

/// Loads the page of a model and checks that all of it is of this release: the page, both scripts'
/// parts, and the styles of the first view and of the deferred part, as they are seen.
async fn see_all_of(
    browser: &Browser,
    host: &Host,
    release: &Release,
    colours: [&str; 2],
) -> Result<()> {
    browser.open(&host.address(MODEL)).await?;
    browser.find(&by("button", "Generate")).await?;
    see_release(browser, release).await?;
    let script = "
        const own = performance.getEntriesByType('resource').map(({ name }) => new URL(name))
            .filter(({ origin, pathname }) => origin == location.origin && !/^\\/(api|v2|outputs)\\//.test(pathname));
        const style = (element) => getComputedStyle(element);
        return [own.map(({ pathname }) => pathname.slice(1)),
            style(document.documentElement).getPropertyValue('--accent'),
            style(document.querySelector('.crumbs')).color]";
    let seen = browser.run(script, vec![]).await?;
    let files = release.files()?;
    let asked = seen[0].as_array().ok_or("no files")?;
    for part in ["_bg.wasm", "_deferred.wasm", ".js"] {
        let is_part = |path: &&Value| path.as_str().is_some_and(|path| path.ends_with(part));
        assert!(asked.iter().any(|path| is_part(&path)), "{part}: {asked:?}");
    }
    for path in asked {
        let path = path.as_str().unwrap_or_default();
        assert!(files.contains_key(path), "{path} is none of the release's");
    }
    let seen = [&seen[1], &seen[2]].map(|colour| colour.as_str().unwrap_or_default());
    assert!(seen[0].contains(colours[0]), "{seen:?}");
    assert_eq!(
        seen[1] == DEFERRED_COLOUR,
        colours[1] == DEFERRED_COLOUR,
        "{seen:?}"
    );
    Ok(())
}

/// What the colours of [`COLOURS`] are seen as, before and after.
const FIRST: [&str; 2] = [".215 268", ""];
const RECOLOURED: [&str; 2] = [".215 30", DEFERRED_COLOUR];

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
        for gone in ["_bg.wasm", "_deferred.wasm", ".js"] {
            let host = Host::with(browser, first).await?;
            host.proxy
                .add(Rule::every(&first.path("atelier-", gone)?, Fault::Unkept));
            let style = first.path("deferred-", ".css")?;
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

fn not_found() -> Fault {
    Fault::Status {
        status: 404,
        retry_after: None,
    }
}

/// A prompt is typed, then the list of models is opened in a tab that can't have its deferred part
/// yet, and a new release takes the old one's place.
async fn open_before_a_deployment(
    browser: &Browser,
    host: &Host,
    [old, next]: [&Release; 2],
) -> Result<()> {
    let deferred = &old.path("atelier-", "_deferred.wasm")?;
    browser.open(&host.address(MODEL)).await?;
    let prompt = starting("textbox", "prompt");
    browser.fill(&prompt, PROMPT).await?;
    host.proxy.take_down(deferred);
    browser.open(&host.address("/")).await?;
    browser.find(&starting("link", "Tessera")).await?;
    host.deploy(next)?;
    host.proxy.bring_up(deferred);
    Ok(())
}

const PROMPT: &str = "a lighthouse that is typed and not sent";

async fn see_prompt(browser: &Browser) -> Result<()> {
    let prompt = browser.find(&starting("textbox", "prompt")).await?;
    let typed = prompt.prop("value").await?;
    assert_eq!(typed.as_deref(), Some(PROMPT));
    Ok(())
}

/// Guards against a page from before a deployment that can't go on, and against prompts that are lost
/// when it is loaded anew. A host may say that a file is gone, or answer with some page.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_goes_on_in_the_new_release() {
    let name = "an_open_page_goes_on_in_the_new_release";
    drive(name, async |browser| {
        let Releases {
            first,
            rebuilt,
            recoloured,
        } = releases().await?;
        let wasm = first.path("atelier-", "_deferred.wasm")?;
        // The wasm is gone; a page is in its place; a page is in a style sheet's place.
        let faults = [
            (wasm.clone(), not_found(), rebuilt),
            (wasm, Fault::NotJson, rebuilt),
            (first.path("deferred-", ".css")?, Fault::NotJson, recoloured),
        ];
        for (path, fault, next) in faults {
            let host = Host::with(browser, first).await?;
            host.proxy.add(Rule::next(1, &path, Fault::Unkept));
            host.proxy.add(Rule::every(&path, fault));
            open_before_a_deployment(browser, &host, [first, next]).await?;
            browser.press(&starting("link", "Tessera")).await?;
            browser
                .see_text("There is a newer Atelier.", TIMEOUT)
                .await?;
            see_release(browser, next).await?;
            see_prompt(browser).await?;
            assert!(host.asked(&path) >= 2, "{path} was not missed");
        }
        Ok(())
    })
    .await;
}

/// Guards against a page that is loaded anew without end, or for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_can_not_go_on_stays_and_says_why() {
    let name = "a_page_that_can_not_go_on_stays_and_says_why";
    drive(name, async |browser| {
        let Releases { first, rebuilt, .. } = releases().await?;
        let host = Host::with(browser, first).await?;
        let wasm = first.path("atelier-", "_deferred.wasm")?;
        host.proxy.add(Rule::next(1, &wasm, Fault::Unkept));
        open_before_a_deployment(browser, &host, [first, rebuilt]).await?;

        browser.set_offline(true).await?;
        browser.press(&starting("link", "Tessera")).await?;
        browser.see_text("does not answer", TIMEOUT).await?;
        browser.set_offline(false).await?;

        // The newest release is tried, and as far as the tab knows, that was in vain.
        browser
            .run(
                "sessionStorage.setItem('atelier.releases-tried', arguments[0])",
                vec![name_of(rebuilt)?.into()],
            )
            .await?;
        let loads = host.asked(MODEL);
        browser.press(&by("button", "Try again")).await?;
        browser
            .see_text("There is a newer Atelier.", TIMEOUT)
            .await?;
        browser.find(&by("button", "Reload")).await?;
        assert_eq!(host.asked(MODEL), loads, "it was loaded anew");
        browser.press(&by("button", "Reload")).await?;
        see_release(browser, rebuilt).await?;
        see_prompt(browser).await
    })
    .await;
}
