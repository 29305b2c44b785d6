//! A field for a list of images, videos or sounds: addresses, files of the user's own, and outputs. The items are ordered
//! with buttons or by dragging.

mod dragging;
mod item;

use std::sync::Arc;

use atelier_contract::Entry;
use atelier_studio::form::media_list::{self, MediaList};
use atelier_studio::form::upload::acceptance;
use atelier_studio::form::upload::state::UploadState;
use icondata_lu::{LuClipboardPaste, LuPlus, LuUpload};
use leptos::prelude::*;
use maud::html;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, KeyboardEvent, MouseEvent};

use super::field::{self, Field};
use super::frame::Parts;
use super::output_input::{self, Output, Replacement};
use super::own_file::MediaField;
use super::{gallery_picker, media};
use crate::browser::chosen::{self, ChosenFile, Pasted};
use crate::reactive::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::state::media_lists::{self, ListState};
use crate::state::uploads::{self, FieldKey, Upload};
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use dragging::Drag;

/// The group, which the view is mounted in.
pub fn html(field: &Field) -> Parts {
    Parts {
        is_group: true,
        aside: None,
        control: html! {
            div.media-field.media-list role="group" aria-labelledby=(field.label_id()) {
                div.own-file id=(field.own_file_id()) {}
            }
        },
    }
}

/// The list of a field. Its changes are written to the draft.
#[derive(Clone)]
pub struct ListField {
    of: MediaField,
    state: ListState,
}

impl ListField {
    pub fn new(of: &MediaField) -> Self {
        let key = untrack(|| of.key());
        let (state, is_new) = media_lists::of_field(&key);
        let this = Self {
            of: of.clone(),
            state,
        };
        if is_new {
            let earlier = untrack(|| uploads::of_list(&key));
            let is_kept = |upload: &&Upload| upload.state != UploadState::Canceled;
            let kept = earlier.iter().filter(is_kept);
            let ids: Vec<u32> = kept.filter_map(|it| it.key.item).collect();
            let addresses = this.addresses().unwrap_or_default();
            this.state.list.set(MediaList::new(&addresses, &ids));
        }
        this
    }

    fn field(&self) -> &Field {
        &self.of.field
    }

    fn item_key(&self, item: u32) -> FieldKey {
        FieldKey {
            item: Some(item),
            ..untrack(|| self.of.key())
        }
    }

    /// Returns the addresses in the field; `None` if the value is something else. Not tracked.
    fn addresses(&self) -> Option<Vec<String>> {
        media_list::addresses(untrack(|| self.field().shown()).as_ref())
    }

    fn report(&self, message: String) {
        self.state.message.set(message);
    }

    /// Changes the list and writes it to the draft. Leaves a value that is not a list of addresses alone.
    fn change<T: Default>(&self, change: impl FnOnce(&mut MediaList) -> T) -> T {
        if self.field().is_disposed() {
            return T::default();
        }
        let Some(before) = self.addresses() else {
            self.report(NOT_A_LIST.to_owned());
            return T::default();
        };
        let mut now = self.state.list.get_untracked();
        self.cancel_uploads(&now.follow(&before));
        let result = change(&mut now);
        let addresses = now.addresses();
        self.state.list.set(now);
        if addresses != before {
            let entry = media_list::entry(&self.field().parameter, addresses);
            self.field().restore(entry);
        }
        result
    }

    /// Returns how many of `count` things can be added, and reports if not all of them can.
    fn fitting(&self, count: usize, what: &str) -> usize {
        let (parameter, space) = (&self.field().parameter, self.space());
        self.report(media_list::overflow_message(parameter, count, space, what));
        space.min(count)
    }

    /// Returns how many items can be added; not tracked.
    pub fn space(&self) -> usize {
        let count = self.state.list.read_untracked().items().len();
        media_list::space(&self.field().parameter, count)
    }

    /// Uploads files and adds them in this order.
    pub fn add_files(&self, files: Vec<ChosenFile>) {
        let count = self.fitting(files.len(), "file");
        for file in files.into_iter().take(count) {
            self.upload(file, None);
        }
    }

