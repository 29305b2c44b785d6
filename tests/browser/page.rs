//! Mounts the app in a new element of the test's page, as after opening or reloading it.

use std::any::Any;
use std::cell::RefCell;

use atelier::App;
use atelier::browser::storage::Storage;
use atelier::browser::storage::replies;
use leptos::prelude::*;
use serde_json::json;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Element, Event, HtmlElement, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement,
    KeyboardEvent, KeyboardEventInit,
};

use crate::find::{self, until};
use crate::wire;

/// An open page, which is closed when it is dropped.
pub struct Page {
    root: HtmlElement,
}

thread_local! {
    /// The open page, and closed pages whose last calls may still be in flight. A closed tab cancels its calls, but here
    /// their responses would reach an app that is unmounted. A failed test leaves its page here too.
    static MOUNTED: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Unmounts closed pages once they have no calls in flight.
async fn unmount_closed() {
    if MOUNTED.with_borrow(Vec::is_empty) {
        return;
    }
    await_promise(wire::run(UNTIL_LEADING)).await;
    await_promise(wire::run(UNTIL_NO_CALLS)).await;
    drop(MOUNTED.take());
}

impl Page {
    /// Opens the app for the first time: nothing is stored except the service's address.
    pub async fn open(path: &str) -> Self {
        Self::reset_all().await;
        Self::reopen(path).await
    }

    /// Opens the app again, with everything that is stored.
    pub async fn reopen(path: &str) -> Self {
        Self::mount(path, || view! { <App /> }.into_any()).await
    }

    /// Opens a single component.
    pub async fn mount(path: &str, view: impl FnOnce() -> AnyView + 'static) -> Self {
        unmount_closed().await;
        add_styles();
        let history = window().history().expect("a history");
        history
            .push_state_with_url(&"".into(), "", Some(path))
            .expect("a URL of this origin");
        let root = document().create_element("div").expect("an element");
        root.set_attribute("data-test-page", "")
            .expect("an attribute");
        let root: HtmlElement = root.unchecked_into();
        // Inserts the page above the growing report of the tests, because only elements near the visible area are
        // rendered.
        let body = document().body().expect("a body");
        body.prepend_with_node_1(&root).expect("a place");
        window().scroll_to_with_x_and_y(0.0, 0.0);
        let mounted = Box::new(leptos::mount::mount_to(root.clone(), view));
        MOUNTED.with_borrow_mut(|all| all.push(mounted));
        await_promise(wire::run(UNTIL_LEADING)).await;
        Self { root }
    }

    /// Removes everything that earlier tests, including failed ones, have left. Only the service's address is set.
    pub async fn reset_all() {
        unmount_closed().await;
        for left in find::select(
            &document().document_element().expect("a root"),
            "[data-test-page]",
        ) {
            left.remove();
        }
        local_storage().clear().expect("localStorage");
        session_storage().clear().expect("sessionStorage");
        document()
            .document_element()
            .expect("a root")
            .remove_attribute("data-theme")
            .expect("an attribute");
        // Creates the database if it does not exist, so that it can be cleared.
        Storage::open(|| ()).await.expect("IndexedDB");
        await_promise(wire::run(EMPTY_DATABASE)).await;
        // Cached replies of one test must not be used in the next.
        local_storage()
            .set_item("atelier.offline", "off")
            .expect("localStorage");
        replies::clear().await;
        let settings = json!({"address": wire::SERVICE}).to_string();
        local_storage()
            .set_item("atelier.settings", &settings)
            .expect("localStorage");
        wire::reset().await;
    }

    pub fn root(&self) -> &Element {
        &self.root
    }

    /// Waits for the element with this role and name.
    pub async fn find(&self, role: &str, name: &str) -> Element {
        until(&format!("{role} “{name}”"), || {
            find::one(&self.root, role, name)
        })
        .await
    }

    pub fn has(&self, role: &str, name: &str) -> bool {
        find::one(&self.root, role, name).is_some()
    }

    /// Waits until the control of this role and name has this value.
    pub async fn see_value(&self, role: &str, name: &str, value: &str) {
        let control = self.find(role, name).await;
        until(&format!("“{value}” in {name}"), || {
            (find::value_of(&control) == value).then_some(())
        })
        .await;
    }

    /// Waits until the page shows this text.
    pub async fn wait_for_text(&self, text: &str) {
        until(&format!("the text “{text}”"), || {
            find::text_of(&self.root).contains(text).then_some(())
        })
        .await;
    }

    pub async fn click(&self, role: &str, name: &str) {
        click(&self.find(role, name).await);
    }

    /// Types into the control of this role and name.
    pub async fn fill(&self, role: &str, name: &str, text: &str) {
        fill(&self.find(role, name).await, text);
    }

    /// Chooses an option of a combobox.
    pub async fn choose(&self, name: &str, option: &str) {
        let control = self.find("combobox", name).await;
        let select: &HtmlSelectElement = control.unchecked_ref();
        let wanted = find::select(select, "option")
            .into_iter()
            .find(|candidate| find::text_of(candidate) == option)
            .expect("the option");
        select.set_value(&wanted.get_attribute("value").unwrap_or_default());
        dispatch(select, "change");
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.root.remove();
    }
}

pub fn click(element: &Element) {
    element.unchecked_ref::<HtmlElement>().click();
}

/// Sets the text of a control with the events of typing and of leaving the control.
pub fn fill(control: &Element, text: &str) {
    if let Some(area) = control.dyn_ref::<HtmlTextAreaElement>() {
        area.set_value(text);
    } else {
        control.unchecked_ref::<HtmlInputElement>().set_value(text);
    }
    dispatch(control, "input");
    dispatch(control, "change");
    dispatch(control, "blur");
    dispatch(control, "focusout");
}

/// Presses a key in an element, with or without Alt.
pub fn press(element: &Element, key: &str, alt: bool) {
    let how = KeyboardEventInit::new();
    how.set_key(key);
    how.set_alt_key(alt);
    how.set_bubbles(true);
    how.set_cancelable(true);
    let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &how);
    element
        .dispatch_event(&event.expect("an event"))
        .expect("a valid event");
}

