//! `/`: the list of models.

use leptos::prelude::window;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::find::{self, until, value_of};
use crate::page::{Page, url};
use crate::wire;

/// The names of the models that the page shows.
fn shown(page: &Page) -> Vec<String> {
    find::select(page.root(), "h3")
        .iter()
        .map(find::name_of)
        .collect()
}

async fn shows(page: &Page, names: &[&str]) {
    until(&format!("the models {names:?}"), || {
        let mut shown = shown(page);
        let mut wanted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        shown.sort();
        wanted.sort();
        (shown == wanted).then_some(())
    })
    .await;
}

#[wasm_bindgen_test]
async fn every_model_of_the_service_stands_in_the_group_of_its_category() {
    let page = Page::open("/").await;
    let list = wire::get("/api/models").await;
    let models = list["data"].as_array().expect("models");
    assert!(models.len() >= 5);
    page.says(&format!("{} models", models.len())).await;
    for model in models {
        let text = |name: &str| model[name].as_str().expect("a text").to_owned();
        let (name, category) = (text("name"), text("category"));
        page.click("radio", &category).await;
        let link = page.the("link", &name).await;
        let href = link.get_attribute("href").expect("a target");
        assert_eq!(href, format!("/models/{category}/{}", text("subcategory")));
        // The group's heading is the category and how many there are; no other group is left. The
        // link was there before the choice took effect: it does not tell that it has.
        until("one group of this category", || {
            let headings = find::select(page.root(), "h2");
            let names: Vec<String> = headings.iter().map(find::name_of).collect();
            matches!(names.as_slice(), [name] if name.starts_with(&category)).then_some(())
        })
        .await;
        page.the("link", &format!("Documentation of {name}")).await;
    }
}

#[wasm_bindgen_test]
async fn search_forgives_case_and_the_order_of_words_and_stands_in_the_url() {
    let page = Page::open("/").await;
    page.fill("searchbox", "Search models", "LANDSCAPES layered")
        .await;
    shows(&page, &["Strata"]).await;
    until("the search in the URL", || {
        url().contains("q=").then_some(())
    })
    .await;
    let search = url().split_once('?').expect("a query").1.to_owned();
    drop(page);

    let page = Page::reopen(&format!("/?{search}")).await;
    shows(&page, &["Strata"]).await;
    let field = page.the("searchbox", "Search models").await;
    assert_eq!(value_of(&field), "LANDSCAPES layered");
}

#[wasm_bindgen_test]
async fn a_category_filters_and_stands_in_the_url() {
    let page = Page::open("/").await;
    page.the("group", "Category").await;
    page.click("radio", "video").await;
    shows(&page, &["Silk"]).await;
    assert!(url().ends_with("/?category=video"), "{}", url());
    drop(page);

    let page = Page::reopen("/?category=video").await;
    shows(&page, &["Silk"]).await;
    page.shows("radio", "video", "true").await;
}

#[wasm_bindgen_test]
async fn a_search_without_hits_says_so_and_leads_back() {
    let page = Page::open("/?q=zzzzzz").await;
    page.says("No model matches.").await;
    assert!(shown(&page).is_empty());
    page.click("button", "Show all models").await;
    page.the("link", "Strata").await;
    page.shows("searchbox", "Search models", "").await;
}

#[wasm_bindgen_test]
async fn each_failure_has_its_own_words_and_trying_again_recovers() {
    for (rule, words) in [
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
            "does not know what was asked for",
        ),
        (json!({"fault": "status", "status": 408}), "gave up waiting"),
        (
            json!({"fault": "status", "status": 422}),
            "found the input invalid",
        ),
        (json!({"fault": "status", "status": 429}), "Rate-limited"),
        (
            json!({"fault": "status", "status": 500}),
            "a problem of its own (HTTP 500)",
        ),
        (json!({"fault": "not_json"}), "it is a web page, not JSON"),
    ] {
        Page::forget_all().await;
        let mut rule = rule;
        rule["path"] = "/api/models".into();
        wire::spoil(rule).await;
        let page = Page::reopen("/").await;
        let alert = until("an alert", || find::all(page.root(), "alert").pop()).await;
        let text = find::text_of(&alert);
        assert!(text.contains(words), "expected “{words}” in: {text}");
        assert!(
            text.contains(wire::SERVICE),
            "it does not say which service: {text}"
        );
        wire::spoil_nothing().await;
        page.click("button", "Try again").await;
        page.the("link", "Strata").await;
        assert!(find::all(page.root(), "alert").is_empty());
    }
}

/// Thousands of cards in the document made one key press take seconds.
#[wasm_bindgen_test]
async fn ten_thousand_models_are_few_elements_and_filter_at_once() {
    Page::forget_all().await;
    wire::list_many_models(10_000);
    let page = Page::reopen("/").await;
    page.says("10000 models").await;
    until("some cards", || (shown(&page).len() > 3).then_some(())).await;
    assert!(shown(&page).len() < 300, "{} cards", shown(&page).len());
    // There is room for all of them, so that the scroll bar tells the truth.
    assert!(
        page.root().scroll_height() > 100_000,
        "{}",
        page.root().scroll_height()
    );

    let begun = js_sys::Date::now();
    page.fill("searchbox", "Search models", "hay NEEDLE").await;
    shows(&page, &["Needle in the hay"]).await;
    let took = js_sys::Date::now() - begun;
    // Unoptimised code on a busy machine; the page that had all cards took far longer.
    assert!(took < 5_000.0, "{took} ms");
}

/// Guards against cards that are built anew at each key, though they are far off the screen.
#[wasm_bindgen_test]
async fn a_search_builds_what_is_near_the_screen_and_scrolling_the_rest() {
    Page::forget_all().await;
    wire::list_many_models(10_000);
    let page = Page::reopen("/").await;
    until("some cards", || (shown(&page).len() > 3).then_some(())).await;
    page.fill("searchbox", "Search models", "category 3").await;
    page.says("of 10000 models").await;
    let rows = || find::select(page.root(), ".group-row");
    // Of 18.5 rem each: one at most lies wholly below the screen.
    let screen = window().inner_height().expect("a height").as_f64();
    let end = screen.expect("a number") + 18.5 * 16.0;
    let tops = rows()
        .into_iter()
        .map(|row| row.get_bounding_client_rect().top());
    let lowest = tops.fold(0.0, f64::max);
    assert!(lowest < end, "a row at {lowest}, beyond {end}");
    let before = rows().len();
    // Without its style sheet the page has far more above the list than there is room for on a screen.
    rows()[0].scroll_into_view();
    until("the rows that come next", || {
        (rows().len() > before).then_some(())
    })
    .await;
}

#[wasm_bindgen_test]
async fn a_service_without_models_is_told_from_a_search_without_hits() {
    Page::forget_all().await;
    wire::list_many_models(0);
    let page = Page::reopen("/").await;
    page.says("The service lists no models.").await;
    assert!(!page.has("button", "Show all models"));
}
