//! What a page finds around it: network, what is stored, the color scheme, its size.

use std::time::Duration;

use super::{Browser, Scheme};
use crate::engine::{Capability, Engine};
use crate::wait::{Seen, until};
use crate::{Result, chromium, firefox};

/// How long a page may take to hear of another color scheme.
const SCHEME_LIMIT: Duration = Duration::from_secs(60);

impl Browser {
    /// Cuts the network of the tab off, or brings it back; the page sees `offline` and `online`.
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

    /// Clears the databases of an origin, open or not, and nothing else that it stores.
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

    /// Clears all that an origin has stored, as a person does in the browser's settings.
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

    /// Forgets the files that it has kept of any page.
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

    /// Sets the system's color scheme, and waits until the page knows of it: it lives in a process of
    /// its own, which hears of that later.
    ///
    /// # Errors
    ///
    /// As for [`Self::before_each_page`]; also if the page does not know of it in time.
    pub async fn prefer(&self, scheme: Scheme) -> Result<()> {
        self.needs(Capability::Scheme)?;
        match self.engine {
            Engine::Firefox => firefox::prefer(self, scheme).await?,
            _ => chromium::prefer(self, scheme).await?,
        }
        let matches = format!(
            "return matchMedia('(prefers-color-scheme: {})').matches",
            scheme.name()
        );
        until("the page's color scheme", SCHEME_LIMIT, async || {
            let seen = self.run(&matches, vec![]).await?;
            Ok(match seen == true {
                true => Seen::Yes(()),
                false => Seen::NotYet("it has the other one".into()),
            })
        })
        .await
    }

    /// Makes the page, not the window around it, so large.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
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