    /// Uploads a file for a new item, or for an existing one. Returns the id of the upload.
    fn upload(&self, file: ChosenFile, item: Option<u32>) -> Option<u32> {
        let item = self.change(|list| match item {
            Some(item) => list.set(item, None).then_some(item),
            None => Some(list.add(None)),
        })?;
        let (key, before) = (self.item_key(item), self.field().entry_now());
        uploads::start(
            self.of.all,
            key.clone(),
            self.of.media,
            file,
            before,
            String::new(),
        );
        untrack(|| uploads::of_field(&key)).map(|upload| upload.id)
    }

    /// Adds addresses in this order. Returns the items.
    fn add_addresses(&self, addresses: Vec<String>, what: &str) -> Vec<u32> {
        let count = self.fitting(addresses.len(), what);
        let addresses = addresses.into_iter().take(count);
        self.change(|list| addresses.map(|address| list.add(Some(address))).collect())
    }

    /// Adds the addresses of outputs. Returns the items with their outputs.
    pub fn add_outputs(&self, outputs: Vec<Output>) -> Vec<(u32, Output)> {
        let addresses = outputs.iter().map(|(_, url)| url.clone()).collect();
        let items = self.add_addresses(addresses, "output");
        items.into_iter().zip(outputs).collect()
    }

    /// Returns the last item with this address.
    pub fn item_with(&self, address: &str) -> Option<u32> {
        let list = self.state.list.read_untracked();
        let is_it = |id: &u32| has(&list, *id, address);
        list.items().iter().map(|item| item.id).rfind(is_it)
    }

    /// Whether an item still has this address.
    pub fn has(&self, item: u32, address: &str) -> bool {
        has(&self.state.list.read_untracked(), item, address)
    }

    /// Replaces the address of an item. Returns the id of the upload, if there is one.
    pub fn replace(&self, item: u32, found: Replacement) -> Option<u32> {
        match found {
            Replacement::File(file) => self.upload(file, Some(item)),
            Replacement::Data(data) => {
                self.change(|list| list.set(item, Some(data)));
                None
            }
        }
    }

    /// Handles the result of the button "Paste".
    pub fn paste(&self, pasted: Pasted) {
        match pasted {
            Pasted::File(file) => self.add_files(vec![file]),
            Pasted::Text(text) => drop(self.add_typed(&text)),
            Pasted::Nothing => self.report(acceptance::empty_clipboard(self.of.media)),
            Pasted::Denied => self.report(acceptance::DENIED_CLIPBOARD.to_owned()),
        }
    }

    /// Adds the addresses in a text. Returns whether there are any.
    pub fn add_typed(&self, text: &str) -> bool {
        match media_list::typed_addresses(text) {
            Ok(addresses) => !self.add_addresses(addresses, "address").is_empty(),
            Err(message) => {
                self.report(message);
                false
            }
        }
    }

    /// Reports why something was not added.
    pub fn refuse(&self, message: String) {
        self.report(message);
    }

    /// Moves an item and keeps the focus on it.
    fn move_to(&self, item: u32, to: usize) {
        let has_moved = self.change(|list| list.move_to(item, to));
        if !has_moved {
            return;
        }
        let list = self.state.list.read_untracked();
        let address = list.items().iter().find(|it| it.id == item);
        let address = address.and_then(|it| it.address.clone());
        let upload = untrack(|| uploads::of_field(&self.item_key(item)));
        let name = item::name(address.as_deref(), upload.as_ref());
        let place = list.place(item).unwrap_or_default();
        self.report(media_list::moved_message(&name, place, list.items().len()));
    }

    /// Removes an item and moves the focus to the next one.
    fn remove(&self, item: u32) {
        if let Some(upload) = untrack(|| uploads::of_field(&self.item_key(item))) {
            uploads::remove(upload.id);
        }
        let next = self.change(|list| list.remove(item));
        self.report(String::new());
        let file_input = format!("#{} input", self.field().own_file_id());
        let next = next.map(|next| format!("#{} .remove", item::element_id(self.field(), next)));
        focus::when_lost(move || {
            let _ = next.is_some_and(|next| focus::to_without_scrolling(&next))
                || focus::to_without_scrolling(&file_input);
        });
    }

