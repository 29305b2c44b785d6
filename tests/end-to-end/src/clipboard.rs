//! What a person has from the clipboard.

use crate::Result;
use crate::browser::Browser;
use crate::wait::{Seen, until};
use fantoccini::Locator;
use fantoccini::key::Key;
use std::time::Duration;

/// How long what is pasted may take to stand in its field.
const PASTE_LIMIT: Duration = Duration::from_secs(60);

impl Browser {
    /// The text in the clipboard, as a person gets it: by the keys, into a field of the page.
    ///
    /// # Errors
    ///
    /// Nothing was pasted in time: the clipboard is empty, or holds no text.
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
        let text = until("a text in the clipboard", PASTE_LIMIT, async || {
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
