//! Files of the user's own in Batch mode: dropped anywhere in it, or chosen. They fill the cells with their names, or become
//! new rows.

use atelier_contract::Media;
use atelier_studio::compose::table::files::{FileReference, columns_for};
use atelier_studio::form::upload::acceptance::{self, media_of};
use atelier_studio::form::upload::embedding;
use atelier_studio::text::plural::counted;
use icondata_lu::LuImagePlus;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, Element, HtmlInputElement};

use super::composer::Composer;
use super::removed_rows::focus_on_items;
use crate::browser::chosen::{self, ChosenFile};
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::state::contexts::{Contexts, contexts};
use crate::state::tables::files;
use crate::state::uploads::{self, PictureCopy, Upload};
use crate::view::form::copy_side;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::shell::dropped_file::is_own_drag;

const MEDIA: [Media; 3] = [Media::Image, Media::Video, Media::Audio];

/// What was done with the files that were dropped or chosen last.
#[derive(Clone, Copy)]
pub struct DroppedFiles {
    /// A message; empty if there is none.
    message: RwSignal<String>,
    /// The question what to do with the files in `asked`.
    question: RwSignal<Option<Question>>,
    asked: StoredValue<Vec<ChosenFile>, LocalStorage>,
    /// Adds the rows of the current panel to the table if they have names of files.
    pub add_named: RwSignal<Option<Callback<()>>>,
    /// Whether files are dragged over Batch mode.
    pub is_dragged_over: RwSignal<bool>,
}

/// A question about files that could become rows.
#[derive(Clone, PartialEq)]
struct Question {
    media: Media,
    count: usize,
    /// The columns that accept the files.
    columns: Vec<String>,
    /// Whether the files were to fill cells, but are in no row.
    is_unmatched: bool,
}

impl Default for DroppedFiles {
    fn default() -> Self {
        Self {
            message: RwSignal::new(String::new()),
            question: RwSignal::new(None),
            asked: StoredValue::new_local(Vec::new()),
            add_named: RwSignal::new(None),
            is_dragged_over: RwSignal::new(false),
        }
    }
}

impl DroppedFiles {
    /// Removes a message that does not apply any more.
    pub fn withdraw(self, message: &str) {
        if *self.message.read_untracked() == message {
            self.message.set(String::new());
        }
    }

    fn set_dragged_over(self, is_over: bool) {
        if self.is_dragged_over.get_untracked() != is_over {
            self.is_dragged_over.set(is_over);
        }
    }
}

/// Returns the media that the model's parameters accept.
fn accepted_media(composer: Composer) -> Vec<Media> {
    let schema = composer.schema();
    let accepted = MEDIA.into_iter();
    accepted
        .filter(|media| !columns_for(&schema, *media).is_empty())
        .collect()
}

/// Returns the medium of a file, if a parameter of the model accepts it.
fn medium(composer: Composer, file: &ChosenFile) -> Option<Media> {
    let media = media_of(&file.file.media_type)?;
    accepted_media(composer).contains(&media).then_some(media)
}

/// Splits off the files that a parameter of the model accepts.
pub fn split(composer: Composer, files: Vec<ChosenFile>) -> (Vec<ChosenFile>, Vec<ChosenFile>) {
    let is_accepted = |file: &ChosenFile| medium(composer, file).is_some();
    files.into_iter().partition(is_accepted)
}

/// Uses files for the cells with their names, or for new rows. Returns whether there were any that the model accepts.
pub fn accept(composer: Composer, all: Contexts, files: Vec<ChosenFile>) -> bool {
    let (accepted, others) = split(composer, files);
    if accepted.is_empty() {
        return false;
    }
    let this = composer.files;
    this.question.set(None);
    if let Some(add) = this.add_named.get_untracked() {
        add.run(());
    }
    let mut messages = Vec::new();
    for media in MEDIA {
        let own = accepted.iter();
        let own: Vec<ChosenFile> = own
            .filter(|file| medium(composer, file) == Some(media))
            .cloned()
            .collect();
        if !own.is_empty() {
            messages.push(accept_medium(composer, all, media, own));
        }
    }
    if !others.is_empty() {
        messages.push(format!(
            "{} of another type not used.",
            match others.len() {
                1 => "1 file is".to_owned(),
                count => format!("{count} files are"),
            }
        ));
    }
    messages.retain(|message| !message.is_empty());
    this.message.set(messages.join(" "));
    composer.is_opened.set(true);
    true
}

