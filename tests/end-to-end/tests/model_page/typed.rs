//! What is typed survives.

use crate::studio::{MODEL, Studio, TIMEOUT, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::wait::becomes;
use fantoccini::key::Key;

async fn back_to_the_model(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.press(&by("link", "Models")).await?;
    browser.find(&by("heading", "Models")).await?;
    browser.client.back().await?;
    studio.is_open().await
}

/// Guards against `?from=` being used again at every reload: what was typed after it was gone.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_fills_the_form_once_says_so_and_what_is_typed_since_survives() {
    let name = "an_edit_fills_the_form_once";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("the first").await?;
        browser.press(&by("button", "Generate")).await?;
        let task = browser.find(&containing("article", "the first")).await?;
        studio.type_prompt("something else").await?;
        browser.press(&by("button", "Edit").within(&task)).await?;
        studio.sees_prompt("the first").await?;
        browser
            .see_text("Changed in the form: prompt", TIMEOUT)
            .await?;
        // Guards against an edit that makes the same composition again without a word.
        browser
            .see_text("A new seed will be used.", TIMEOUT)
            .await?;
        let seed = browser.find(&by("spinbutton", "seed")).await?;
        assert_eq!(seed.prop("value").await?.as_deref(), Some(""));
        let address = browser.client.current_url().await?;
        assert_eq!(address.query(), None, "it is still in the address");

        studio.type_prompt("edited since").await?;
        browser.client.refresh().await?;
        studio.is_open().await?;
        studio.sees_prompt("edited since").await?;

        browser.press(&by("radio", "Batch")).await?;
        browser.find(&by("textbox", "Prompts")).await?;
        browser.press(&by("radio", "One")).await?;
        studio.sees_prompt("edited since").await?;

        back_to_the_model(studio).await?;
        studio.sees_prompt("edited since").await?;

        // A task that is not in this browser leaves the form as it was, and says so.
        studio.open(&format!("{MODEL}?from=no-such-task")).await?;
        browser
            .see_text("not in this browser any more", TIMEOUT)
            .await?;
        studio.sees_prompt("edited since").await
    })
    .await;
}

/// Guards against a form that stops Atelier as it goes, because its field hears that it has lost the
/// focus.
#[tokio::test(flavor = "multi_thread")]
async fn going_back_from_a_field_that_has_the_focus_leads_back() {
    let name = "going_back_from_a_field";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address("/")).await?;
        browser.press(&starting("link", "Tessera")).await?;
        studio.is_open().await?;
        studio.type_prompt("unfinished").await?;
        browser.client.back().await?;
        // As a person would find it: what has stopped takes no click.
        browser.press(&starting("link", "Tessera")).await?;
        studio.is_open().await?;
        studio.sees_prompt("unfinished").await
    })
    .await;
}

/// Guards against Ctrl+Z that takes back one letter at a time, as Chromium does where the page removes a node at each key.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_at_one_go_is_taken_back_at_one_go() {
    let name = "what_is_typed_at_one_go";
    play(name, &[], async |studio| {
        let browser = studio.browser;
        let back = format!("{}z", char::from(Key::Control));
        for (role, name, typed) in [
            ("textbox", "prompt", "zzzzzzzzzz"),
            ("spinbutton", "seed", "1234567890"),
        ] {
            let field = browser.find(&starting(role, name)).await?;
            field.click().await?;
            for key in typed.chars() {
                field.send_keys(&key.to_string()).await?;
            }
            field.send_keys(&back).await?;
            let value = "return document.activeElement.value";
            let left = browser.run(value, vec![]).await?;
            let left = left.as_str().unwrap_or_default();
            // Something else may go from the page between two keys, as a message whose time is over.
            assert!(left.len() + 1 < typed.len(), "{name} has {left}");
        }
        Ok(())
    })
    .await;
}

/// Guards against Ctrl+Z after a press that takes back what was typed in another field.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_change_is_what_is_taken_back() {
    let name = "the_last_change";
    play(name, &[], async |studio| {
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
        becomes(browser, "what is typed", state, typed.as_str()).await?;
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
            becomes(browser, what, &changed, true).await?;
            let now = browser.run(state, vec![]).await?;
            states.push(now.as_str().unwrap_or_default().to_owned());
        }
        browser.press(&by("button", "Clear form")).await?;
        becomes(browser, "a cleared form", state, before.as_str()).await?;
        for wanted in states.iter().rev() {
            keys("z").await?;
            becomes(browser, "what is taken back", state, wanted.as_str()).await?;
        }
        // The text stays until it is the last change.
        for wanted in &states[1..] {
            keys("y").await?;
            becomes(browser, "what is made once more", state, wanted.as_str()).await?;
        }
        for wanted in states.iter().rev().skip(1) {
            keys("z").await?;
            becomes(browser, "what is taken back", state, wanted.as_str()).await?;
        }
        // What was typed before is the browser's to take back.
        let prompt = browser.find(&starting("textbox", "prompt")).await?;
        prompt.click().await?;
        prompt.send_keys(" and more").await?;
        let more = format!("a lake and more{before}");
        becomes(browser, "what is typed", state, more.as_str()).await?;
        browser.run(switch, vec![]).await?;
        keys("z").await?;
        becomes(browser, "the switch", state, more.as_str()).await?;
        keys("z").await?;
        // How much of it at once is up to the browser.
        let is_less = format!(
            "const now = (() => {{ {state} }})();
            return now !== {more:?} && now.startsWith('a lake') && now.endsWith({before:?})"
        );
        becomes(browser, "the text", &is_less, true).await
    })
    .await;
}

