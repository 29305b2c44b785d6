//! Generate waits while files of the rows are uploaded, and then sends the rows once. If the user leaves Batch mode meanwhile,
//! nothing is sent.

use std::rc::Rc;

use atelier_engine::Account;
use atelier_studio::compose::table::files::{CHANGED, FileWait, PressedRows};
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::{effect, handler, spawn, text, when};
use crate::state::contexts::contexts;
use crate::state::tables::files;
use crate::view::parts::focus;

/// The message after Batch mode was left while Generate waited.
const INTERRUPTED: &str =
    "Not sent: Batch was left while Generate waited for files. Press Generate there again.";

/// A press of Generate that waits for uploads.
#[derive(Clone, Copy)]
pub struct RowsWait {
    composer: Composer,
    pressed: RwSignal<Option<Pressed>>,
    message: RwSignal<String>,
    /// Presses Generate again.
    resume: StoredValue<Option<Rc<dyn Fn()>>, LocalStorage>,
}

#[derive(Clone, PartialEq)]
struct Pressed {
    rows: PressedRows,
    account: Account,
}

impl RowsWait {
    pub fn new(composer: Composer) -> Self {
        let this = Self {
            composer,
            pressed: RwSignal::new(None),
            message: RwSignal::new(String::new()),
            resume: StoredValue::new_local(None),
        };
        this.follow();
        let notices = contexts().notices;
        on_cleanup(move || {
            let pressed = this.pressed.try_get_untracked().flatten();
            if pressed.is_some() {
                notices.say(INTERRUPTED);
            }
        });
        this
    }

    /// Whether a press waits; not tracked.
    pub fn is_waiting(self) -> bool {
        self.pressed.with_untracked(Option::is_some)
    }

    /// Waits if files of the rows are being uploaded, and calls `resume` after that. Returns whether it waits.
    pub fn begin(self, resume: Rc<dyn Fn()>) -> bool {
        let rows = self.composer.table.with_untracked(PressedRows::new);
        let Some(rows) = rows else {
            return false;
        };
        let account = untrack(|| self.composer.all.get_value().session.account());
        self.composer.answer.clear();
        self.resume.set_value(Some(resume));
        self.pressed.set(Some(Pressed { rows, account }));
        true
    }

    fn follow(self) {
        let (composer, all) = (self.composer, contexts());
        effect(move || {
            let Some(pressed) = self.pressed.get() else {
                return;
            };
            let url = |key: &str| files::url(all, key);
            let next = pressed.rows.next(&composer.table.read(), &url);
            // Items that the user has typed meanwhile would be sent, too.
            let is_changed = all.session.account() != pressed.account
                || composer.block_message.read().is_some()
                || composer.offered.read().is_some();
            match next {
                FileWait::Stop(message) => self.stop(message),
                FileWait::Wait(message) => self.message.set(message),
                FileWait::Send if is_changed => self.stop(CHANGED.to_owned()),
                FileWait::Send => {
                    self.pressed.set(None);
                    let resume = self.resume.try_update_value(Option::take).flatten();
                    // Later, because signals that are created in an effect are disposed with it.
                    spawn(async move {
                        if !self.pressed.is_disposed() {
                            resume.into_iter().for_each(|resume| resume());
                        }
                    });
                }
            }
        });
    }

    fn stop(self, message: String) {
        self.pressed.set(None);
        self.resume.set_value(None);
        self.composer.answer.say(message);
    }

    /// The message while Generate waits, with a button that takes the press back.
    pub fn view(self) -> AnyView {
        let is_waiting = when(move || self.pressed.read().is_some());
        let cancel = move |_: leptos::ev::MouseEvent| {
            self.pressed.set(None);
            self.resume.set_value(None);
            focus::when_lost(|| {
                focus::to_without_scrolling(".form-foot .primary");
            });
        };
        view! {
            <div class="upload-wait" class:visually-hidden=when(move || !is_waiting.get())>
                <p
                    role="status"
                    prop:textContent=text(move || match is_waiting.get() {
                        true => self.message.get(),
                        false => String::new(),
                    })
                ></p>
                <button
                    class="button small"
                    type="button"
                    hidden=when(move || !is_waiting.get())
                    on:click=handler(cancel)
                >
                    "Cancel"
                </button>
            </div>
        }
        .into_any()
    }
}
