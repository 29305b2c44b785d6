//! The part of a media field for a file of the user's own: buttons, progress and failures. Files come from a file input, a
//! drop on the field, or the clipboard. A dropped link becomes the address.

use atelier_contract::{Media, ModelId};
use atelier_studio::form::control::Control;
use atelier_studio::form::media_list::typed_addresses;
use atelier_studio::form::upload::acceptance::{self, media_of};
use atelier_studio::form::upload::embedding;
use atelier_studio::form::upload::state::UploadState;
use atelier_studio::form::upload::{failure_message, paste_target, several_message};
use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::future::TimeoutFuture;
use icondata_lu::{LuClipboardPaste, LuUpload};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, DataTransfer, DragEvent, Element, HtmlInputElement, Node};

use super::field::{self, Field, Kind};
use super::media_list::{self, ListField};
use super::{copy_side, edit_button, gallery_picker, mask_button, output_input, upload_progress};
use crate::browser::chosen::{self, ChosenFile, Pasted};
use crate::reactive::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::state::contexts::{Contexts, contexts};
use crate::state::uploads::{self, FieldKey, Upload};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::settings_link::with_settings_link;
use crate::view::parts::{dialog, focus};

/// The selector of the part of a media field that accepts a drop.
const DROP_AREA: &str = ".media-field";

/// The selector of the file input in a field that accepts nothing, because its list is full.
const CLOSED: &str = "input[type=file]:disabled";

/// The type of dragged addresses, such as those of links and pictures of other pages.
const ADDRESSES: &str = "text/uri-list";

/// The class of that part while files are dragged over it.
const DRAGGED_OVER: &str = "dragged-over";

/// How long the address of a field stays the same before its file is checked, in milliseconds.
const CHECK_DELAY_MS: u32 = 500;

/// A media field and its model: a field for one file, or for a list of them.
#[derive(Clone)]
pub struct MediaField {
    pub field: Field,
    pub media: Media,
    pub model: ModelId,
    /// Events of the page and replies have no owner that provides the contexts.
    pub all: Contexts,
}

/// Returns the media fields among the fields of a model.
pub fn media_fields<'a>(
    fields: impl Iterator<Item = &'a Field>,
    model: &ModelId,
) -> Vec<MediaField> {
    fields
        .filter_map(|field| MediaField::of(field, model))
        .collect()
}

/// Returns the buttons and the state of the upload. Puts the address of a finished upload into the field.
pub fn view(of: MediaField) -> AnyView {
    if of.is_list() {
        return media_list::view(of);
    }
    output_input::follow_requests(&of);
    let keyed = of.clone();
    let upload = memo(move || uploads::of_field(&keyed.key()));
    let used = RwSignal::new(Used::default());
    of.follow(upload, used);
    of.check();
    // The entry is compared so that a message disappears when the user changes the field.
    let shown = {
        let field = of.field.clone();
        memo(move || upload.get().filter(|upload| upload.before == field.entry()))
    };
    let description = {
        let field = of.field.clone();
        memo(move || uploads::description(&field.text()))
    };
    let has_upload = move || description.read().is_some();
    let choose_text = text(move || match has_upload() {
        true => "Replace".to_owned(),
        false => "Choose file".to_owned(),
    });
    let (media, all) = (of.media, of.all);
    let accept = text(move || acceptance::accept(media, &uploads::support(all)));
    let parts = (
        note(shown, used, &of.field),
        running(shown, &of),
        failure(shown, &of),
    );
    let from_gallery = gallery_picker::button(of.clone(), when(|| false));
    let (edit, mask) = (edit_button::view(&of), mask_button::view(&of));
    let (choosing, pasting, removing) = (of.clone(), of.clone(), of);
    let choose = move |event: web_sys::Event| {
        let target = event.target().and_then(|it| it.dyn_into().ok());
        if let Some::<HtmlInputElement>(input) = target {
            choosing.accept(chosen::of_input(&input));
        }
    };
    let paste = move |_: leptos::ev::MouseEvent| {
        let of = pasting.clone();
        spawn(async move {
            let pasted = chosen::of_clipboard(of.media).await;
            // The user may have left the form, or opened a dialog over it.
            if of.is_alive() && !dialog::is_any_open() {
                of.paste(pasted);
            }
        });
    };
    let remove = move |_: leptos::ev::MouseEvent| {
        removing.field.reset();
        keep_focus(&removing.field);
    };
    view! {
        <div class="row">
            <label class="button small file">
                <Glyph icon=LuUpload />
                <span prop:textContent=choose_text></span>
                <input type="file" aria-label=choose_text accept=accept on:change=handler(choose) />
            </label>
            <button class="button small" type="button" on:click=handler(paste)>
                <Glyph icon=LuClipboardPaste />
                <span class="paste">"Paste"</span>
            </button>
            {from_gallery}
            <button
                class="button small"
                type="button"
                hidden=when(move || !has_upload())
                on:click=handler(remove)
            >
                "Remove"
            </button>
            {edit}
        </div>
        {mask}
        <p
            class="hint"
            translate="no"
            hidden=when(move || !has_upload())
            prop:textContent=text(move || description.get().unwrap_or_default())
        ></p>
        {parts}
    }
    .into_any()
}

