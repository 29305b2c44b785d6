//! The functions of the deferred parts, through which all of their code is reached. Only `app.rs` imports this file: it
//! imports every view, while views import `deferred.rs`.

use std::pin::pin;

use futures::future::{self, Either, LocalBoxFuture};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::{IntoAny, document, provide_context};

use crate::boot::deferred::{Deferred, Functions, MorePages, Pages, Program};
use crate::boot::{offline, prefetch};
use crate::browser::press;
use crate::state::contexts::{contexts, pages};
use crate::state::{
    aspect_ratios, model_order, outage, secrets, tab_title, tables, unavailable_models,
    unload_guard, uploads,
};
use crate::view::batch::batch;
use crate::view::form::output_input;
use crate::view::integrations::integrations;
use crate::view::model::draft;
use crate::view::models::{card_extras, card_keys, first_picture, list_note};
use crate::view::parts::deferred::deferred;
use crate::view::shell;
use crate::view::shell::{
    commands, deferred_dialogs, dialogs, dropped_file, more_dialogs, notice_list,
    scroll_restoration, shortcuts, status,
};

/// The maximum time that a reload waits for replies to requests, in milliseconds: longer than a reply can take.
const MAX_LEAVE_MS: u32 = 100_000;

#[cfg(feature = "split")]
pub use split::load;
#[cfg(feature = "split")]
use split::{load_more_pages, load_pages};

#[cfg(not(feature = "split"))]
pub fn load() -> Program {
    program()
}

#[cfg(not(feature = "split"))]
fn load_pages() -> Pages {
    all_pages()
}

#[cfg(not(feature = "split"))]
fn load_more_pages() -> MorePages {
    all_more_pages()
}

fn program() -> Program {
    Program {
        begin,
        card: card_extras::card,
        first_picture: first_picture::make,
        list_note: list_note::list_note,
        page: |route| deferred(pages(), move |pages| (pages.page)(route.clone())),
        status: || {
            let above = (commands::palette_button(), status::status());
            (
                above,
                notice_list::notice_list(),
                deferred_dialogs::dialogs(),
            )
                .into_any()
        },
        task_count: status::task_count,
    }
}

fn all_pages() -> Pages {
    Pages {
        dialogs: dialogs::dialogs,
        page: shell::pages::page,
        begin: begin_pages,
    }
}

fn all_more_pages() -> MorePages {
    MorePages {
        dialogs: more_dialogs::dialogs,
        page: shell::pages::more_page,
        batch,
        integrations,
    }
}

impl Functions for Pages {
    const STYLE: &str = "pages-style";

    fn begin(self) {
        (self.begin)();
    }

    /// There is no form before this part is loaded.
    fn would_lose_input() -> bool {
        false
    }

    fn may_leave() -> LocalBoxFuture<'static, bool> {
        wait_until_sent()
    }
}

impl Functions for MorePages {
    const STYLE: &str = "more-style";

    fn begin(self) {}

    /// The form with the input may have been left already, such as for the batch mode.
    fn would_lose_input() -> bool {
        is_form_open() || secrets::is_any_typed() || draft::is_any_unstored()
    }

    fn may_leave() -> LocalBoxFuture<'static, bool> {
        wait_until_sent()
    }
}

fn is_form_open() -> bool {
    let form = document().query_selector("main form");
    form.is_ok_and(|form| form.is_some())
}

/// Waits for the replies to all requests that must complete, and returns whether they arrived in time.
fn wait_until_sent() -> LocalBoxFuture<'static, bool> {
    let runner = contexts().runner;
    Box::pin(async move {
        let sent = pin!(runner.wait_until_sent());
        let sent = future::select(sent, TimeoutFuture::new(MAX_LEAVE_MS)).await;
        matches!(sent, Either::Left(_))
    })
}

/// A function of the third part. [`Functions::begin`] belongs to the second.
fn begin_pages() {
    let contexts = contexts();
    let more_pages = Deferred::default();
    more_pages.set_loader(load_more_pages);
    provide_context(more_pages);
    prefetch::follow_more(more_pages);
    output_input::listen_for_drags();
    aspect_ratios::follow(contexts);
    contexts.runner.follow_events(contexts.catalog);
    uploads::restore(contexts, output_input::forget);
}

fn begin() {
    let contexts = contexts();
    contexts.runner.begin();
    let pages = Deferred::default();
    pages.set_loader(load_pages);
    provide_context(pages);
    prefetch::follow(pages);
    tables::note_interrupted(contexts.runner);
    model_order::follow(contexts);
    outage::follow(contexts);
    unload_guard::follow(contexts);
    unavailable_models::follow(contexts.catalog);
    press::listen();
    card_keys::listen();
    scroll_restoration::listen();
    shortcuts::listen(contexts.navigation);
    dropped_file::listen(contexts.navigation);
    tab_title::follow(contexts);
    offline::begin();
}

#[cfg(feature = "split")]
mod split {
    use futures::future::LocalBoxFuture;
    use leptos::wasm_split::{SplitLoaderError, wasm_split};

    use crate::boot::deferred::{MorePages, Pages, Program};

    pub fn load() -> LocalBoxFuture<'static, Option<Program>> {
        Box::pin(async { deferred().await.ok() })
    }

    pub fn load_pages() -> LocalBoxFuture<'static, Option<Pages>> {
        Box::pin(async { pages().await.ok() })
    }

    pub fn load_more_pages() -> LocalBoxFuture<'static, Option<MorePages>> {
        Box::pin(async { more().await.ok() })
    }

    /// The split point between the first and the second file. `wasm-split-cli` moves all code that is reachable only through
    /// this function.
    #[wasm_split(deferred, wasm_split_path = leptos::wasm_split, fallible)]
    fn deferred() -> Result<Program, SplitLoaderError> {
        Ok(super::program())
    }

    /// The split point between the second and the third file. Code that both need is in the second: `.dev/wasm_parts.mjs`.
    #[wasm_split(pages, wasm_split_path = leptos::wasm_split, fallible)]
    fn pages() -> Result<Pages, SplitLoaderError> {
        Ok(super::all_pages())
    }

    /// The split point between the third and the fourth file.
    #[wasm_split(more, wasm_split_path = leptos::wasm_split, fallible)]
    fn more() -> Result<MorePages, SplitLoaderError> {
        Ok(super::all_more_pages())
    }
}
