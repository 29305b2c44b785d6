//! The dialogs that can open over any page. The address contains which one is open.

use leptos::prelude::*;

use crate::view::form::gallery_picker::GalleryPicker;
use crate::view::form::output_input;
use crate::view::lightbox::Lightbox;
use crate::view::lightbox::comparison::Comparison;
use crate::view::lightbox::sweep::Sweep;
use crate::view::mask::MaskDialog;
use crate::view::picture_editor::PictureEditor;
use crate::view::shell::commands::Commands;
use crate::view::shell::copy_manually::CopyManually;
use crate::view::shell::open_file::OpenFile;
use crate::view::shell::send_unstored::SendUnstored;
use crate::view::shell::shortcuts::Shortcuts;
use crate::view::shell::undo::{self, Undo};

pub fn dialogs() -> AnyView {
    undo::follow_key();
    output_input::listen_for_drags();
    view! {
        <SendUnstored />
        <Undo />
        <Lightbox />
        <Comparison />
        <Sweep />
        <MaskDialog />
        <PictureEditor />
        <Shortcuts />
        <Commands />
        <OpenFile />
        <CopyManually />
        <GalleryPicker />
    }
    .into_any()
}