/// The last upload whose URL was put into the field.
#[derive(Clone, Default)]
struct Used {
    url: String,
    /// The name of the file.
    name: String,
    note: String,
}

/// The message about the choice of a file, such as a drop of several, and the announcement of a finished upload. The message
/// stays after the upload for as long as the field has the file.
fn note(shown: Memo<Option<Upload>>, used: RwSignal<Used>, field: &Field) -> AnyView {
    let of_field = field.clone();
    let note = text(move || {
        if let Some(upload) = &*shown.read() {
            return upload.note.clone();
        }
        let used = used.get();
        match of_field.text() == used.url {
            true => used.note,
            false => String::new(),
        }
    });
    let field = field.clone();
    let announcement = text(move || {
        let used = used.read();
        match !used.name.is_empty() && shown.read().is_none() && field.text() == used.url {
            true => format!("{} is ready.", used.name),
            false => String::new(),
        }
    });
    view! {
        <p class="hint" role="status" prop:textContent=note></p>
        <p class="visually-hidden" role="status" prop:textContent=announcement></p>
    }
    .into_any()
}

/// The progress of a running upload, with buttons that cancel it or don't wait. It is built once for each upload, so that
/// the buttons keep the focus.
fn running(shown: Memo<Option<Upload>>, of: &MediaField) -> AnyView {
    let (field, all) = (of.field.clone(), of.all);
    let running = memo(move || {
        let shown = shown.read();
        let upload = shown.as_ref().filter(|upload| upload.state.is_running())?;
        Some((upload.id, upload.file.name.clone()))
    });
    let state = upload_progress::state(shown);
    let row = dynamic(move || {
        let Some((id, name)) = running.get() else {
            return ().into_any();
        };
        let (field, of_retry) = (field.clone(), field.clone());
        let cancel = move |_: leptos::ev::MouseEvent| {
            uploads::cancel(id);
            keep_focus(&field);
        };
        let label = format!("Upload of {name}");
        let bar = upload_progress::bar(state, text(move || label.clone()));
        let now = text(|| "Try now".to_owned());
        let keep_focus = move || keep_focus(&of_retry);
        let try_now = upload_progress::try_now(all, id, state, now, keep_focus);
        view! {
            <div class="upload">
                <span class="upload-name" translate="no">
                    {name}
                </span>
                {bar} {try_now}
                <button class="button small" type="button" on:click=handler(cancel)>
                    "Cancel upload"
                </button>
            </div>
        }
        .into_any()
    });
    view! {
        {row}
        {upload_progress::wait(state)}
    }
    .into_any()
}

/// What the user can do about a failed upload.
#[derive(Clone, Copy, PartialEq)]
enum Offer {
    Retry,
    /// Put the picture into the request.
    Embed,
}

