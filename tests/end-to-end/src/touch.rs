//! Emulates touch input in Chromium.

use serde_json::{Value, json};

use crate::Result;
use crate::browser::Browser;
use crate::engine::Capability;

/// A point in the viewport, in CSS px.
pub type Point = (f64, f64);

impl Browser {
    /// Makes the pages that are loaded from now on see a touch screen.
    ///
    /// # Errors
    ///
    /// The engine is not Chromium.
    pub async fn emulate_touch(&self) -> Result<()> {
        self.needs(Capability::DevTools)?;
        let touch = json!({ "enabled": true, "maxTouchPoints": 2 });
        self.devtools("Emulation.setTouchEmulationEnabled", touch)
            .await?;
        Ok(())
    }

    /// Returns the center of the first element that matches the selector.
    ///
    /// # Errors
    ///
    /// No element matches.
    pub async fn middle_of(&self, selector: &str) -> Result<Point> {
        let script = "
            const { left, top, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
            return [left + width / 2, top + height / 2]";
        let middle = self.run(script, vec![selector.into()]).await?;
        let at = |axis: usize| middle[axis].as_f64().ok_or("no position");
        Ok((at(0)?, at(1)?))
    }

    /// Puts a finger down.
    ///
    /// # Errors
    ///
    /// The driver rejects the command.
    pub async fn touch_start(&self, (x, y): Point) -> Result<()> {
        self.touch("touchStart", json!([{ "x": x, "y": y }])).await
    }

    /// Moves the finger.
    ///
    /// # Errors
    ///
    /// The driver rejects the command.
    pub async fn touch_move(&self, (x, y): Point) -> Result<()> {
        self.touch("touchMove", json!([{ "x": x, "y": y }])).await
    }

    /// Lifts the finger.
    ///
    /// # Errors
    ///
    /// The driver rejects the command.
    pub async fn touch_end(&self) -> Result<()> {
        self.touch("touchEnd", json!([])).await
    }

    async fn touch(&self, kind: &str, points: Value) -> Result<()> {
        let touch = json!({ "type": kind, "touchPoints": points });
        self.devtools("Input.dispatchTouchEvent", touch).await?;
        Ok(())
    }
}
