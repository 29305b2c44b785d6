//! Reads the clipboard.

use crate::Result;
use crate::browser::Browser;
use crate::wait::{Seen, until};
use fantoccini::Locator;
use fantoccini::key::Key;
use std::time::Duration;

/// The time limit for pasted text to appear in its field.
const PASTE_LIMIT: Duration = Duration::from_secs(60);

impl Browser {
    /// Returns the text in the clipboard. Pastes it with the keyboard into a temporary field of the page.
    ///
    /// # Errors
    ///
    /// Nothing was pasted in time: the clipboard has no text.
    pub async fn clipboard(&self) -> Result<String> {
        let field = "
            const field = document.createElement('textarea');
            field.id = 'test-clipboard';
            document.body.append(field);
            field.focus()";
        self.run(field, vec![]).await?;
        let field = self.client.find(Locator::Id("test-clipboard")).await?;
        let paste = format!("{}v{}", char::from(Key::Control), char::from(Key::Null));
        field.send_keys(&paste).await?;
        let text = "return document.getElementById('test-clipboard').value";
        let text = until("text in the clipboard", PASTE_LIMIT, async || {
            let text = self.run(text, vec![]).await?;
            Ok(match text.as_str() {
                Some(text) if !text.is_empty() => Seen::Yes(text.to_owned()),
                _ => Seen::NotYet("nothing was pasted".into()),
            })
        })
        .await;
        let remove = "document.getElementById('test-clipboard').remove()";
        self.run(remove, vec![]).await?;
        text
    }
}
