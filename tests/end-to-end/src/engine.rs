//! The browser engine of a test run, and what WebDriver can do with it.

use crate::Result;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Chromium,
    Firefox,
    WebKit,
}

/// Something that tests do with a browser and that WebDriver has no command for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Reading the console of a page.
    Console,
    /// The Chrome DevTools protocol.
    DevTools,
    /// Taking a tab offline, with the `offline` event.
    Offline,
    /// Running a script before the scripts of each page of a tab.
    FirstScript,
    /// Clearing all data of a site while its pages are open, as the browser's settings do.
    ClearedSite,
    /// Clearing only the databases of a site.
    ClearedDatabases,
    /// Clearing the HTTP cache.
    ClearedCache,
    /// Setting the storage quota of a site.
    Quota,
    /// Touch input.
    Touch,
    /// Reading the layout shifts of a page.
    LayoutShifts,
    /// Setting the color scheme.
    Scheme,
    /// Restarting with the same profile.
    Profile,
    /// Storing files in a site's databases.
    StoredFiles,
    /// Reporting an error for a truncated wasm file.
    ShortWasm,
    /// A window that has the focus. Without it, `:focus` styles don't apply.
    FocusedWindow,
    /// A window as narrow as a phone.
    NarrowWindow,
}

impl Engine {
    /// Returns the engine that `ATELIER_ENGINE` names, Chromium by default.
    ///
    /// # Errors
    ///
    /// The variable does not name an engine.
    pub fn from_env() -> Result<Self> {
        match std::env::var("ATELIER_ENGINE").as_deref() {
            Err(_) | Ok("" | "chromium") => Ok(Self::Chromium),
            Ok("firefox") => Ok(Self::Firefox),
            Ok("webkit") => Ok(Self::WebKit),
            Ok(other) => Err(format!(
                "Invalid ATELIER_ENGINE “{other}”: use chromium, firefox or webkit"
            )
            .into()),
        }
    }

    /// Returns the reason if the engine does not support the capability.
    fn unsupported_reason(self, capability: Capability) -> Option<&'static str> {
        use Capability::{
            ClearedCache, ClearedDatabases, ClearedSite, Console, DevTools, FirstScript,
            FocusedWindow, LayoutShifts, NarrowWindow, Offline, Profile, Quota, Scheme, ShortWasm,
            StoredFiles, Touch,
        };
        match (self, capability) {
            (Self::Chromium, _) => None,
            (_, DevTools) => Some("the test needs the Chrome DevTools protocol"),
            (_, NarrowWindow) => Some("its minimum window width is larger than a phone"),
            (
                Self::Firefox,
                Console | Offline | FirstScript | ClearedSite | ClearedDatabases | ClearedCache
                | Touch | Scheme | Profile | StoredFiles | FocusedWindow,
            ) => None,
            (Self::Firefox, ShortWasm) => {
                Some("it never finishes compiling a truncated wasm file, and reports no error")
            }
            (Self::WebKit, ShortWasm) => None,
            (_, Quota) => Some("its driver can't set the storage quota"),
            (_, LayoutShifts) => Some("it does not report layout shifts"),
            (Self::WebKit, Console) => Some("its driver can't read the page's console"),
            (Self::WebKit, Offline) => Some("its driver can't take a tab offline"),
            (Self::WebKit, FirstScript) => Some(
                "its driver can't run a script before those of the page, but the fault proxy can",
            ),
            (Self::WebKit, ClearedSite) => {
                Some("its driver can't clear site data, but the fault proxy can")
            }
            (Self::WebKit, ClearedDatabases) => {
                Some("it can only clear all site data, not just the databases")
            }
            (Self::WebKit, ClearedCache) => {
                Some("its driver can't clear its cache, but the fault proxy can")
            }
            (Self::WebKit, Touch) => Some("its driver can't emulate touch input"),
            (Self::WebKit, Scheme) => Some("its driver can't set the color scheme"),
            (Self::WebKit, StoredFiles) => {
                Some("under automation it stores no files in databases, as in a private window")
            }
            (Self::WebKit, FocusedWindow) => Some("under automation its window has no focus"),
            (Self::WebKit, Profile) => Some("under automation it does not keep the profile"),
        }
    }

    /// Checks that the engine supports the capability.
    ///
    /// # Errors
    ///
    /// Returns [`Unsupported`] if it does not. The test is then skipped instead of failing.
    pub fn needs(self, capability: Capability) -> Result<()> {
        match self.unsupported_reason(capability) {
            None => Ok(()),
            Some(reason) => Err(Unsupported {
                engine: self,
                reason,
            }
            .into()),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The error of a test, or a part of one, that the engine does not support.
#[derive(Clone, Copy, Debug)]
pub struct Unsupported {
    engine: Engine,
    reason: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.engine, self.reason)
    }
}

impl std::error::Error for Unsupported {}
