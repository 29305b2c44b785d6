//! Outputs that are chosen and taken away together.

use std::io::{Cursor, Read};

use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;
use fantoccini::elements::Element;
use serde_json::{Value, json};

use crate::{CONTROL, Studio, TIMEOUT, visit};

/// Its bar.
async fn choose_all(studio: &Studio<'_>) -> Result<Element> {
    studio.focus_tile().await?;
    studio.keys(&format!("{CONTROL}a")).await?;
    studio.browser.find(&by("region", "Selection")).await
}

/// Guards against files that do not say when, by what and how they were made.
#[tokio::test(flavor = "multi_thread")]
async fn chosen_outputs_come_with_how_they_were_made() {
    visit("chosen_outputs_come", 3, async |studio| {
        let browser = studio.browser;
        let bar = choose_all(studio).await?;
        browser
            .press(&by("button", "Download").within(&bar))
            .await?;
        let saved = browser.downloaded(1, ".zip").await?.remove(0);
        let mut archive = zip::ZipArchive::new(Cursor::new(std::fs::read(saved)?))?;
        let mut names: Vec<String> = Vec::new();
        for at in 0..archive.len() {
            names.push(archive.by_index(at)?.name()?.into_owned());
        }
        // The day where the browser is.
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
        let made = archive.by_index(0)?.last_modified();
        let made = made.ok_or("it has no date")?;
        let made = format!("{:04}-{:02}-{:02}", made.year(), made.month(), made.day());
        assert_eq!(made, day(2));
        // As a batch table takes it in.
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

/// Guards against a bar of three rows over the pictures of a phone: there is one row, and a menu of the rest.
#[tokio::test(flavor = "multi_thread")]
async fn the_bar_of_a_phone_is_one_row() {
    visit("the_bar_of_a_phone", 3, async |studio| {
        let browser = studio.browser;
        let bar = choose_all(studio).await?;
        browser
            .press(&by("button", "Favorite").within(&bar))
            .await?;
        browser.see_text("6 selected, 6 favorites", TIMEOUT).await?;
        let row = "
            const bar = document.querySelector('.selection');
            const seen = [...bar.querySelectorAll('button, select')].filter(it => it.checkVisibility());
            const tops = new Set(seen.map(it => Math.round(it.getBoundingClientRect().top)));
            const isIn = seen.every(it => it.getBoundingClientRect().right <= innerWidth);
            return `${seen.length} in ${tops.size}, ${isIn && bar.scrollWidth <= bar.clientWidth ? 'all in it' : 'cut'}`";
        for width in [390, 320] {
            browser.set_size(width, 800).await?;
            becomes(browser, "the bar", row, "5 in 1, all in it").await?;
        }
        browser.press(&by("button", "More").within(&bar)).await?;
        for name in ["Compare", "Vary", "Add to batch"] {
            browser.find(&by("button", name).within(&bar)).await?;
        }
        browser
            .press(&by("button", "Compare").within(&bar))
            .await?;
        browser.see_text("Choose two to four.", TIMEOUT).await?;
        becomes(browser, "the bar", row, "5 in 1, all in it").await?;
        // Escape closes the menu, and only then takes the choice back.
        let is_open = "return document.querySelector('.selection :popover-open') !== null";
        browser.press(&by("button", "More").within(&bar)).await?;
        becomes(browser, "whether the menu is open", is_open, true).await?;
        let escape = char::from(fantoccini::key::Key::Escape).to_string();
        studio.keys(&escape).await?;
        becomes(browser, "whether the menu is open", is_open, false).await?;
        becomes(browser, "the bar", row, "5 in 1, all in it").await?;
        studio.keys(&escape).await?;
        browser.find_gone(&by("region", "Selection")).await
    })
    .await;
}