/// The message of a failed upload, with a button for what the user can do about it.
fn failure(shown: Memo<Option<Upload>>, of: &MediaField) -> AnyView {
    let (field, all) = (of.field.clone(), of.all);
    let max_length = field.parameter.max_length();
    let failure = memo(move || {
        let shown = shown.read();
        let upload = shown.as_ref()?;
        match &upload.state {
            UploadState::Failed { message, can_retry } => {
                let can_embed = upload.offers_copy() && embedding::has_space(max_length);
                let offer = match (can_retry, can_embed) {
                    (true, _) => Some((Offer::Retry, upload.id)),
                    (false, true) => Some((Offer::Embed, upload.id)),
                    (false, false) => None,
                };
                Some((failure_message(&upload.file.name, message), offer))
            }
            UploadState::Canceled => {
                let name = &upload.file.name;
                Some((format!("The upload of {name} was canceled."), None))
            }
            _ => None,
        }
    });
    let message = text(move || {
        let failure = failure.get();
        failure.map(|(message, _)| message).unwrap_or_default()
    });
    let button = dynamic(move || {
        let offer = failure.get().and_then(|(_, offer)| offer);
        let button = offer.map(|(offer, id)| {
            let field = field.clone();
            let press = move |_: leptos::ev::MouseEvent| {
                match offer {
                    Offer::Retry => uploads::retry(all, id),
                    Offer::Embed => {
                        uploads::embed_all(all, vec![copy_side::copy(id, &field, false)])
                    }
                }
                keep_focus(&field);
            };
            let label = match offer {
                Offer::Retry => "Try again",
                Offer::Embed => embedding::LABEL,
            };
            view! {
                <button class="button small" type="button" on:click=handler(press)>
                    {label}
                </button>
            }
        });
        button.into_any()
    });
    view! {
        <p class="problem" role="alert">{with_settings_link(message)}</p>
        {size(shown, of)}
        {button}
    }
    .into_any()
}

/// The size of the copy that is offered.
fn size(shown: Memo<Option<Upload>>, of: &MediaField) -> AnyView {
    if of.media != Media::Image || !embedding::has_space(of.field.parameter.max_length()) {
        return ().into_any();
    }
    let is_shown = when(move || shown.read().as_ref().is_some_and(Upload::offers_copy));
    copy_side::view(&of.model, is_shown)
}

/// Moves the focus to the file input of a field if the button that had it is gone.
fn keep_focus(field: &Field) {
    let file_input = format!("#{} input", field.own_file_id());
    focus::when_lost(move || {
        focus::to_without_scrolling(&file_input);
    });
}

impl MediaField {
    /// Returns a field if it is a media field.
    pub fn of(field: &Field, model: &ModelId) -> Option<Self> {
        let Kind::Parameter(Control::Media(media) | Control::MediaList(media)) = field.kind else {
            return None;
        };
        Some(Self {
            field: field.clone(),
            media,
            model: model.clone(),
            all: contexts(),
        })
    }

    /// Whether the field takes a list of files.
    pub fn is_list(&self) -> bool {
        matches!(self.field.kind, Kind::Parameter(Control::MediaList(_)))
    }

    /// Returns the key of the field's uploads at the present service; tracked.
    pub fn key(&self) -> FieldKey {
        FieldKey {
            address: self.all.session.settings().address.to_string(),
            model: self.model.clone(),
            parameter: self.field.parameter.name.clone(),
            item: None,
            row: None,
        }
    }

    /// Puts the address of a finished upload into the field and its message into `used`. Cancels a running upload if the user
    /// changes the field.
    fn follow(&self, upload: Memo<Option<Upload>>, used: RwSignal<Used>) {
        let field = self.field.clone();
        effect(move || {
            let entry = field.entry();
            let is_paused = uploads::is_delivery_paused();
            let Some(upload) = upload.get() else { return };
            let is_changed = upload.before != entry;
            match upload.state {
                UploadState::Done(_) if is_paused => {}
                UploadState::Done(uploaded) => {
                    if !is_changed {
                        used.set(Used {
                            url: uploaded.url.clone(),
                            name: upload.file.name,
                            note: upload.note,
                        });
                        output_input::note_uploaded(upload.id, &uploaded.url);
                        field.set_text(uploaded.url);
                        uploads::deliver(upload.id);
                    } else {
                        uploads::remove(upload.id);
                    }
                    // The button that cancels the upload may have the focus, and disappears.
                    if !focus::is_lost() {
                        keep_focus(&field);
                    }
                }
                state if is_changed && state.is_running() => uploads::cancel(upload.id),
                _ => {}
            }
        });
    }

