//! A sweep over two axes is displayed as a table.

use crate::studio::{TIMEOUT, run_steps};
use atelier_end_to_end::find::{any, by};

/// The values of both axes are headings of the table.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_over_two_axes_is_shown_as_a_labelled_grid() {
    let name = "a_sweep_over_two_axes_is_shown_as_a_labelled_grid";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axes = async || browser.find_all(&by("combobox", "Axis")).await;
        let values = async || browser.find_all(&by("textbox", "Values")).await;
        axes().await?[0].select_by_value("prompt").await?;
        values().await?[0].send_keys("dusk\u{e007}dawn").await?;
        studio.press("Another axis").await?;
        axes().await?[1].select_by_value("panes").await?;
        values().await?[1].send_keys("20, 40, .., 60").await?;
        studio.press("Add to the table").await?;
        browser.wait_for_text("6 items in 1 call", TIMEOUT).await?;
        studio.press("Generate 6").await?;
        studio.wait_for_counts("6 completed").await?;
        assert_eq!(
            studio.sent_prompts(),
            ["dusk", "dusk", "dusk", "dawn", "dawn", "dawn"]
        );
        // Guards against a sweep whose items can't be compared because each has another seed.
        let seeds = studio.seeds();
        assert!(!seeds[0].is_empty());
        assert!(seeds.iter().all(|seed| *seed == seeds[0]), "{seeds:?}");

        let table = studio.sweep_table().await?;
        let mut headings = Vec::new();
        for role in ["columnheader", "rowheader"] {
            for heading in browser.find_all(&any(role).within(&table)).await? {
                // WebKit gives these cells no accessible name, so their text is read.
                headings.push(browser.text_of(&heading).await?);
            }
        }
        let expected = ["prompt", "panes 20", "panes 40", "panes 60", "dusk", "dawn"];
        assert_eq!(headings, expected);
        let items = studio.items_in(&table).await?;
        let shown: Vec<(usize, &str)> = items
            .iter()
            .map(|item| (item.number, item.prompt.as_str()))
            .collect();
        let expected = [
            (1, "panes 20 · dusk"),
            (2, "panes 40 · dusk"),
            (3, "panes 60 · dusk"),
            (4, "panes 20 · dawn"),
            (5, "panes 40 · dawn"),
            (6, "panes 60 · dawn"),
        ];
        assert_eq!(shown, expected);

        // The saved grid is one image, large enough for three outputs next to each other, and not blank.
        studio.press("Save grid").await?;
        let file = browser.wait_for_downloads(1, ".png").await?.remove(0);
        let picture = std::fs::read(file)?;
        assert_eq!(&picture[1..4], b"PNG");
        let side = |at: usize| {
            let bytes = [0, 1, 2, 3].map(|n| picture[at + n]);
            u32::from_be_bytes(bytes)
        };
        let (width, height) = (side(16), side(20));
        assert!(width > 600 && height > 300, "{width} × {height}");
        assert!(picture.len() > 50_000, "{} bytes", picture.len());
        Ok(())
    })
    .await;
}
