//! Tests of the model page: no input is lost, no press is ignored, and none is sent twice.

mod drafts;
mod filmstrip;
mod focus_and_title;
mod form;
mod lasting_uploads;
mod list_uploads;
mod lost_files;
mod mask;
mod media_lists;
mod missing;
mod moving;
mod notifications;
mod own_files;
mod phone;
mod photo_privacy;
mod picture_editor;
mod place;
mod presses;
mod recipe;
mod refused;
mod result_actions;
mod reuse;
mod shared_files;
mod sticky_footer;
mod studio;
mod upload_wait;