/// Guards against a prompt that Ctrl+Z doesn't bring back after it was edited as JSON.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_edited_as_json_is_undone_in_the_form() {
    let name = "what_was_edited_as_json";
    play(name, &[], async |studio| {
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
        let wanted = r#"{"prompt": "a green fox", "panes": 12}"#;
        browser.fill(&text, wanted).await?;
        // One more number that can be read.
        keys(&format!("{}0", char::from(Key::Left))).await?;
        browser.press(&by("radio", "Form")).await?;
        becomes(browser, "the edited prompt", prompt, "a green fox").await?;
        browser
            .find(&starting("textbox", "prompt"))
            .await?
            .click()
            .await?;
        keys(&control('z')).await?;
        becomes(browser, "the prompt before", prompt, "a red fox").await?;
        keys(&control('y')).await?;
        becomes(browser, "the edited prompt", prompt, "a green fox").await
    })
    .await;
}

/// Guards against a caret before the text that was kept, where typing goes on.
#[tokio::test(flavor = "multi_thread")]
async fn the_caret_is_at_the_end_of_a_kept_prompt() {
    play("the_caret_is_at_the_end", &[], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a kept\nprompt").await?;
        studio.open(MODEL).await?;
        let caret = "
            const it = document.activeElement;
            return it.value?.length ? it.selectionStart - it.value.length : 'not in the text'";
        becomes(browser, "the caret", caret, 0).await
    })
    .await;
}

/// Guards against keys that go nowhere after a page has gone together with its open dialog, and against a list of models in
/// which they begin at the top after one was looked at.
#[tokio::test(flavor = "multi_thread")]
async fn going_back_from_a_dialog_gives_the_focus_to_the_card() {
    let name = "going_back_from_a_dialog";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address("/")).await?;
        // What notes where the list was left comes with what draws the cards.
        let are_drawn = "return document.querySelector('.model-card img') !== null";
        becomes(browser, "pictures on the cards", are_drawn, true).await?;
        browser.press(&starting("link", "Tessera")).await?;
        studio.is_open().await?;
        browser.press(&by("button", "Presets")).await?;
        browser.find(&by("dialog", "Presets")).await?;
        browser.client.back().await?;
        browser.find(&by("heading", "Models")).await?;
        let focused = "return document.activeElement.innerText";
        becomes(browser, "what has the focus", focused, "Tessera").await
    })
    .await;
}

/// Guards against one tab's form being overwritten by another's.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_tabs_the_last_typed_is_what_a_reload_finds() {
    let name = "of_two_tabs_the_last_typed";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let first = browser.client.window().await?;
        studio.type_prompt("typed in the first").await?;
        let second = browser.open_tab(&studio.address(MODEL)).await?;
        studio.is_open().await?;
        studio.sees_prompt("typed in the first").await?;
        studio.type_prompt("typed in the second").await?;
        browser.switch_to(&first).await?;
        studio.sees_prompt("typed in the first").await?;
        // A tab that is left writes nothing that it has not typed since.
        browser.client.refresh().await?;
        studio.is_open().await?;
        studio.sees_prompt("typed in the second").await?;
        studio.type_prompt("typed last").await?;
        browser.switch_to(&second).await?;
        studio.sees_prompt("typed in the second").await?;
        browser.client.refresh().await?;
        studio.is_open().await?;
        studio.sees_prompt("typed last").await
    })
    .await;
}

/// Guards against a form that forgets silently where the browser refuses to store.
#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_can_be_stored_what_is_typed_lasts_as_long_as_the_visit() {
    let name = "where_nothing_can_be_stored";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        for refusal in [
            // Full.
            "const write = Storage.prototype.setItem;
             Storage.prototype.setItem = function (key, value) {
                 if (key.startsWith('atelier.draft')) throw new DOMException('', 'QuotaExceededError');
                 return write.call(this, key, value);
             }",
            // Refused altogether.
            "Object.defineProperty(window, 'localStorage', {
                 get() { throw new DOMException('', 'SecurityError') }
             })",
        ] {
            studio.proxy.before_each_page(browser, refusal).await?;
            studio.open(MODEL).await?;
            studio.type_prompt("for this visit").await?;
            browser.see_text("is not being kept", TIMEOUT).await?;
            let said = "return document.body.innerText.split('is not being kept').length - 1";
            let said = browser.run(said, vec![]).await?;
            assert_eq!(said.as_u64(), Some(1), "how often it was said");
            back_to_the_model(studio).await?;
            studio.sees_prompt("for this visit").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a draft of an earlier version being thrown away.
#[tokio::test(flavor = "multi_thread")]
async fn a_draft_as_the_first_version_kept_it_is_read() {
    let name = "a_draft_as_the_first_version_kept_it";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let write = r#"localStorage.setItem('atelier.draft.image/tessera',
            '{"entries":{"prompt":{"text":"kept long ago"},"seed":{"value":18446744073709551615}}}')"#;
        browser.run(write, vec![]).await?;
        browser.client.refresh().await?;
        studio.is_open().await?;
        studio.sees_prompt("kept long ago").await?;
        studio.type_prompt("typed today").await?;
        let kept = "return localStorage.getItem('atelier.draft.image/tessera')";
        let kept = browser.run(kept, vec![]).await?;
        assert_eq!(
            kept.as_str(),
            Some(
                r#"{"entries":{"prompt":{"text":"typed today"},"seed":{"value":18446744073709551615}}}"#
            )
        );
        Ok(())
    })
    .await;
}
