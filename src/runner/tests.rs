use wasm_bindgen_test::wasm_bindgen_test;

use super::testing::{Tab, start_afresh, task};
use super::*;

/// What is listed as the newest was made last, also after the clock was set back.
#[wasm_bindgen_test]
async fn a_task_is_newer_than_those_that_are_known_or_were_noted() {
    start_afresh().await;
    let tab = Tab::open_leading().await;
    let now = clock::now();
    let noted = |text: &str| LocalStore::Browser.write("atelier.newest", text);
    assert!((now..now + 1_000).contains(&tab.runner.created()));
    assert!(noted(&(now + 5_000).to_string()));
    let created = tab.runner.created();
    assert!(created > now + 5_000, "{created}");
    let stored = LocalStore::Browser.read("atelier.newest");
    assert_eq!(stored, Some(created.to_string()));
    for odd in ["", "{}", "soon", "-1"] {
        assert!(noted(odd));
        assert!((now..now + 5_000).contains(&tab.runner.created()), "{odd}");
    }
    tab.runner.submit_tasks(vec![task("a", now + 9_000)]);
    assert!(tab.runner.created() > now + 9_000);
}
