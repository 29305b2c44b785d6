//! Takes screenshots of a page at several widths, in light and dark mode.

use crate::Result;
use crate::browser::{Browser, Scheme};
use crate::wait::{Seen, until};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The viewport widths of screenshots: the narrowest phone, a tablet, a desktop, a large screen.
pub const WIDTHS: [u32; 4] = [320, 768, 1440, 2560];
pub const SCREEN_HEIGHT: u32 = 900;
pub const SCHEMES: [Scheme; 2] = [Scheme::Light, Scheme::Dark];

/// How many consecutive checks must see no change. An image may load a moment after the rest.
const STABLE_CHECKS: u32 = 3;

impl Browser {
    /// Saves a screenshot of the whole page, up to a height of 8000 px.
    ///
    /// # Errors
    ///
    /// The engine is not Chromium, the page does not settle, or the file can't be written.
    pub async fn full_page(&self, width: u32, scheme: Scheme, path: &Path) -> Result<()> {
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme.name() },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        )
        .await?;
        self.set_size(width, SCREEN_HEIGHT).await?;
        self.wait_until_settled().await?;
        let metrics = self.devtools("Page.getLayoutMetrics", json!({})).await?;
        let height = metrics["cssContentSize"]["height"]
            .as_f64()
            .map_or(SCREEN_HEIGHT, |height| height as u32);
        // Limits the screenshot of a list with thousands of rows.
        let height = height.min(8000);
        // Enlarges the viewport instead of using `captureBeyondViewport`, which changes the layout meanwhile.
        self.set_size(width, height).await?;
        self.wait_until_settled().await?;
        let params = json!({ "format": "png" });
        let picture = self.devtools("Page.captureScreenshot", params).await?;
        write_picture(picture["data"].as_str().ok_or("no picture")?, path)
    }

    /// Waits until the page is rendered and several consecutive checks see no change: fonts and visible images are
    /// loaded, no content is added, and no animation is running.
    ///
    /// # Errors
    ///
    /// The page does not settle within a minute. The error contains the last state.
    pub async fn wait_until_settled(&self) -> Result<()> {
        let (mut previous, mut stable) = (Value::Null, 0);
        until("the page to settle", Duration::from_secs(60), async || {
            let now = self.run(STATE, vec![]).await?;
            stable = match now.is_array() && now == previous {
                true => stable + 1,
                false => 0,
            };
            previous = now;
            Ok(if stable == STABLE_CHECKS {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("{previous}"))
            })
        })
        .await
    }
}

/// Returns the size of the page, or a text that says why the page has not settled.
const STATE: &str = "
    if (document.readyState !== 'complete') return 'the page is loading';
    if (document.fonts.status !== 'loaded') return 'a font is loading';
    if (!document.body.innerText.trim()) return 'the page is empty';
    const isNear = image => {
        const { top, left } = image.getBoundingClientRect();
        return top < innerHeight && left < innerWidth && image.checkVisibility();
    };
    const image = [...document.images]
        .find(image => !image.complete && (image.loading !== 'lazy' || isNear(image)));
    if (image) return `${image.src.slice(0, 99)} is loading`;
    const busy = document.querySelector('[aria-busy=true]');
    if (busy) return `busy: ${busy.outerHTML.slice(0, 99)}`;
    const finite = animation => animation.effect?.getComputedTiming().endTime !== Infinity;
    // Firefox starts transitions in collapsed elements, and continues them after expansion.
    const isVisible = animation => animation.effect.target.checkVisibility();
    const moving = document.getAnimations().filter(finite).find(isVisible);
    if (moving) {
        const what = moving.animationName ?? moving.transitionProperty;
        return `${what} of ${moving.effect.target.outerHTML.slice(0, 400)}: ${moving.playState}`;
    }
    return [document.body.innerHTML.length, document.documentElement.scrollHeight,
            document.documentElement.scrollWidth];
";

/// Writes a picture in base64, as WebDriver returns it, to a file.
///
/// # Errors
///
/// The text is not valid base64, or the file can't be written.
pub fn write_picture(base64: &str, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(path, decode(base64)?)?)
}

fn decode(base64: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(base64.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for letter in base64.bytes().filter(|letter| *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err("invalid base64 in the picture".into()),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_base64_with_any_padding() {
        assert_eq!(decode("").unwrap(), b"");
        assert_eq!(decode("TQ==").unwrap(), b"M");
        assert_eq!(decode("TWE=").unwrap(), b"Ma");
        assert_eq!(decode("TWFu").unwrap(), b"Man");
        assert_eq!(decode("/+8A").unwrap(), [0xff, 0xef, 0x00]);
        assert!(decode("a b").is_err());
    }
}
