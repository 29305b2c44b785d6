//! Pressing and filling what was found, as a person does.

use std::path::Path;

use fantoccini::elements::Element;
use serde_json::Value;

use crate::Result;
use crate::browser::Browser;
use crate::engine::Engine;
use crate::find::{Query, by};

const ENTER: &str = "\u{e007}";

impl Browser {
    /// Presses an element. One that is drawn anew between the look and the press is looked for once more.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`]; also if the element can't be clicked, for instance because another one lies
    /// over it.
    pub async fn press(&self, query: &Query) -> Result<()> {
        loop {
            let element = self.find(query).await?;
            self.bring_into_view(&element).await?;
            match element.click().await {
                Err(_) if self.is_gone(&element).await => {}
                other => return other.map_err(|error| format!("{query}: {error:?}").into()),
            }
        }
    }

    /// Presses what is in the menu of a result, which is opened first.
    ///
    /// # Errors
    ///
    /// As for [`Self::press`].
    pub async fn press_in_menu(&self, query: &Query) -> Result<()> {
        self.press(&by("button", "More actions")).await?;
        self.press(query).await
    }

    /// Whether it was drawn anew, or taken away. Drivers say it in several words, or say something else.
    async fn is_gone(&self, element: &Element) -> bool {
        let script = "return arguments[0].isConnected";
        let is_there = self.run(script, vec![self.argument(element)]).await;
        !matches!(is_there, Ok(Value::Bool(true)))
    }

    /// Gives a file to what asks for one.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`]; also if the element takes no file.
    pub async fn choose_file(&self, query: &Query, file: &Path) -> Result<()> {
        let input = self.find(query).await?;
        self.bring_into_view(&input).await?;
        Ok(input.send_keys(&file.to_string_lossy()).await?)
    }

    /// WebKit's driver does not bring everything into view by itself.
    async fn bring_into_view(&self, element: &Element) -> Result<()> {
        if self.engine == Engine::WebKit {
            let script = "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })";
            self.run(script, vec![self.argument(element)]).await?;
        }
        Ok(())
    }

    /// Replaces what is in a text field, key by key as a person would. One that is drawn anew between
    /// the look and the first key is looked for once more.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`]; also if the element takes no text.
    pub async fn fill(&self, query: &Query, text: &str) -> Result<()> {
        loop {
            let field = self.find(query).await?;
            self.bring_into_view(&field).await?;
            // The key: WebKit's driver types no line break of its own.
            let keys = text.replace('\n', ENTER);
            let filled = async {
                field.clear().await?;
                field.send_keys(&keys).await
            };
            match filled.await {
                Ok(()) => return Ok(()),
                Err(_) if self.is_gone(&field).await => {}
                Err(error) => {
                    let about = self.about(&field).await;
                    return Err(format!("{query}: {error:?}; {about}").into());
                }
            }
        }
    }

    /// What a driver does not tell of a field that takes no keys.
    async fn about(&self, field: &Element) -> String {
        const SCRIPT: &str = "
            const field = arguments[0];
            const has = document.activeElement;
            return JSON.stringify({
                isConnected: field.isConnected,
                isDisabled: field.disabled,
                isDrawn: field.getClientRects().length > 0,
                within: field.closest('[hidden], [inert]')?.outerHTML.slice(0, 200) ?? null,
                dialogs: [...document.querySelectorAll('dialog[open]')].map((it) => it.ariaLabel),
                focused: has && has.outerHTML.slice(0, 200),
                hasFocus: document.hasFocus(),
                address: location.href,
            })";
        match self.run(SCRIPT, vec![self.argument(field)]).await {
            Ok(state) => state.as_str().unwrap_or_default().to_owned(),
            Err(error) => format!("and nothing can be asked of it: {error}"),
        }
    }

    /// Replaces what is in a text field at once, as from the clipboard.
    ///
    /// # Errors
    ///
    /// As for [`Self::fill`].
    pub async fn paste(&self, query: &Query, text: &str) -> Result<()> {
        loop {
            let field = self.find(query).await?;
            let focused = async {
                field.clear().await?;
                let focus = "arguments[0].focus()";
                self.client
                    .execute(focus, vec![self.argument(&field)])
                    .await
            };
            match focused.await {
                Ok(_) => break,
                Err(_) if self.is_gone(&field).await => {}
                Err(error) => return Err(format!("{query}: {error:?}").into()),
            }
        }
        self.insert(text).await
    }
}
