//! Tests of drafts and undo: typed input survives.

use crate::studio::{MODEL, Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::key::Key;

async fn leave_and_go_back(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.press(&by("link", "Models")).await?;
    browser.find(&by("heading", "Models")).await?;
    browser.client.back().await?;
    studio.wait_until_open().await
}

/// Guards against `?from=` being applied again at every reload, which replaced later input.
#[tokio::test(flavor = "multi_thread")]
async fn edit_fills_form_once_and_later_input_survives_reload() {
    let name = "edit_fills_form_once_and_later_input_survives_reload";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("the first").await?;
        browser.press(&by("button", "Generate")).await?;
        let task = browser.find(&containing("article", "the first")).await?;
        studio.type_prompt("something else").await?;
        browser.press(&by("button", "Edit").within(&task)).await?;
        studio.wait_for_prompt("the first").await?;
        browser
            .wait_for_text("Changed in the form: prompt", TIMEOUT)
            .await?;
        // Guards against an edit that silently reuses the seed.
        browser
            .wait_for_text("A new seed will be used.", TIMEOUT)
            .await?;
        let seed = browser.find(&by("spinbutton", "seed")).await?;
        assert_eq!(seed.prop("value").await?.as_deref(), Some(""));
        let address = browser.client.current_url().await?;
        assert_eq!(address.query(), None, "`?from=` is still in the address");

        studio.type_prompt("edited since").await?;
        browser.client.refresh().await?;
        studio.wait_until_open().await?;
        studio.wait_for_prompt("edited since").await?;

        browser.press(&by("radio", "Batch")).await?;
        browser.find(&by("textbox", "Prompts")).await?;
        browser.press(&by("radio", "One")).await?;
        studio.wait_for_prompt("edited since").await?;

        leave_and_go_back(studio).await?;
        studio.wait_for_prompt("edited since").await?;

        // A task that is not in this browser does not change the form, and a message says so.
        studio.open(&format!("{MODEL}?from=no-such-task")).await?;
        browser
            .wait_for_text("no longer in this browser", TIMEOUT)
            .await?;
        studio.wait_for_prompt("edited since").await
    })
    .await;
}

/// Guards against a crash when the form is removed and its field receives a blur event.
#[tokio::test(flavor = "multi_thread")]
async fn going_back_from_focused_field_does_not_crash() {
    let name = "going_back_from_focused_field_does_not_crash";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address("/")).await?;
        browser.press(&starting("link", "Tessera")).await?;
        studio.wait_until_open().await?;
        studio.type_prompt("unfinished").await?;
        browser.client.back().await?;
        // A crashed page would not react to this press.
        browser.press(&starting("link", "Tessera")).await?;
        studio.wait_until_open().await?;
        studio.wait_for_prompt("unfinished").await
    })
    .await;
}

/// Guards against Ctrl+Z that reverts only one letter. Chromium does that if the page removes a node at each key.
#[tokio::test(flavor = "multi_thread")]
async fn undo_reverts_more_than_one_letter_of_typed_text() {
    let name = "undo_reverts_more_than_one_letter_of_typed_text";
    run_steps(name, &[], async |studio| {
        let browser = studio.browser;
        let undo = format!("{}z", char::from(Key::Control));
        for (role, name, typed) in [
            ("textbox", "prompt", "zzzzzzzzzz"),
            ("spinbutton", "seed", "1234567890"),
        ] {
            let field = browser.find(&starting(role, name)).await?;
            field.click().await?;
            for key in typed.chars() {
                field.send_keys(&key.to_string()).await?;
            }
            field.send_keys(&undo).await?;
            let value = "return document.activeElement.value";
            let left = browser.run(value, vec![]).await?;
            let left = left.as_str().unwrap_or_default();
            // Other nodes may be removed between two keys, for instance an expired message.
            assert!(left.len() + 1 < typed.len(), "{name} has {left}");
        }
        Ok(())
    })
    .await;
}

