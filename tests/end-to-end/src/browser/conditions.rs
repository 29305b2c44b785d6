//! The environment of a page: network, stored data, color scheme, viewport size.

use std::time::Duration;

use super::{Browser, Scheme};
use crate::engine::{Capability, Engine};
use crate::wait::{Seen, until};
use crate::{Result, chromium, firefox};

/// The time limit for a change of the color scheme to reach the page.
const SCHEME_LIMIT: Duration = Duration::from_secs(60);

impl Browser {
    /// Sets whether the tab is offline. The page receives `offline` and `online` events.
    ///
    /// # Errors
    ///
    /// As for [`Self::before_each_page`].
    pub async fn set_offline(&self, offline: bool) -> Result<()> {
        self.needs(Capability::Offline)?;
        match self.engine {
            Engine::Firefox => firefox::set_offline(self, offline).await,
            _ => chromium::set_offline(self, offline).await,
        }
    }

    /// Clears only the IndexedDB databases of an origin, open or not.
    ///
    /// # Errors
    ///
    /// As for [`Self::before_each_page`].
    pub async fn clear_databases(&self, origin: &str) -> Result<()> {
        self.needs(Capability::ClearedDatabases)?;
        match self.engine {
            Engine::Firefox => firefox::clear_databases(self, origin).await,
            _ => chromium::clear_databases(self, origin).await,
        }
    }

    /// Clears all site data of an origin, as the browser's settings do.
    ///
    /// # Errors
    ///
    /// As for [`Self::before_each_page`].
    pub async fn clear_site(&self, origin: &str) -> Result<()> {
        self.needs(Capability::ClearedSite)?;
        match self.engine {
            Engine::Firefox => firefox::clear_site(self, origin).await,
            _ => chromium::clear_site(self, origin).await,
        }
    }

    /// Clears the HTTP cache.
    ///
    /// # Errors
    ///
    /// As for [`Self::before_each_page`].
    pub async fn clear_cache(&self) -> Result<()> {
        self.needs(Capability::ClearedCache)?;
        match self.engine {
            Engine::Firefox => firefox::clear_cache(self).await,
            _ => chromium::clear_cache(self).await,
        }
    }

    /// Sets the system's color scheme, and waits until it has reached the page, which runs in another process.
    ///
    /// # Errors
    ///
    /// As for [`Self::before_each_page`]; also if the page's color scheme does not change in time.
    pub async fn set_color_scheme(&self, scheme: Scheme) -> Result<()> {
        self.needs(Capability::Scheme)?;
        match self.engine {
            Engine::Firefox => firefox::set_color_scheme(self, scheme).await?,
            _ => chromium::set_color_scheme(self, scheme).await?,
        }
        let matches = format!(
            "return matchMedia('(prefers-color-scheme: {})').matches",
            scheme.name()
        );
        until("the page's color scheme", SCHEME_LIMIT, async || {
            let seen = self.run(&matches, vec![]).await?;
            Ok(match seen == true {
                true => Seen::Yes(()),
                false => Seen::NotYet("the page uses the other color scheme".into()),
            })
        })
        .await
    }

    /// Sets the size of the viewport.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn set_size(&self, width: u32, height: u32) -> Result<()> {
        if self.engine == Engine::Chromium {
            return chromium::set_size(self, width, height).await;
        }
        let frame = "return [outerWidth - innerWidth, outerHeight - innerHeight]";
        let frame = self.run(frame, vec![]).await?;
        let frame = |side: usize| {
            let size = frame[side].as_u64().unwrap_or_default();
            u32::try_from(size).unwrap_or_default()
        };
        let (width, height) = (width + frame(0), height + frame(1));
        Ok(self.client.set_window_size(width, height).await?)
    }
}
