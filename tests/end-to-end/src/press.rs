//! Presses and fills in elements.

use std::path::Path;

use fantoccini::elements::Element;
use serde_json::Value;

use crate::Result;
use crate::browser::Browser;
use crate::engine::Engine;
use crate::find::{Query, by};

const ENTER: &str = "\u{e007}";

impl Browser {
    /// Presses an element. Finds it again if the page renders it again before the press.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`]; also if the element can't be clicked, for instance because another one covers it.
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

    /// Presses an element with the Enter key. A click misses an element that moves during the click, for instance because
    /// a warning appears above it.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`]; also if the element can't have the focus.
    pub async fn press_with_enter(&self, query: &Query) -> Result<()> {
        Ok(self.find(query).await?.send_keys(ENTER).await?)
    }

    /// Opens the menu of a result and presses an element in it.
    ///
    /// # Errors
    ///
    /// As for [`Self::press`].
    pub async fn press_in_menu(&self, query: &Query) -> Result<()> {
        self.press(&by("button", "More actions")).await?;
        self.press(query).await
    }

    /// Returns whether the element was replaced or removed. The drivers' own errors for this differ.
    async fn is_gone(&self, element: &Element) -> bool {
        let script = "return arguments[0].isConnected";
        let is_connected = self.run(script, vec![self.argument(element)]).await;
        !matches!(is_connected, Ok(Value::Bool(true)))
    }

    /// Chooses a file in a file input.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`]; also if the element does not accept a file.
    pub async fn choose_file(&self, query: &Query, file: &Path) -> Result<()> {
        let input = self.find(query).await?;
        self.bring_into_view(&input).await?;
        Ok(input.send_keys(&file.to_string_lossy()).await?)
    }

    /// Scrolls the element into view in WebKit, whose driver does not always do it.
    async fn bring_into_view(&self, element: &Element) -> Result<()> {
        if self.engine == Engine::WebKit {
            let script = "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })";
            self.run(script, vec![self.argument(element)]).await?;
        }
        Ok(())
    }

    /// Replaces the value of a text field by typing. Finds the field again if the page renders it again before the
    /// first key.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`]; also if the element does not accept text.
    pub async fn fill(&self, query: &Query, text: &str) -> Result<()> {
        loop {
            let field = self.find(query).await?;
            self.bring_into_view(&field).await?;
            // Sends the Enter key, because WebKit's driver ignores line breaks.
            let keys = text.replace('\n', ENTER);
            let filled = async {
                field.clear().await?;
                field.send_keys(&keys).await
            };
            match filled.await {
                Ok(()) => return Ok(()),
                Err(_) if self.is_gone(&field).await => {}
                Err(error) => {
                    let state = self.describe_field(&field).await;
                    return Err(format!("{query}: {error:?}; {state}").into());
                }
            }
        }
    }

    /// Describes the state of a field that does not accept keys, which the driver's error does not contain.
    async fn describe_field(&self, field: &Element) -> String {
        const SCRIPT: &str = "
            const field = arguments[0];
            const focused = document.activeElement;
            return JSON.stringify({
                isConnected: field.isConnected,
                isDisabled: field.disabled,
                isRendered: field.getClientRects().length > 0,
                within: field.closest('[hidden], [inert]')?.outerHTML.slice(0, 200) ?? null,
                dialogs: [...document.querySelectorAll('dialog[open]')].map((it) => it.ariaLabel),
                focused: focused && focused.outerHTML.slice(0, 200),
                hasFocus: document.hasFocus(),
                address: location.href,
            })";
        match self.run(SCRIPT, vec![self.argument(field)]).await {
            Ok(state) => state.as_str().unwrap_or_default().to_owned(),
            Err(error) => format!("its state can't be read: {error}"),
        }
    }

    /// Replaces the value of a text field all at once, as pasting does.
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