/// Guards against Ctrl+Z after a press that reverts text typed in another field.
#[tokio::test(flavor = "multi_thread")]
async fn undo_and_redo_follow_order_of_changes() {
    let name = "undo_and_redo_follow_order_of_changes";
    run_steps(name, &[], async |studio| {
        let browser = studio.browser;
        let keys = async |keys: &str| {
            let focused = browser.client.active_element().await?;
            let keys = format!("{}{keys}", char::from(Key::Control));
            Result::Ok(focused.send_keys(&keys).await?)
        };
        let state = "
            const field = name => [...document.querySelectorAll('.form .field')]
                .find(it => it.querySelector('.label').innerText === name);
            const chosen = field('layout').querySelector('select, :checked');
            const layout = chosen.nextElementSibling?.innerText ?? chosen.selectedOptions[0].innerText;
            return [
                field('prompt').querySelector('textarea').value,
                layout,
                field('lead').querySelector('input').checked,
                field('panes').querySelector('[role=spinbutton]').value,
                field('glow').querySelector('[role=spinbutton]').value,
            ].join()";
        let before = browser.run(state, vec![]).await?;
        let before = before.as_str().unwrap_or_default().to_owned();
        let typed = format!("a lake{before}");
        let prompt = browser.find(&starting("textbox", "prompt")).await?;
        prompt.click().await?;
        prompt.send_keys("a lake").await?;
        wait_for_value(browser, "the typed text", state, typed.as_str()).await?;
        let choose = "
            const layout = [...document.querySelectorAll('.form .field')]
                .find(it => it.querySelector('.label').innerText === 'layout');
            const other = layout.querySelector('input:not(:checked)');
            const select = layout.querySelector('select');
            if (other) {
                other.focus();
                other.click();
            } else {
                select.focus();
                select.selectedIndex = select.selectedIndex ? 0 : 1;
                select.dispatchEvent(new Event('change', { bubbles: true }));
            }";
        let slide = "
            const slider = document.querySelector('.form [type=range]');
            slider.focus();
            slider.value = slider.max;
            for (const kind of ['input', 'change']) slider.dispatchEvent(new Event(kind, { bubbles: true }));";
        let switch = "
            const lead = document.querySelector('.form [role=switch]');
            lead.focus();
            lead.click();";
        let mut states = vec![typed.clone()];
        for (what, act) in [
            ("an option", choose),
            ("a switch", switch),
            ("a slider", slide),
        ] {
            browser.run(act, vec![]).await?;
            let last = states.last().cloned().unwrap_or_default();
            let changed = format!("const now = (() => {{ {state} }})(); return now !== {last:?}");
            wait_for_value(browser, what, &changed, true).await?;
            let now = browser.run(state, vec![]).await?;
            states.push(now.as_str().unwrap_or_default().to_owned());
        }
        browser.press(&by("button", "Clear form")).await?;
        wait_for_value(browser, "the cleared form", state, before.as_str()).await?;
        for expected in states.iter().rev() {
            keys("z").await?;
            wait_for_value(browser, "the state after undo", state, expected.as_str()).await?;
        }
        // The text is not reverted until it is the last change.
        for expected in &states[1..] {
            keys("y").await?;
            wait_for_value(browser, "the state after redo", state, expected.as_str()).await?;
        }
        for expected in states.iter().rev().skip(1) {
            keys("z").await?;
            wait_for_value(browser, "the state after undo", state, expected.as_str()).await?;
        }
        // The browser itself reverts text typed before.
        let prompt = browser.find(&starting("textbox", "prompt")).await?;
        prompt.click().await?;
        prompt.send_keys(" and more").await?;
        let more = format!("a lake and more{before}");
        wait_for_value(browser, "the typed text", state, more.as_str()).await?;
        browser.run(switch, vec![]).await?;
        keys("z").await?;
        wait_for_value(browser, "the switch", state, more.as_str()).await?;
        keys("z").await?;
        // The browser decides how much it reverts at once.
        let is_less = format!(
            "const now = (() => {{ {state} }})();
            return now !== {more:?} && now.startsWith('a lake') && now.endsWith({before:?})"
        );
        wait_for_value(browser, "the text", &is_less, true).await
    })
    .await;
}

/// Guards against a prompt that Ctrl+Z doesn't bring back after it was edited as JSON.
#[tokio::test(flavor = "multi_thread")]
async fn json_edit_can_be_undone_in_form() {
    let name = "json_edit_can_be_undone_in_form";
    run_steps(name, &[], async |studio| {
        let browser = studio.browser;
        let prompt = "return document.querySelector('.form textarea[required]').value";
        let keys = async |keys: &str| {
            let focused = browser.client.active_element().await?;
            Result::Ok(focused.send_keys(keys).await?)
        };
        let control = |key: char| format!("{}{key}", char::from(Key::Control));
        studio.type_prompt("a red fox").await?;
        browser.press(&by("radio", "JSON")).await?;
        let text = by("textbox", "Input as JSON");
        let expected = r#"{"prompt": "a green fox", "panes": 12}"#;
        browser.fill(&text, expected).await?;
        // Types another valid number.
        keys(&format!("{}0", char::from(Key::Left))).await?;
        browser.press(&by("radio", "Form")).await?;
        wait_for_value(browser, "the edited prompt", prompt, "a green fox").await?;
        browser
            .find(&starting("textbox", "prompt"))
            .await?
            .click()
            .await?;
        keys(&control('z')).await?;
        wait_for_value(browser, "the previous prompt", prompt, "a red fox").await?;
        keys(&control('y')).await?;
        wait_for_value(browser, "the edited prompt", prompt, "a green fox").await
    })
    .await;
}