/// Undoes the last change of a text, as Ctrl+Z does.
pub fn undo() {
    let document = JsValue::from(document());
    let command = js_sys::Reflect::get(&document, &"execCommand".into()).expect("a command");
    let command: js_sys::Function = command.unchecked_into();
    command.call1(&document, &"undo".into()).expect("a call");
}

/// Dispatches an event, which bubbles unless it is `blur`.
fn dispatch(element: &Element, name: &str) {
    let event = Event::new(name).expect("an event");
    event.init_event_with_bubbles(name, name != "blur");
    element.dispatch_event(&event).expect("a valid event");
}

pub fn local_storage() -> web_sys::Storage {
    window()
        .local_storage()
        .ok()
        .flatten()
        .expect("localStorage")
}

pub fn session_storage() -> web_sys::Storage {
    window()
        .session_storage()
        .ok()
        .flatten()
        .expect("sessionStorage")
}

/// Returns the address of the page.
pub fn url() -> String {
    window().location().href().expect("a URL")
}

macro_rules! styles {
    ($($name:literal)*) => {
        concat!($(include_str!(concat!("../../style/", $name, ".css"))),*)
    };
}

/// The style sheets in the order of index.html.
const STYLES: &str = styles! {
    "tokens"
    "base"
    "parts"
    "parts/button"
    "parts/choice"
    "parts/state"
    "parts/message"
    "parts/dialog"
    "shell"
    "models"
    "media"
    "waveform"
    "menu"
    "undo"
    "form"
    "form/field"
    "form/text_field"
    "form/number"
    "form/media"
    "form/file"
    "model"
    "model/wide"
    "model/narrow"
    "model/presets"
    "form/inline"
    "settings"
    "task"
    "task/state"
    "task/inputs"
    "task/outputs"
    "model/result"
    "task/vary"
    "task/over"
    "task/thumbnail"
    "heart"
    "model_card"
    "tasks/filters"
    "tasks/rows"
    "tasks/batch_row"
    "batch"
    "batch/add_rows"
    "batch/table_editor"
    "batch/run"
    "batch/grid"
    "batch/export"
    "integrations"
    "integrations/code"
};

/// Adds the style sheets of the app, without which elements would not be at their usual positions.
fn add_styles() {
    const ID: &str = "test-styles";
    if document().get_element_by_id(ID).is_some() {
        return;
    }
    let style = document().create_element("style").expect("an element");
    style.set_id(ID);
    style.set_text_content(Some(STYLES));
    let root = document().document_element().expect("a root");
    root.append_child(&style).expect("a place");
}

/// Waits until a promise is fulfilled.
async fn await_promise(promise: JsValue) {
    let promise: js_sys::Promise = promise.unchecked_into();
    wasm_bindgen_futures::JsFuture::from(promise)
        .await
        .expect("a fulfilled promise");
}

/// Waits until the app leads, which it does once it has read the stored records.
const UNTIL_LEADING: &str = "
    const leads = async () => (await navigator.locks.query()).held
        .some(lock => lock.name === 'atelier.leader');
    return (async () => {
        for (let n = 0; n < 250 && !await leads(); n++)
            await new Promise(done => setTimeout(done, 20));
        // The app reads the records once more after that.
        await new Promise(done => setTimeout(done, 20));
    })()
";

const UNTIL_NO_CALLS: &str = "
    return (async () => {
        for (let n = 0; n < 250 && window.atelierUnderWay; n++)
            await new Promise(done => setTimeout(done, 20));
    })()
";

const EMPTY_DATABASE: &str = "
    return new Promise((done, failed) => {
        const opened = indexedDB.open('atelier');
        opened.onerror = failed;
        opened.onsuccess = () => {
            const database = opened.result;
            const names = [...database.objectStoreNames];
            const transaction = database.transaction(names, 'readwrite');
            for (const name of names) transaction.objectStore(name).clear();
            transaction.oncomplete = () => { database.close(); done(); };
            transaction.onabort = failed;
        };
    });
";