/// Returns a message about what was done.
fn accept_medium(
    composer: Composer,
    all: Contexts,
    media: Media,
    files: Vec<ChosenFile>,
) -> String {
    let schema = composer.schema();
    let columns = columns_for(&schema, media).into_iter();
    let columns: Vec<String> = columns.map(|parameter| parameter.name.clone()).collect();
    let ask = |files: Vec<ChosenFile>, is_unmatched| {
        composer.files.question.set(Some(Question {
            media,
            count: files.len(),
            columns: columns.clone(),
            is_unmatched,
        }));
        composer.files.asked.set_value(files);
    };
    let table = composer.table.read_untracked();
    if table.needs_files(media, &schema) {
        let names: Vec<&str> = files.iter().map(|file| file.file.name.as_str()).collect();
        let named: Vec<(Media, &str)> = names.iter().map(|name| (media, *name)).collect();
        let matches = table.match_files(&named, &schema);
        drop(table);
        let message = matches.message(&names);
        let unmatched: Vec<ChosenFile> = (matches.unmatched.iter())
            .filter_map(|at| files.get(*at).cloned())
            .collect();
        let uses = matches.uses.into_iter().filter_map(|of| {
            let file = files.get(of.file)?.clone();
            Some((of, files::reference(&file), file))
        });
        let uses: Vec<_> = uses.collect();
        let known: Vec<_> = uses
            .iter()
            .map(|(of, file, _)| (of.clone(), file.clone()))
            .collect();
        composer.edit(|table| table.use_files(&known, &schema));
        for (of, reference, file) in uses {
            let table = composer.keeping();
            table.upload(all, &reference, &of.parameter, of.media, file);
        }
        if !unmatched.is_empty() {
            ask(unmatched, true);
        }
        return message;
    }
    drop(table);
    if let Some(message) = composer.unfinished_form() {
        return message;
    }
    match columns.as_slice() {
        [column] => add_rows(composer, all, media, column, files),
        _ => {
            ask(files, false);
            String::new()
        }
    }
}

/// Adds a row for each file and uploads it. Returns a message.
fn add_rows(
    composer: Composer,
    all: Contexts,
    media: Media,
    column: &str,
    files: Vec<ChosenFile>,
) -> String {
    let references: Vec<FileReference> = files.iter().map(files::reference).collect();
    let is_added = composer
        .change_with_form(|table, form, schema| table.add_files(form, column, &references, schema));
    if !is_added {
        return String::new();
    }
    let count = files.len();
    for (reference, file) in references.iter().zip(files) {
        let table = composer.keeping();
        table.upload(all, reference, column, media, file);
    }
    format!("Added {} with a file.", counted(count, "row"))
}

/// Handles `dragover`: files can be dropped anywhere in Batch mode.
pub fn drag_over(composer: Composer, event: &DragEvent) {
    if is_file_drag(composer, event) {
        event.prevent_default();
        composer.files.set_dragged_over(true);
    }
}

/// Handles `dragleave`.
pub fn drag_leave(composer: Composer, event: &DragEvent) {
    let entered = event.related_target();
    let entered = entered.and_then(|it| it.dyn_into::<Element>().ok());
    let area = entered.and_then(|it| it.closest(".batch").ok().flatten());
    if area.is_none() {
        composer.files.set_dragged_over(false);
    }
}

/// Handles a drop. Files that no parameter accepts are left to the page, which opens them.
pub fn drop_files(composer: Composer, all: Contexts, event: &DragEvent) {
    composer.files.set_dragged_over(false);
    if !is_file_drag(composer, event) {
        return;
    }
    if accept(composer, all, chosen::of_transfer(event.data_transfer())) {
        event.prevent_default();
    }
}

fn is_file_drag(composer: Composer, event: &DragEvent) -> bool {
    !event.default_prevented()
        && !is_own_drag()
        && chosen::has_type(event.data_transfer().as_ref(), "Files")
        && !accepted_media(composer).is_empty()
}

/// A button that chooses files for new rows, or for the cells with their names.
pub fn choose_button(composer: Composer) -> AnyView {
    let media = accepted_media(composer);
    if media.is_empty() {
        return ().into_any();
    }
    let all = contexts();
    let label = match media.as_slice() {
        [Media::Image] => "Add pictures",
        [Media::Video] => "Add videos",
        [Media::Audio] => "Add sounds",
        _ => "Add files",
    };
    let accepted = text(move || {
        let support = uploads::support(all);
        let types = media
            .iter()
            .map(|media| acceptance::accept(*media, &support));
        types.collect::<Vec<_>>().join(",")
    });
    let choose = move |event: web_sys::Event| {
        let target = event.target().and_then(|it| it.dyn_into().ok());
        if let Some::<HtmlInputElement>(input) = target {
            accept(composer, all, chosen::of_input(&input));
        }
    };
    view! {
        <label class="button quiet file">
            <Glyph icon=LuImagePlus />
            {label}
            <input type="file" multiple aria-label=label accept=accepted on:change=handler(choose) />
        </label>
    }
    .into_any()
}