/// Guards against a caret before the restored text.
#[tokio::test(flavor = "multi_thread")]
async fn caret_is_at_end_of_restored_prompt() {
    run_steps("caret_is_at_end_of_restored_prompt", &[], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a kept\nprompt").await?;
        studio.open(MODEL).await?;
        let caret = "
            const it = document.activeElement;
            return it.value?.length ? it.selectionStart - it.value.length : 'not in the text'";
        wait_for_value(browser, "the caret", caret, 0).await
    })
    .await;
}

/// Guards against a lost focus after a page was left with an open dialog, and against focus at the top of the model
/// list after returning to it.
#[tokio::test(flavor = "multi_thread")]
async fn going_back_from_dialog_focuses_model_card() {
    let name = "going_back_from_dialog_focuses_model_card";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address("/")).await?;
        // The script that records the list position is loaded together with the card pictures.
        let has_pictures = "return document.querySelector('.model-card img') !== null";
        wait_for_value(browser, "pictures on the cards", has_pictures, true).await?;
        browser.press(&starting("link", "Tessera")).await?;
        studio.wait_until_open().await?;
        browser.press(&by("button", "Presets")).await?;
        browser.find(&by("dialog", "Presets")).await?;
        browser.client.back().await?;
        browser.find(&by("heading", "Models")).await?;
        let focused = "return document.activeElement.innerText";
        wait_for_value(browser, "the focus", focused, "Tessera").await
    })
    .await;
}

/// Guards against a tab's form being overwritten by another tab.
#[tokio::test(flavor = "multi_thread")]
async fn reload_restores_draft_last_typed_in_any_tab() {
    let name = "reload_restores_draft_last_typed_in_any_tab";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        studio.type_prompt("typed in the first").await?;
        let second = browser.open_tab(&studio.address(MODEL)).await?;
        studio.wait_until_open().await?;
        studio.wait_for_prompt("typed in the first").await?;
        studio.type_prompt("typed in the second").await?;
        browser.switch_to(&first).await?;
        studio.wait_for_prompt("typed in the first").await?;
        // Leaving a tab stores nothing unless something was typed there since.
        browser.client.refresh().await?;
        studio.wait_until_open().await?;
        studio.wait_for_prompt("typed in the second").await?;
        studio.type_prompt("typed last").await?;
        browser.switch_to(&second).await?;
        studio.wait_for_prompt("typed in the second").await?;
        browser.client.refresh().await?;
        studio.wait_until_open().await?;
        studio.wait_for_prompt("typed last").await
    })
    .await;
}

/// Guards against silent loss of the draft when the browser can't store it.
#[tokio::test(flavor = "multi_thread")]
async fn draft_survives_navigation_when_storage_fails() {
    let name = "draft_survives_navigation_when_storage_fails";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        for refusal in [
            // The storage is full.
            "const write = Storage.prototype.setItem;
             Storage.prototype.setItem = function (key, value) {
                 if (key.startsWith('atelier.draft')) throw new DOMException('', 'QuotaExceededError');
                 return write.call(this, key, value);
             }",
            // Access is denied.
            "Object.defineProperty(window, 'localStorage', {
                 get() { throw new DOMException('', 'SecurityError') }
             })",
        ] {
            studio.proxy.before_each_page(browser, refusal).await?;
            studio.open(MODEL).await?;
            studio.type_prompt("for this visit").await?;
            browser.wait_for_text("is not being stored", TIMEOUT).await?;
            let count = "return document.body.innerText.split('is not being stored').length - 1";
            let count = browser.run(count, vec![]).await?;
            assert_eq!(count.as_u64(), Some(1), "number of notices");
            leave_and_go_back(studio).await?;
            studio.wait_for_prompt("for this visit").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against discarding a draft of an earlier version.
#[tokio::test(flavor = "multi_thread")]
async fn draft_of_first_version_is_read() {
    let name = "draft_of_first_version_is_read";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let write = r#"localStorage.setItem('atelier.draft.image/tessera',
            '{"entries":{"prompt":{"text":"kept long ago"},"seed":{"value":18446744073709551615}}}')"#;
        browser.run(write, vec![]).await?;
        browser.client.refresh().await?;
        studio.wait_until_open().await?;
        studio.wait_for_prompt("kept long ago").await?;
        studio.type_prompt("typed today").await?;
        let stored = "return localStorage.getItem('atelier.draft.image/tessera')";
        let stored = browser.run(stored, vec![]).await?;
        assert_eq!(
            stored.as_str(),
            Some(
                r#"{"entries":{"prompt":{"text":"typed today"},"seed":{"value":18446744073709551615}}}"#
            )
        );
        Ok(())
    })
    .await;
}