    /// Checks whether the service still has the file of the field, whenever the address changes or an input is refused.
    fn check(&self) {
        let of = self.clone();
        effect(move || {
            uploads::checks();
            let key = of.key();
            let entry = of.field.entry();
            let Some(entry) = entry.filter(|entry| !entry.to_text().trim().is_empty()) else {
                return;
            };
            let of = of.clone();
            spawn(async move {
                // The user may be typing.
                TimeoutFuture::new(CHECK_DELAY_MS).await;
                let (field, now) = (of.field.clone(), Some(entry.clone()));
                let is_current = move || !field.is_disposed() && field.entry_now() == now;
                if is_current() {
                    uploads::check(of.all, key, of.media, entry, is_current);
                }
            });
        });
    }

    /// Whether the form is still shown.
    pub fn is_alive(&self) -> bool {
        !self.field.is_disposed()
    }

    /// Uploads the first of these files that fits the field, or all for a list. Shows why the first one does not fit, if none does.
    pub fn accept(&self, files: Vec<ChosenFile>) {
        if self.is_list() {
            return ListField::new(self).add_files(files);
        }
        let count = files.len();
        let (parameter, support) = (
            &self.field.parameter.name,
            untrack(|| uploads::support(self.all)),
        );
        let is_fit = |chosen: &ChosenFile| {
            acceptance::refusal(&chosen.file, parameter, self.media, &support).is_none()
        };
        let at = files.iter().position(is_fit).unwrap_or_default();
        let Some(first) = files.into_iter().nth(at) else {
            return;
        };
        let note = several_message(&first.file.name, count);
        let before = self.field.entry_now();
        let key = untrack(|| self.key());
        uploads::start(self.all, key, self.media, first, before, note);
    }

    /// Handles the result of the button "Paste".
    fn paste(&self, pasted: Pasted) {
        let message = match pasted {
            Pasted::File(file) => return self.accept(vec![file]),
            Pasted::Text(text) => return self.field.set_text(text.trim().to_owned()),
            Pasted::Nothing => acceptance::empty_clipboard(self.media),
            Pasted::Denied => acceptance::DENIED_CLIPBOARD.to_owned(),
        };
        self.refuse(message);
    }

    /// Whether a pasted file does not replace another one.
    fn has_space(&self) -> bool {
        match self.is_list() {
            true => ListField::new(self).space() > 0,
            false => untrack(|| self.field.text().trim().is_empty()),
        }
    }

    /// Handles the drop of an output, or of an address from another page. Returns whether it was one.
    fn drop_other(&self, transfer: &DataTransfer) -> bool {
        let data = |kind: &str| transfer.get_data(kind).ok().filter(|data| !data.is_empty());
        if let Some(name) = data(output_input::DRAGGED) {
            match output_input::dropped_output(self, &name) {
                Ok(output) => self.use_outputs(vec![output]),
                Err(message) => self.refuse(message),
            }
            return true;
        }
        if transfer.files().is_some_and(|files| files.length() > 0) {
            return false;
        }
        let Some(list) = data(ADDRESSES) else {
            return false;
        };
        // Lines that start with # are comments.
        let lines = list.lines().map(str::trim);
        let mut addresses = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        match self.is_list() {
            true => {
                let all: Vec<&str> = addresses.collect();
                ListField::new(self).add_typed(&all.join("\n"));
            }
            false => {
                let address = addresses.next().unwrap_or_default();
                match typed_addresses(address) {
                    Ok(address) => self.field.set_text(address.concat()),
                    Err(message) => self.refuse(message),
                }
            }
        }
        true
    }

    /// Shows why something was not accepted.
    fn refuse(&self, message: String) {
        match self.is_list() {
            true => ListField::new(self).refuse(message),
            false => {
                let before = self.field.entry_now();
                uploads::refuse(untrack(|| self.key()), self.media, before, message);
            }
        }
    }