    /// Keeps the list up to date with the draft and the uploads, as long as the field is shown.
    fn follow(&self) {
        let this = self.clone();
        effect(move || {
            let (_, uploads) = (this.field().entry(), uploads::of_list(&this.of.key()));
            untrack(|| this.update(&uploads));
        });
    }

    /// Checks whether the service still has the files of the list, whenever items are added or an input is refused.
    fn check(&self) {
        let this = self.clone();
        let checked = StoredValue::new((0, Vec::<(u32, String)>::new()));
        effect(move || {
            let checks = uploads::checks();
            let items = this.state.list.read();
            let items = items.items().iter();
            let items: Vec<(u32, String)> = items
                .filter_map(|item| Some((item.id, item.address.clone()?)))
                .collect();
            let (earlier, known) = checked.get_value();
            checked.set_value((checks, items.clone()));
            let is_new = |item: &(u32, String)| earlier != checks || !known.contains(item);
            for (item, address) in items.into_iter().filter(is_new) {
                let (key, entry) = (this.item_key(item), Entry::Text(address.clone()));
                let of_check = this.clone();
                let is_current = move || of_check.has(item, &address);
                uploads::check(this.of.all, key, this.of.media, entry, is_current);
            }
        });
    }

    /// Cancels the uploads of items that are no longer in the list. They are not removed, so that Generate notices it.
    fn cancel_uploads(&self, items: &[u32]) {
        for item in items {
            if let Some(upload) = untrack(|| uploads::of_field(&self.item_key(*item))) {
                uploads::cancel(upload.id);
            }
        }
    }

    fn update(&self, uploads: &[Upload]) {
        let before = self.state.list.get_untracked();
        let mut now = before.clone();
        let Some(addresses) = self.addresses() else {
            let files = before.items().iter().filter(|it| it.address.is_none());
            let files: Vec<u32> = files.map(|it| it.id).collect();
            return self.cancel_uploads(&files);
        };
        let dropped = now.follow(&addresses);
        self.cancel_uploads(&dropped);
        let mut shown = Vec::new();
        let mut done = Vec::new();
        for upload in uploads {
            let Some(item) = upload.key.item.filter(|item| !dropped.contains(item)) else {
                continue;
            };
            let is_item = now.place(item).is_some();
            match &upload.state {
                UploadState::Done(uploaded) => {
                    if is_item {
                        output_input::note_uploaded(upload.id, &uploaded.url);
                        now.set(item, Some(uploaded.url.clone()));
                    }
                    done.push(upload.id);
                }
                UploadState::Canceled if !is_item => {}
                _ => shown.push(item),
            }
        }
        now.sync_uploads(&shown);
        let value = now.addresses();
        if now != before {
            self.state.list.set(now);
        }
        if value != addresses {
            let entry = media_list::entry(&self.field().parameter, value);
            self.field().restore(entry);
        }
        if done.is_empty() {
            return;
        }
        let file_input = format!("#{} input", self.field().own_file_id());
        focus::when_lost(move || {
            focus::to_without_scrolling(&file_input);
        });
        done.into_iter().for_each(uploads::deliver);
    }
}

fn has(list: &MediaList, item: u32, address: &str) -> bool {
    let is_it = |it: &media_list::ListItem| it.id == item && it.address.as_deref() == Some(address);
    list.items().iter().any(is_it)
}

/// The message for a value that other controls have entered.
const NOT_A_LIST: &str =
    "The value is not a list of addresses. Correct it as JSON, or press Clear first.";

