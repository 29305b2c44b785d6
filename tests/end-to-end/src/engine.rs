//! The engine whose browser a run of the tests drives, and what of it can be driven from outside.

use crate::Result;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Chromium,
    Firefox,
    WebKit,
}

/// Something that tests do to a browser and that WebDriver has no command for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Reading what a page wrote to its console.
    Console,
    /// The commands of Chromium's own protocol.
    DevTools,
    /// Taking the network from a tab, so that it hears of it.
    Offline,
    /// Running a script in a tab before those of each of its pages.
    FirstScript,
    /// Clearing all that a site stores while its pages are open, as a person does in the browser's settings.
    ClearedSite,
    /// Clearing its databases alone.
    ClearedDatabases,
    /// Forgetting the files that the browser has kept.
    ClearedCache,
    /// Choosing how much a site may store.
    Quota,
    /// A finger instead of a pointer.
    Touch,
    /// Reading from a page what has moved in it since it began.
    LayoutShifts,
    /// Light or dark, whatever the system prefers.
    Scheme,
    /// A second start with the same profile.
    Profile,
    /// Files in a site's databases.
    StoredFiles,
    /// Being told that a wasm came short.
    ShortWasm,
    /// A window that has the focus itself, without which no style of what has it applies.
    FocusedWindow,
    /// A window as narrow as a phone.
    NarrowWindow,
}

impl Engine {
    /// The one that `ATELIER_ENGINE` names, or else Chromium.
    ///
    /// # Errors
    ///
    /// The variable names no engine.
    pub fn of_this_run() -> Result<Self> {
        match std::env::var("ATELIER_ENGINE").as_deref() {
            Err(_) | Ok("" | "chromium") => Ok(Self::Chromium),
            Ok("firefox") => Ok(Self::Firefox),
            Ok("webkit") => Ok(Self::WebKit),
            Ok(other) => Err(format!("ATELIER_ENGINE: no engine is called {other}").into()),
        }
    }

    /// Why it can't, if it can't.
    fn lacks(self, capability: Capability) -> Option<&'static str> {
        use Capability::{
            ClearedCache, ClearedDatabases, ClearedSite, Console, DevTools, FirstScript,
            FocusedWindow, LayoutShifts, NarrowWindow, Offline, Profile, Quota, Scheme, ShortWasm,
            StoredFiles, Touch,
        };
        match (self, capability) {
            (Self::Chromium, _) => None,
            (_, DevTools) => Some("the test speaks Chromium's own protocol"),
            (_, NarrowWindow) => Some("its window has a smallest width, above that of a phone"),
            (
                Self::Firefox,
                Console | Offline | FirstScript | ClearedSite | ClearedDatabases | ClearedCache
                | Touch | Scheme | Profile | StoredFiles | FocusedWindow,
            ) => None,
            (Self::Firefox, ShortWasm) => {
                Some("it compiles what came short without an end, and says nothing of it")
            }
            (Self::WebKit, ShortWasm) => None,
            (_, Quota) => Some("its driver can't choose how much may be stored"),
            (_, LayoutShifts) => Some("it does not tell what has moved"),
            (Self::WebKit, Console) => Some("its driver does not give out the page's console"),
            (Self::WebKit, Offline) => Some("its driver can't take the network away"),
            (Self::WebKit, FirstScript) => {
                Some("its driver runs no script before the page's own, but the fault proxy does")
            }
            (Self::WebKit, ClearedSite) => {
                Some("its driver can't clear what a site stores, but the fault proxy can")
            }
            (Self::WebKit, ClearedDatabases) => {
                Some("it clears all that a site stores, not the databases alone")
            }
            (Self::WebKit, ClearedCache) => {
                Some("its driver can't clear its cache, but the fault proxy can")
            }
            (Self::WebKit, Touch) => Some("its driver can't make a finger of the pointer"),
            (Self::WebKit, Scheme) => Some("its driver can't choose light or dark"),
            (Self::WebKit, StoredFiles) => {
                Some("driven from outside, it stores no files, as in a private window")
            }
            (Self::WebKit, FocusedWindow) => Some("driven from outside, its window has no focus"),
            (Self::WebKit, Profile) => Some("driven from outside, it keeps nothing for later"),
        }
    }

    /// Makes sure that the engine can be put through something.
    ///
    /// # Errors
    ///
    /// [`LeftOut`], which leaves the test out rather than failing it, where this can't be done.
    pub fn needs(self, capability: Capability) -> Result<()> {
        match self.lacks(capability) {
            None => Ok(()),
            Some(reason) => Err(LeftOut {
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

/// A test, or a part of one, that the engine can't be put through.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    engine: Engine,
    reason: &'static str,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.engine, self.reason)
    }
}

impl std::error::Error for LeftOut {}