    /// Whether the field is hidden, because the input is edited as JSON.
    pub fn is_hidden(&self) -> bool {
        let input = field::element::<Element>(&self.field.id);
        input.is_none_or(|input| input.closest("[hidden]").ok().flatten().is_some())
    }

    /// Opens the fold that contains the field, if any.
    fn unfold(&self) {
        let input = field::element::<Element>(&self.field.id);
        if let Some(fold) = input.and_then(|input| input.closest("details").ok()?) {
            // Fails only for an invalid name.
            let _ = fold.set_attribute("open", "");
        }
        field::scroll_into_view(&self.field.id);
    }
}

/// Takes a pasted file wherever the focus is on the page, until the owner is disposed. A paste of text into a text field is
/// left to the browser.
pub fn listen(fields: Vec<MediaField>) {
    if fields.is_empty() {
        return;
    }
    let options = EventListenerOptions::enable_prevent_default();
    let listener = EventListener::new_with_options(&document(), "paste", options, move |event| {
        let Some(event) = event.dyn_ref::<ClipboardEvent>() else {
            return;
        };
        let transfer = event.clipboard_data();
        let has_text = chosen::has_type(transfer.as_ref(), "text/plain");
        if event.default_prevented() || dialog::is_any_open() || (has_text && focus::is_writing()) {
            return;
        }
        let shown: Vec<&MediaField> = fields.iter().filter(|of| !of.is_hidden()).collect();
        let media: Vec<(Media, bool)> = (shown.iter())
            .map(|of| (of.media, of.has_space()))
            .collect();
        let files = chosen::of_transfer(transfer);
        let found = files.iter().find_map(|chosen| {
            let of = media_of(&chosen.file.media_type)?;
            Some((chosen.clone(), paste_target(&media, of)?))
        });
        if let Some((file, at)) = found {
            event.prevent_default();
            let is_fit = |other: &ChosenFile| media_of(&other.file.media_type) == Some(media[at].0);
            match shown[at].is_list() {
                true => shown[at].accept(files.into_iter().filter(is_fit).collect()),
                false => shown[at].accept(vec![file]),
            }
            shown[at].unfold();
        }
    });
    StoredValue::new_local(listener);
}

/// Handles `dragover` at a field: shows that files can be dropped there.
pub fn drag_over(event: &DragEvent) {
    let Some(area) = drop_area(event) else { return };
    event.prevent_default();
    if area.query_selector(CLOSED).is_ok_and(|it| it.is_some()) {
        if let Some(transfer) = event.data_transfer() {
            transfer.set_drop_effect("none");
        }
        return;
    }
    highlight(&area, true);
}

/// Handles `dragleave` at a field.
pub fn drag_leave(event: &DragEvent) {
    let Some(area) = drop_area(event) else { return };
    let target = event.related_target();
    let entered = target.as_ref().and_then(|it| it.dyn_ref::<Node>());
    if !area.contains(entered) {
        highlight(&area, false);
    }
}

/// Handles a drop of files or links on a field.
pub fn drop_files(of: &MediaField, event: &DragEvent) {
    let Some(area) = drop_area(event) else { return };
    event.prevent_default();
    highlight(&area, false);
    let transfer = event.data_transfer();
    if !transfer.as_ref().is_some_and(|it| of.drop_other(it)) {
        of.accept(chosen::of_transfer(transfer));
    }
}

/// Returns the part of the field that accepts the drop, if files, an output or addresses are dragged. The browser itself
/// drops texts into text fields.
fn drop_area(event: &DragEvent) -> Option<Element> {
    let transfer = event.data_transfer();
    let has = |name: &str| chosen::has_type(transfer.as_ref(), name);
    let is_accepted = has("Files") || has(output_input::DRAGGED) || has(ADDRESSES);
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest(DROP_AREA).ok()?.filter(|_| is_accepted)
}

fn highlight(area: &Element, is_over: bool) {
    // Fails only for an invalid class name.
    let _ = (area.class_list()).toggle_with_force(DRAGGED_OVER, is_over);
}
