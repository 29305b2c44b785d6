//! The dialogs that open only when the user asks for them. They are in the last part of the program.

use leptos::prelude::*;

use crate::view::form::gallery_picker::GalleryPicker;
use crate::view::lightbox::Lightbox;
use crate::view::lightbox::comparison::Comparison;
use crate::view::lightbox::sweep::Sweep;
use crate::view::mask::MaskDialog;
use crate::view::picture_editor::PictureEditor;
use crate::view::shell::commands::Commands;
use crate::view::shell::open_file::OpenFile;
use crate::view::shell::shortcuts::Shortcuts;

pub fn dialogs() -> AnyView {
    view! {
        <Lightbox />
        <Comparison />
        <Sweep />
        <MaskDialog />
        <PictureEditor />
        <Shortcuts />
        <Commands />
        <OpenFile />
        <GalleryPicker />
    }
    .into_any()
}
