//! Actions on several selected outputs.

use std::io::{Cursor, Read};

use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::elements::Element;
use serde_json::{Value, json};

use crate::{CONTROL, Studio, TIMEOUT, run_steps};

/// Selects all outputs and returns the bar with the actions.
async fn select_all(studio: &Studio<'_>) -> Result<Element> {
    studio.focus_tile().await?;
    studio.press_keys(&format!("{CONTROL}a")).await?;
    studio.browser.find(&by("region", "Selection")).await
}

/// Guards against downloaded files without the date, the model and the inputs of their outputs.
#[tokio::test(flavor = "multi_thread")]
async fn a_download_of_selected_outputs_includes_their_inputs() {
    let name = "a_download_of_selected_outputs_includes_their_inputs";
    run_steps(name, 3, async |studio| {
        let browser = studio.browser;
        let bar = select_all(studio).await?;
        browser
            .press(&by("button", "Download").within(&bar))
            .await?;
        let saved = browser.wait_for_downloads(1, ".zip").await?.remove(0);
        let mut archive = zip::ZipArchive::new(Cursor::new(std::fs::read(saved)?))?;
        let mut names: Vec<String> = Vec::new();
        for at in 0..archive.len() {
            names.push(archive.by_index(at)?.name()?.into_owned());
        }
        // The day in the browser's time zone.
        let day = "return [0, 1, 2].map(n => {
            const made = new Date(1700000005000 + n * 8640000);
            const two = number => String(number).padStart(2, '0');
            return `${made.getFullYear()}-${two(made.getMonth() + 1)}-${two(made.getDate())}`;
        })";
        let days = browser.run(day, vec![]).await?;
        let day = |n: usize| days[n].as_str().unwrap_or_default().to_owned();
        let files = [
            format!("{}_image-strata_seed-2_1.svg", day(2)),
            format!("{}_image-strata_seed-2_2.svg", day(2)),
            format!("{}_image-tessera_seed-1_1.svg", day(1)),
            format!("{}_image-tessera_seed-1_2.svg", day(1)),
            format!("{}_image-strata_seed-0_1.svg", day(0)),
            format!("{}_image-strata_seed-0_2.svg", day(0)),
            "recipes_image-strata.json".to_owned(),
            "recipes_image-tessera.json".to_owned(),
        ];
        assert_eq!(names, files);
        let date = archive.by_index(0)?.last_modified();
        let date = date.ok_or("the file has no date")?;
        let date = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
        assert_eq!(date, day(2));
        // The recipes have the format that a batch table imports.
        let mut recipes = String::new();
        archive
            .by_name("recipes_image-strata.json")?
            .read_to_string(&mut recipes)?;
        let recipes: Value = serde_json::from_str(&recipes)?;
        assert_eq!(recipes["format"], json!("atelier-manifest"));
        assert_eq!(recipes["items"][0]["input"]["seed"], json!(2));
        assert_eq!(recipes["items"][1]["outputs"][1]["file"], json!(files[5]));
        Ok(())
    })
    .await;
}

/// Guards against an action bar with three rows on a phone. It has one row, and a menu with the other actions.
#[tokio::test(flavor = "multi_thread")]
async fn the_action_bar_on_a_phone_has_one_row() {
    run_steps("the_action_bar_on_a_phone_has_one_row", 3, async |studio| {
        let browser = studio.browser;
        let bar = select_all(studio).await?;
        browser
            .press(&by("button", "Favorite").within(&bar))
            .await?;
        browser.wait_for_text("6 selected, 6 favorites", TIMEOUT).await?;
        let row = "
            const bar = document.querySelector('.selection');
            const seen = [...bar.querySelectorAll('button, select')].filter(it => it.checkVisibility());
            const tops = new Set(seen.map(it => Math.round(it.getBoundingClientRect().top)));
            const isIn = seen.every(it => it.getBoundingClientRect().right <= innerWidth);
            return `${seen.length} in ${tops.size}, ${isIn && bar.scrollWidth <= bar.clientWidth ? 'all in it' : 'cut'}`";
        for width in [390, 320] {
            browser.set_size(width, 800).await?;
            wait_for_value(browser, "the bar", row, "5 in 1, all in it").await?;
        }
        browser.press(&by("button", "More").within(&bar)).await?;
        for name in ["Compare", "Vary", "Add to batch"] {
            browser.find(&by("button", name).within(&bar)).await?;
        }
        browser
            .press(&by("button", "Compare").within(&bar))
            .await?;
        browser.wait_for_text("Choose two to four.", TIMEOUT).await?;
        wait_for_value(browser, "the bar", row, "5 in 1, all in it").await?;
        // Escape closes the menu. A second Escape clears the selection.
        let is_open = "return document.querySelector('.selection :popover-open') !== null";
        browser.press(&by("button", "More").within(&bar)).await?;
        wait_for_value(browser, "whether the menu is open", is_open, true).await?;
        let escape = char::from(fantoccini::key::Key::Escape).to_string();
        studio.press_keys(&escape).await?;
        wait_for_value(browser, "whether the menu is open", is_open, false).await?;
        wait_for_value(browser, "the bar", row, "5 in 1, all in it").await?;
        studio.press_keys(&escape).await?;
        browser.wait_until_gone(&by("region", "Selection")).await
    })
    .await;
}