/// The message about the files that were dropped or chosen last, and the question what to do with them.
pub fn note(composer: Composer) -> AnyView {
    let all = contexts();
    let this = composer.files;
    let end = move || {
        this.question.set(None);
        this.asked.set_value(Vec::new());
        focus::when_lost(focus_on_items);
    };
    let answer = move |media: Media, column: &str| {
        if let Some(message) = composer.unfinished_form() {
            return this.message.set(message);
        }
        let files = this.asked.try_update_value(std::mem::take);
        let message = add_rows(composer, all, media, column, files.unwrap_or_default());
        this.message.set(message);
        end();
    };
    let question = move |question: Question| {
        let Question {
            media,
            count,
            columns,
            is_unmatched,
        } = question;
        let what = match is_unmatched {
            true => format!(
                "Add {} that {} in no row?",
                counted(count, "file"),
                if count == 1 { "is" } else { "are" }
            ),
            false => format!(
                "Which column gets the {}?",
                match count {
                    1 => "file".to_owned(),
                    count => format!("{count} files"),
                }
            ),
        };
        let is_single = columns.len() == 1;
        let buttons = columns.into_iter().map(|column| {
            let label = match is_single {
                true => format!("Add {}", counted(count, "row")),
                false => column.clone(),
            };
            view! {
                <button class="button" type="button" on:click=handler(move |_| answer(media, &column))>
                    {label}
                </button>
            }
            .into_any()
        });
        let buttons = buttons.collect_view();
        view! {
            <div class="note" role="group" aria-label="Dropped files">
                <p>{what}</p>
                <div class="row">
                    {buttons}
                    <button class="button quiet" type="button" on:click=handler(move |_| end())>
                        {if count == 1 { "Don't use it" } else { "Don't use them" }}
                    </button>
                </div>
            </div>
        }
        .into_any()
    };
    view! {
        <p
            class="hint dropped-files"
            class:visually-hidden=when(move || this.message.read().is_empty())
            role="status"
            prop:textContent=this.message
        ></p>
        {dynamic(move || this.question.get().map(question).into_any())}
        {embed_offer(composer, all)}
    }
    .into_any()
}

/// The offer to put the pictures of the rows into the requests, because the service accepts no uploads.
fn embed_offer(composer: Composer, all: Contexts) -> AnyView {
    // The uploads with the maximum lengths of their copies, and the greatest of these.
    let pictures = memo(move || {
        let schema = composer.schema();
        let mut uploads = uploads::of_table(&schema.model);
        uploads.retain(Upload::offers_copy);
        if uploads.is_empty() {
            return (Vec::new(), 0);
        }
        let table = composer.table.read();
        let files = table.file_references();
        let space = table.space_per_file(embedding::MAX_ITEM_LENGTH);
        let pictures = uploads.into_iter().filter_map(|upload| {
            let (parameter, _) = schema.parameter(&upload.key.parameter)?;
            let max_length = embedding::length_in_batch(parameter.max_length(), space);
            let is_offered = embedding::has_space(Some(max_length))
                && files
                    .iter()
                    .any(|file| Some(&file.key) == upload.key.row.as_ref());
            is_offered.then_some((upload.id, max_length))
        });
        (pictures.collect::<Vec<_>>(), space)
    });
    let embed = move |_: leptos::ev::MouseEvent| {
        let pictures = pictures.get_untracked().0.into_iter();
        let copies = pictures.map(|(id, max_length)| PictureCopy::new(id, move || max_length));
        uploads::embed_all(all, copies.collect());
        focus::when_lost(focus_on_items);
    };
    let is_offered = when(move || !pictures.read().0.is_empty());
    let offer = text(move || {
        let pictures = pictures.read();
        embedding::batch_offer(pictures.0.len(), pictures.1)
    });
    view! {
        <div class="note" role="status" hidden=when(move || !is_offered.get())>
            <p prop:textContent=offer></p>
            {copy_side::view(&composer.schema().model, is_offered)}
            <button class="button" type="button" on:click=handler(embed)>
                {embedding::BATCH_LABEL}
            </button>
        </div>
    }
    .into_any()
}
