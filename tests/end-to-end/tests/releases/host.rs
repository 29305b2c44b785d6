//! Three releases, and a host on which one takes the place of another.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy};
use atelier_end_to_end::find::by;
use atelier_end_to_end::release::{Change, Release};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::OnceCell;

pub const TIMEOUT: Duration = Duration::from_secs(60);
pub const MODEL: &str = "/models/image/tessera";

/// A colour of the first view, and one of the pages behind it.
const COLOURS: [(&str, &str, &str); 2] = [
    ("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 30)"),
    ("model", "color: var(--muted)", "color: rgb(1 2 3)"),
];

/// What the second of [`COLOURS`] is seen as.
const PAGE_COLOUR: &str = "rgb(1, 2, 3)";

pub struct Releases {
    pub first: Release,
    pub recoloured: Release,
    /// The same source, built with other options of a tool.
    pub rebuilt: Release,
}

/// Made once for all tests.
pub async fn releases() -> Result<&'static Releases> {
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

/// A host whose page can be exchanged for another release of it.
pub struct Host {
    // The order of the fields is the order of ending.
    pub proxy: FaultProxy,
    _service: Service,
    place: TempDir,
}

impl Host {
    /// Without the service worker, whose caches would hide what hosts and browsers keep; offline.rs has it.
    pub async fn with(browser: &Browser, release: &Release) -> Result<Self> {
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
    pub fn deploy(&self, release: &Release) -> Result<()> {
        let new = self.place.path().join("new");
        symlink(release.folder(), &new)?;
        Ok(std::fs::rename(new, self.place.path().join("site"))?)
    }

    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.proxy.address())
    }

    /// The files of the page that were asked for and not had.
    pub fn missed(&self) -> Vec<String> {
        let calls = self.proxy.calls().into_iter();
        calls
            .filter(|call| !call.path.starts_with("/api/") && !call.path.starts_with("/v2/"))
            .filter(|call| call.status.is_some_and(|status| status >= 400))
            .map(|call| call.path)
            .collect()
    }

    /// How often a file was asked for.
    pub fn asked(&self, path: &str) -> usize {
        self.proxy.calls_to(path).len()
    }
}

/// The release that the page says it is of.
async fn release_of(browser: &Browser) -> Result<Value> {
    let script = "return document.querySelector('meta[name=release]').content";
    browser.run(script, vec![]).await
}

/// Which release a folder is of, by its page.
pub fn name_of(release: &Release) -> Result<String> {
    let page = std::fs::read_to_string(release.folder().join("index.html"))?;
    let (_, rest) = page
        .split_once("name=\"release\" content=\"")
        .ok_or("the page does not say its release")?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

/// Waits until the page is one of this release.
pub async fn see_release(browser: &Browser, release: &Release) -> Result<()> {
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
/// parts, and the styles of the first view and of the page, as they are seen.
pub async fn see_all_of(
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
    for part in ["_bg.wasm", "_deferred.wasm", "_pages.wasm", ".js"] {
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
        seen[1] == PAGE_COLOUR,
        colours[1] == PAGE_COLOUR,
        "{seen:?}"
    );
    Ok(())
}

/// What the colours of [`COLOURS`] are seen as, before and after.
pub const FIRST: [&str; 2] = [".215 268", ""];

pub const RECOLOURED: [&str; 2] = [".215 30", PAGE_COLOUR];

pub fn not_found() -> Fault {
    Fault::Status {
        status: 404,
        retry_after: None,
    }
}
