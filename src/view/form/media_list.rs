//! A field for a list of images, videos or sounds: addresses, files of the user's own, and outputs. The items are ordered
//! with buttons or by dragging.

mod address;
mod dragging;
mod item;

use atelier_contract::Entry;
use atelier_studio::form::media_list::{self, Added, MediaList};
use atelier_studio::form::upload::acceptance;
use atelier_studio::form::upload::state::UploadState;
use atelier_studio::form::upload::unfinished::is_chosen_again;
use icondata_lu::{LuClipboardPaste, LuUpload};
use leptos::prelude::*;
use maud::html;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, MouseEvent};

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
        let addresses = addresses_of(&of.field).unwrap_or_default();
        Self {
            of: of.clone(),
            state: media_lists::of_field(&key, &addresses),
        }
    }

    fn field(&self) -> &Field {
        &self.of.field
    }

    /// Returns the key without an item; not tracked.
    fn key(&self) -> FieldKey {
        untrack(|| self.of.key())
    }

    fn item_key(&self, item: u32) -> FieldKey {
        FieldKey {
            item: Some(item),
            ..self.key()
        }
    }

    /// Returns the addresses in the field; `None` if the value is something else. Not tracked.
    fn addresses(&self) -> Option<Vec<String>> {
        addresses_of(self.field())
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
        media_lists::remove_uploads(&self.key(), &now.follow(&before));
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
    fn fitting(&self, count: usize, added: Added) -> usize {
        let (parameter, space) = (&self.field().parameter, self.space());
        self.report(media_list::overflow_message(parameter, count, space, added));
        space.min(count)
    }

    /// Returns how many items can be added; not tracked.
    pub fn space(&self) -> usize {
        let count = self.state.list.read_untracked().items().len();
        media_list::space(&self.field().parameter, count)
    }

    /// Whether nothing can be added; tracked. A file that was not uploaded can be chosen again.
    fn is_full(&self) -> bool {
        let count = self.state.list.read().items().len();
        let is_missing = |upload: &Upload| {
            let state = &upload.state;
            matches!(state, UploadState::Failed { .. } | UploadState::Canceled)
        };
        media_list::space(&self.field().parameter, count) == 0
            && !uploads::of_list(&self.of.key()).iter().any(is_missing)
    }

    /// Uploads files and adds them in this order. A file that was not uploaded before takes its place in the list.
    pub fn add_files(&self, files: Vec<ChosenFile>) {
        self.report(String::new());
        let mut added = Vec::new();
        for chosen in files {
            match self.item_of_same_file(&chosen) {
                Some(item) => drop(self.upload(chosen, Some(item))),
                None => added.push(chosen),
            }
        }
        let count = self.fitting(added.len(), Added::File);
        for file in added.into_iter().take(count) {
            self.upload(file, None);
        }
    }

    /// Returns the item of a file that was not uploaded and is chosen again.
    fn item_of_same_file(&self, chosen: &ChosenFile) -> Option<u32> {
        let uploads = untrack(|| uploads::of_list(&self.of.key()));
        let is_same = |upload: &&Upload| is_chosen_again(&upload.file, &upload.state, &chosen.file);
        uploads.iter().find(is_same)?.key.item
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
    fn add_addresses(&self, addresses: Vec<String>, added: Added) -> Vec<u32> {
        let count = self.fitting(addresses.len(), added);
        let addresses = addresses.into_iter().take(count);
        self.change(|list| addresses.map(|address| list.add(Some(address))).collect())
    }

    /// Adds the addresses of outputs. Returns the items with their outputs.
    pub fn add_outputs(&self, outputs: Vec<Output>) -> Vec<(u32, Output)> {
        let addresses = outputs.iter().map(|(_, url)| url.clone()).collect();
        let items = self.add_addresses(addresses, Added::Output);
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
            Ok(addresses) => !self.add_addresses(addresses, Added::Address).is_empty(),
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
            this.field().entry();
            let is_paused = uploads::is_delivery_paused();
            let uploads = uploads::of_list(&this.of.key());
            untrack(|| this.update(&uploads, is_paused));
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

    fn update(&self, uploads: &[Upload], is_paused: bool) {
        let key = self.key();
        let Some(addresses) = self.addresses() else {
            let list = self.state.list.read_untracked();
            let files = list.items().iter().filter(|it| it.address.is_none());
            let files: Vec<u32> = files.map(|it| it.id).collect();
            drop(list);
            return media_lists::remove_uploads(&key, &files);
        };
        let update = media_lists::update(&key, &addresses, uploads, is_paused);
        if update.addresses != addresses {
            let entry = media_list::entry(&self.field().parameter, update.addresses);
            self.field().restore(entry);
        }
        if update.done.is_empty() {
            return;
        }
        let file_input = format!("#{} input", self.field().own_file_id());
        focus::when_lost(move || {
            focus::to_without_scrolling(&file_input);
        });
        for (id, url) in update.done {
            output_input::note_uploaded(id, &url);
            uploads::deliver(id);
        }
    }

    /// Moves the focus to the last item when the list becomes full, because the buttons that add items are disabled then.
    fn keep_focus_when_full(&self, is_full: Memo<bool>) {
        let this = self.clone();
        effect(move || {
            let within = format!("#{}", this.field().own_file_id());
            let focused = document().active_element();
            let has_focus = focused.is_some_and(|it| it.closest(&within).ok().flatten().is_some());
            if !is_full.get() || !has_focus {
                return;
            }
            let list = this.state.list.read_untracked();
            let Some(last) = list.items().last() else {
                return;
            };
            let id = item::element_id(this.field(), last.id);
            focus::when_lost(move || {
                focus::to_without_scrolling(&format!("#{id} button:not([hidden], .concealed)"));
            });
        });
    }
}

/// Returns the addresses in a field; `None` if the value is something else. Not tracked.
fn addresses_of(field: &Field) -> Option<Vec<String>> {
    let shown = field
        .entry_now()
        .or_else(|| field.parameter.default_entry());
    media_list::addresses(shown.as_ref())
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
    let is_full = {
        let this = this.clone();
        memo(move || this.is_full())
    };
    this.keep_focus_when_full(is_full);
    let is_closed = when(move || is_full.get());
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
                    prop:disabled=is_closed
                    on:change=handler(choose)
                />
            </label>
            <button
                class="button small"
                type="button"
                prop:disabled=is_closed
                on:click=handler(paste)
            >
                <Glyph icon=LuClipboardPaste />
                <span class="paste">"Paste"</span>
            </button>
            {gallery_picker::button(of.clone(), is_closed)}
        </div>
        <p class="hint" role="status" prop:textContent=text(move || message.get())></p>
        <p class="hint" hidden=when(move || !is_full.get())>
            {media_list::FULL}
        </p>
        {address::view(&this, is_closed)}
        {media::recent(of)}
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
