//! `/`: the list of models.

use leptos::prelude::window;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::find::{self, until, value_of};
use crate::page::{Page, url};
use crate::wire;

/// Returns the names of the models that the page shows.
fn shown_models(page: &Page) -> Vec<String> {
    find::select(page.root(), "h3")
        .iter()
        .map(find::name_of)
        .collect()
}

/// Waits until the page shows exactly these models.
async fn see_models(page: &Page, names: &[&str]) {
    until(&format!("the models {names:?}"), || {
        let mut shown = shown_models(page);
        let mut wanted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        shown.sort();
        wanted.sort();
        (shown == wanted).then_some(())
    })
    .await;
}

#[wasm_bindgen_test]
async fn every_model_is_in_the_group_of_its_category() {
    let page = Page::open("/").await;
    let list = wire::get("/api/models").await;
    let models = list["data"].as_array().expect("models");
    assert!(models.len() >= 5);
    page.wait_for_text(&format!("{} models", models.len()))
        .await;
    for model in models {
        let text = |name: &str| model[name].as_str().expect("a text").to_owned();
        let (name, category) = (text("name"), text("category"));
        page.click("radio", &category).await;
        let link = page.find("link", &name).await;
        let href = link.get_attribute("href").expect("a target");
        assert_eq!(href, format!("/models/{category}/{}", text("subcategory")));
        // The heading is the category and the number of its models, and there is no other group. Finding the link does not
        // show that the choice took effect, since the link was there before.
        until("one group of this category", || {
            let headings = find::select(page.root(), "h2");
            let names: Vec<String> = headings.iter().map(find::name_of).collect();
            matches!(names.as_slice(), [name] if name.starts_with(&category)).then_some(())
        })
        .await;
        page.find("link", &format!("Documentation of {name}")).await;
    }
}

#[wasm_bindgen_test]
async fn search_ignores_case_and_word_order_and_is_in_the_url() {
    let page = Page::open("/").await;
    page.fill("searchbox", "Search models", "LANDSCAPES layered")
        .await;
    see_models(&page, &["Strata"]).await;
    until("the search in the URL", || {
        url().contains("q=").then_some(())
    })
    .await;
    let search = url().split_once('?').expect("a query").1.to_owned();
    drop(page);

    let page = Page::reopen(&format!("/?{search}")).await;
    see_models(&page, &["Strata"]).await;
    let field = page.find("searchbox", "Search models").await;
    assert_eq!(value_of(&field), "LANDSCAPES layered");
}

#[wasm_bindgen_test]
async fn a_category_filters_and_is_in_the_url() {
    let page = Page::open("/").await;
    page.find("group", "Category").await;
    page.click("radio", "video").await;
    see_models(&page, &["Silk"]).await;
    assert!(url().ends_with("/?category=video"), "{}", url());
    drop(page);

    let page = Page::reopen("/?category=video").await;
    see_models(&page, &["Silk"]).await;
    page.see_value("radio", "video", "true").await;
}

#[wasm_bindgen_test]
async fn a_search_without_matches_offers_to_show_all_models() {
    let page = Page::open("/?q=zzzzzz").await;
    page.wait_for_text("No model matches.").await;
    assert!(shown_models(&page).is_empty());
    page.click("button", "Show all models").await;
    page.find("link", "Strata").await;
    page.see_value("searchbox", "Search models", "").await;
}

#[wasm_bindgen_test]
async fn each_failure_has_its_own_message_and_try_again_recovers() {
    for (rule, message) in [
        (json!({"fault": "down"}), "No answer from the service."),
        (
            json!({"fault": "drop_before"}),
            "No answer from the service.",
        ),
        (
            json!({"fault": "status", "status": 401}),
            "did not accept the credentials",
        ),
        (
            json!({"fault": "status", "status": 404}),
            "can't find what was requested",
        ),
        (json!({"fault": "status", "status": 408}), "gave up waiting"),
        (
            json!({"fault": "status", "status": 422}),
            "found the input invalid",
        ),
        (json!({"fault": "status", "status": 429}), "Rate-limited"),
        (
            json!({"fault": "status", "status": 500}),
            "an internal error (HTTP 500)",
        ),
        (json!({"fault": "not_json"}), "it is a web page, not JSON"),
    ] {
        Page::reset_all().await;
        let mut rule = rule;
        rule["path"] = "/api/models".into();
        wire::add_fault(rule).await;
        let page = Page::reopen("/").await;
        let alert = until("an alert", || find::all(page.root(), "alert").pop()).await;
        let text = find::text_of(&alert);
        assert!(text.contains(message), "expected “{message}” in: {text}");
        assert!(
            text.contains(wire::SERVICE),
            "the message does not name the service: {text}"
        );
        wire::clear_faults().await;
        page.click("button", "Try again").await;
        page.find("link", "Strata").await;
        assert!(find::all(page.root(), "alert").is_empty());
    }
}

/// Guards against key presses that take seconds because thousands of cards are in the DOM.
#[wasm_bindgen_test]
async fn ten_thousand_models_need_few_elements_and_are_filtered_quickly() {
    Page::reset_all().await;
    wire::list_many_models(10_000);
    let page = Page::reopen("/").await;
    page.wait_for_text("10000 models").await;
    until("some cards", || {
        (shown_models(&page).len() > 3).then_some(())
    })
    .await;
    assert!(
        shown_models(&page).len() < 300,
        "{} cards",
        shown_models(&page).len()
    );
    // The list is as high as all cards, so that the scroll bar has the right size.
    assert!(
        page.root().scroll_height() > 100_000,
        "{}",
        page.root().scroll_height()
    );

    let start = js_sys::Date::now();
    page.fill("searchbox", "Search models", "hay NEEDLE").await;
    see_models(&page, &["Needle in the hay"]).await;
    let elapsed = js_sys::Date::now() - start;
    // The limit allows for unoptimized code on a busy machine. With all cards in the DOM it took far longer.
    assert!(elapsed < 5_000.0, "{elapsed} ms");
}

/// Guards against cards far outside the window that are rendered again at each key press.
#[wasm_bindgen_test]
async fn a_search_renders_only_cards_near_the_window_until_it_is_scrolled() {
    Page::reset_all().await;
    wire::list_many_models(10_000);
    let page = Page::reopen("/").await;
    until("some cards", || {
        (shown_models(&page).len() > 3).then_some(())
    })
    .await;
    page.fill("searchbox", "Search models", "category 3").await;
    page.wait_for_text("of 10000 models").await;
    let rows = || find::select(page.root(), ".group-row");
    // Rows are 18.5 rem high, and at most one is completely below the window.
    let screen = window().inner_height().expect("a height").as_f64();
    let end = screen.expect("a number") + 18.5 * 16.0;
    let tops = rows()
        .into_iter()
        .map(|row| row.get_bounding_client_rect().top());
    let lowest = tops.fold(0.0, f64::max);
    assert!(lowest < end, "a row at {lowest}, beyond {end}");
    let before = rows().len();
    // Without the style sheets, the content above the list is much higher than the window.
    rows()[0].scroll_into_view();
    until("the next rows", || (rows().len() > before).then_some(())).await;
}

#[wasm_bindgen_test]
async fn a_service_without_models_differs_from_a_search_without_matches() {
    Page::reset_all().await;
    wire::list_many_models(0);
    let page = Page::reopen("/").await;
    page.wait_for_text("The service lists no models.").await;
    assert!(!page.has("button", "Show all models"));
}
