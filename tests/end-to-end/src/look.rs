//! Pictures of a page, at a width, in light and dark.

use crate::Result;
use crate::browser::{Browser, Scheme};
use crate::wait::{Seen, until};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The widths that every page is looked at: the narrowest phone, a tablet, a desk, a large screen.
pub const WIDTHS: [u32; 4] = [320, 768, 1440, 2560];
pub const SCREEN_HEIGHT: u32 = 900;
pub const SCHEMES: [Scheme; 2] = [Scheme::Light, Scheme::Dark];

/// So many looks in a row that see what the one before saw: a picture may come a moment after the rest.
const ALIKE: u32 = 3;

impl Browser {
    /// Keeps a picture of the whole page, however long.
    ///
    /// # Errors
    ///
    /// The engine is not Chromium, the page does not come to rest, or the file can't be written.
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
        self.settled().await?;
        let metrics = self.devtools("Page.getLayoutMetrics", json!({})).await?;
        let height = metrics["cssContentSize"]["height"]
            .as_f64()
            .map_or(SCREEN_HEIGHT, |height| height as u32);
        // A list of thousands of rows is as tall as its rows: the picture of a page ends somewhere.
        let height = height.min(8000);
        // A window of that size: the browser's own way to picture what is beyond the window lays the page
        // out for other sizes meanwhile.
        self.set_size(width, height).await?;
        self.settled().await?;
        let params = json!({ "format": "png" });
        let picture = self.devtools("Page.captureScreenshot", params).await?;
        write_picture(picture["data"].as_str().ok_or("no picture")?, path)
    }

    /// Waits until the page has drawn something and several looks in a row see the same: fonts and the
    /// pictures in sight loaded, nothing added, no animation under way.
    ///
    /// # Errors
    ///
    /// It has not within a minute; the error says what was seen last.
    pub async fn settled(&self) -> Result<()> {
        let (mut before, mut alike) = (Value::Null, 0);
        until(
            "the page to come to rest",
            Duration::from_secs(60),
            async || {
                let now = self.run(REST, vec![]).await?;
                alike = match now.is_array() && now == before {
                    true => alike + 1,
                    false => 0,
                };
                before = now;
                Ok(if alike == ALIKE {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(format!("{before}"))
                })
            },
        )
        .await
    }
}

/// What the page is, in short; while something is under way, what that is.
const REST: &str = "
    if (document.readyState !== 'complete') return 'it is loading';
    if (document.fonts.status !== 'loaded') return 'a font is loading';
    if (!document.body.innerText.trim()) return 'it is empty';
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
    // In what is folded away Firefox begins transitions, and goes on with them once it is unfolded.
    const isSeen = animation => animation.effect.target.checkVisibility();
    const moving = document.getAnimations().filter(finite).find(isSeen);
    if (moving) {
        const what = moving.animationName ?? moving.transitionProperty;
        return `${what} of ${moving.effect.target.outerHTML.slice(0, 400)}: ${moving.playState}`;
    }
    return [document.body.innerHTML.length, document.documentElement.scrollHeight,
            document.documentElement.scrollWidth];
";

/// Writes a picture as WebDriver gives it, in base64.
///
/// # Errors
///
/// It is no base64, or the file can't be written.
pub fn write_picture(base64: &str, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(path, decode(base64)?)?)
}

fn decode(base64: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(base64.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for letter in base64.bytes().filter(|letter| *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err("the picture is not in base64".into()),
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_of_any_length_is_read() {
        assert_eq!(decode("").unwrap(), b"");
        assert_eq!(decode("TQ==").unwrap(), b"M");
        assert_eq!(decode("TWE=").unwrap(), b"Ma");
        assert_eq!(decode("TWFu").unwrap(), b"Man");
        assert_eq!(decode("/+8A").unwrap(), [0xff, 0xef, 0x00]);
        assert!(decode("a b").is_err());
    }
}
