//! Three releases, and a host on which they can be deployed.

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

/// Color changes in the style sheet of the first view and in that of the other pages.
const COLORS: [(&str, &str, &str); 2] = [
    ("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 30)"),
    ("model", "color: var(--muted)", "color: rgb(1 2 3)"),
];

/// The computed value of the second color in [`COLORS`].
const PAGE_COLOR: &str = "rgb(1, 2, 3)";

pub struct Releases {
    pub first: Release,
    pub recolored: Release,
    /// The same source, built with other options of wasm-opt.
    pub rebuilt: Release,
}

/// Returns the releases, which are made once for all tests.
pub async fn releases() -> Result<&'static Releases> {
    static RELEASES: OnceCell<Releases> = OnceCell::const_new();
    RELEASES
        .get_or_try_init(async || {
            let (first, recolored, rebuilt) = tokio::try_join!(
                Release::make("first", Change::Nothing),
                Release::make("recolored", Change::Styles(&COLORS)),
                Release::make("rebuilt", Change::Optimised("--vacuum")),
            )?;
            Ok(Releases {
                first,
                recolored,
                rebuilt,
            })
        })
        .await
}

/// A host on which another release can be deployed.
pub struct Host {
    // Fields are dropped in order.
    pub proxy: FaultProxy,
    _service: Service,
    place: TempDir,
}

impl Host {
    /// Starts a host with a release. Disables the service worker, whose cache would hide the HTTP cache; offline.rs
    /// tests it.
    pub async fn start(browser: &Browser, release: &Release) -> Result<Self> {
        let place = tempfile::tempdir()?;
        symlink(release.folder(), place.path().join("site"))?;
        let site = place.path().join("site");
        let service = Service::start(&[
            "--site",
            site.to_str().ok_or("the path is not valid UTF-8")?,
        ])
        .await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let disable_worker = "try { localStorage.setItem('atelier.offline', 'off') } catch {}";
        proxy.before_each_page(browser, disable_worker).await?;
        Ok(Self {
            proxy,
            _service: service,
            place,
        })
    }

    /// Replaces the deployed release with this one.
    pub fn deploy(&self, release: &Release) -> Result<()> {
        let new = self.place.path().join("new");
        symlink(release.folder(), &new)?;
        Ok(std::fs::rename(new, self.place.path().join("site"))?)
    }

    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.proxy.address())
    }

    /// Returns the files of the page whose requests failed.
    pub fn failed_requests(&self) -> Vec<String> {
        let calls = self.proxy.calls().into_iter();
        calls
            .filter(|call| !call.path.starts_with("/api/") && !call.path.starts_with("/v2/"))
            .filter(|call| call.status.is_some_and(|status| status >= 400))
            .map(|call| call.path)
            .collect()
    }

    /// Returns the number of requests for a file.
    pub fn requests(&self, path: &str) -> usize {
        self.proxy.calls_to(path).len()
    }
}

/// Returns the release name of the open page.
async fn read_release(browser: &Browser) -> Result<Value> {
    let script = "return document.querySelector('meta[name=release]').content";
    browser.run(script, vec![]).await
}

/// Returns the name of a release, from its page.
pub fn release_name(release: &Release) -> Result<String> {
    let page = std::fs::read_to_string(release.folder().join("index.html"))?;
    let (_, rest) = page
        .split_once("name=\"release\" content=\"")
        .ok_or("the page does not name its release")?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

/// Waits until the open page belongs to this release.
pub async fn wait_for_release(browser: &Browser, release: &Release) -> Result<()> {
    let name = release_name(release)?;
    until(format!("release {name}"), TIMEOUT, async || {
        let seen = read_release(browser).await?;
        Ok(if seen == *name {
            Seen::Yes(())
        } else {
            Seen::NotYet(format!("the page belongs to release {seen}"))
        })
    })
    .await
}

/// Loads a model page and checks that all files belong to this release: the page, the script, the wasm files, and the
/// computed styles.
pub async fn check_complete_release(
    browser: &Browser,
    host: &Host,
    release: &Release,
    colors: [&str; 2],
) -> Result<()> {
    browser.open(&host.address(MODEL)).await?;
    browser.find(&by("button", "Generate")).await?;
    wait_for_release(browser, release).await?;
    let script = "
        const own = performance.getEntriesByType('resource').map(({ name }) => new URL(name))
            .filter(({ origin, pathname }) => origin == location.origin && !/^\\/(api|v2|outputs)\\//.test(pathname));
        const style = (element) => getComputedStyle(element);
        return [own.map(({ pathname }) => pathname.slice(1)),
            style(document.documentElement).getPropertyValue('--accent'),
            style(document.querySelector('.crumbs')).color]";
    let seen = browser.run(script, vec![]).await?;
    let files = release.files()?;
    let loaded = seen[0].as_array().ok_or("no files")?;
    for part in ["_bg.wasm", "_deferred.wasm", "_pages.wasm", ".js"] {
        let is_part = |path: &&Value| path.as_str().is_some_and(|path| path.ends_with(part));
        assert!(
            loaded.iter().any(|path| is_part(&path)),
            "{part}: {loaded:?}"
        );
    }
    for path in loaded {
        let path = path.as_str().unwrap_or_default();
        assert!(files.contains_key(path), "{path} is not in the release");
    }
    let seen = [&seen[1], &seen[2]].map(|color| color.as_str().unwrap_or_default());
    assert!(seen[0].contains(colors[0]), "{seen:?}");
    assert_eq!(seen[1] == PAGE_COLOR, colors[1] == PAGE_COLOR, "{seen:?}");
    Ok(())
}

/// Parts of the computed values of [`COLORS`] in the first release.
pub const FIRST: [&str; 2] = [".215 268", ""];

/// Parts of the computed values of [`COLORS`] after the change.
pub const RECOLORED: [&str; 2] = [".215 30", PAGE_COLOR];

pub fn not_found() -> Fault {
    Fault::Status {
        status: 404,
        retry_after: None,
    }
}