/// Returns the content of the field.
pub fn view(of: MediaField) -> AnyView {
    let this = ListField::new(&of);
    this.follow();
    this.check();
    output_input::follow_requests(&of);
    let (all, media, field) = (of.all, of.media, of.field.clone());
    let drag = Drag::new(&this);
    let items = {
        let (this, state) = (this.clone(), this.state.clone());
        memo(move || {
            let list = state.list.read();
            let ids: Vec<u32> = list.items().iter().map(|item| item.id).collect();
            let is_readable = media_list::addresses(this.field().shown().as_ref()).is_some();
            if is_readable { ids } else { Vec::new() }
        })
    };
    let rows = {
        let this = this.clone();
        list(move || {
            let ids = items.get();
            let row = |id: u32| {
                let this = this.clone();
                Item::new(id.to_string(), move || item::view(&this, id, drag))
            };
            ids.into_iter().map(row).collect()
        })
    };
    let accept = text(move || acceptance::accept(media, &uploads::support(all)));
    let choose = {
        let this = this.clone();
        move |event: web_sys::Event| {
            let target = event.target().and_then(|it| it.dyn_into().ok());
            if let Some::<HtmlInputElement>(input) = target {
                this.add_files(chosen::of_input(&input));
            }
        }
    };
    let paste = {
        let this = this.clone();
        move |_: MouseEvent| {
            let this = this.clone();
            spawn(async move {
                let pasted = chosen::of_clipboard(this.of.media).await;
                // The user may have left the form.
                if field::element::<Element>(&this.field().own_file_id()).is_some() {
                    this.paste(pasted);
                }
            });
        }
    };
    let message = this.state.message.clone();
    view! {
        {other_value(&this)}
        <ol
            class="media-items"
            aria-labelledby=field.label_id()
            hidden=when(move || items.read().is_empty())
        >
            {rows}
        </ol>
        <div class="row">
            <label class="button small file">
                <Glyph icon=LuUpload />
                <span>"Choose file"</span>
                <input
                    type="file"
                    multiple
                    aria-label="Choose file"
                    accept=accept
                    on:change=handler(choose)
                />
            </label>
            <button class="button small" type="button" on:click=handler(paste)>
                <Glyph icon=LuClipboardPaste />
                <span class="paste">"Paste"</span>
            </button>
            {gallery_picker::button(of.clone())}
        </div>
        <p class="hint" role="status" prop:textContent=text(move || message.get())></p>
        {address(&this)}
        {media::recent(of)}
    }
    .into_any()
}

/// The text field for addresses, with its button.
fn address(this: &ListField) -> AnyView {
    let field = this.field().clone();
    let (label_id, address_id) = (field.label_id(), field.address_id());
    let id = field.id.clone();
    let add: Arc<dyn Fn()> = {
        let this = this.clone();
        Arc::new(move || {
            let Some(input) = field::element::<HtmlInputElement>(&this.field().id) else {
                return;
            };
            if this.add_typed(&input.value()) {
                input.set_value("");
            }
            // Several addresses are entered one after the other.
            focus::in_place(&input);
        })
    };
    let press = {
        let add = add.clone();
        move |event: KeyboardEvent| {
            if event.key() == "Enter" && !event.is_composing() {
                // Otherwise the form would be submitted.
                event.prevent_default();
                add();
            }
        }
    };
    view! {
        <div class="media-address">
            <span id=address_id.clone() hidden>
                "Address"
            </span>
            <input
                type="text"
                inputmode="url"
                id=id
                autocomplete="off"
                spellcheck="false"
                placeholder="https://…"
                aria-labelledby=format!("{label_id} {address_id}")
                aria-describedby=field.described_by()
                on:keydown=handler(press)
            />
            <button class="button small" type="button" on:click=handler(move |_: MouseEvent| add())>
                <Glyph icon=LuPlus />
                "Add"
            </button>
        </div>
    }
    .into_any()
}

/// A value that is not a list of addresses, as text, with a button that clears it.
fn other_value(this: &ListField) -> AnyView {
    let this = this.clone();
    let other = {
        let this = this.clone();
        memo(move || {
            let shown = this.field().shown();
            let is_other = media_list::addresses(shown.as_ref()).is_none();
            shown
                .filter(|_| is_other)
                .map(|entry| Entry::to_text(&entry))
        })
    };
    dynamic(move || {
        let Some(value) = other.get() else {
            return ().into_any();
        };
        let this = this.clone();
        let clear = move |_: MouseEvent| {
            this.field().reset();
            this.report(String::new());
            let file_input = format!("#{} input", this.field().own_file_id());
            focus::when_lost(move || {
                focus::to_without_scrolling(&file_input);
            });
        };
        view! {
            <div class="media-other">
                <code class="unsafe-output" translate="no">
                    {value}
                </code>
                <button class="button small" type="button" on:click=handler(clear)>
                    "Clear"
                </button>
            </div>
        }
        .into_any()
    })
}
