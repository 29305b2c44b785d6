//! A finger on what a selector finds first.

use serde_json::{Value, json};

use crate::Result;
use crate::browser::Browser;
use crate::engine::Capability;

/// Where something lies in the window, in px.
pub type Place = (f64, f64);

impl Browser {
    /// Makes the pages that are loaded from now on those of a device with fingers.
    ///
    /// # Errors
    ///
    /// The browser has no such tools.
    pub async fn emulate_touch(&self) -> Result<()> {
        self.needs(Capability::DevTools)?;
        let touch = json!({ "enabled": true, "maxTouchPoints": 2 });
        self.devtools("Emulation.setTouchEmulationEnabled", touch)
            .await?;
        Ok(())
    }

    /// Returns the middle of the element that the selector finds first.
    ///
    /// # Errors
    ///
    /// There is none.
    pub async fn middle_of(&self, selector: &str) -> Result<Place> {
        let script = "
            const { left, top, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
            return [left + width / 2, top + height / 2]";
        let middle = self.run(script, vec![selector.into()]).await?;
        let at = |axis: usize| middle[axis].as_f64().ok_or("no place");
        Ok((at(0)?, at(1)?))
    }

    /// Puts a finger down.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub async fn touch_start(&self, (x, y): Place) -> Result<()> {
        self.touch("touchStart", json!([{ "x": x, "y": y }])).await
    }

    /// Moves it.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub async fn touch_move(&self, (x, y): Place) -> Result<()> {
        self.touch("touchMove", json!([{ "x": x, "y": y }])).await
    }

    /// Lifts it.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub async fn touch_end(&self) -> Result<()> {
        self.touch("touchEnd", json!([])).await
    }

    async fn touch(&self, kind: &str, points: Value) -> Result<()> {
        let touch = json!({ "type": kind, "touchPoints": points });
        self.devtools("Input.dispatchTouchEvent", touch).await?;
        Ok(())
    }
}
