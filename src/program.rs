//! All code of the deferred parts, by the functions that lead into them. Only `app.rs` imports this file: it
//! imports every view, and views import what the page begins with.

use std::pin::pin;

use futures::future::{self, Either, LocalBoxFuture};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::{IntoAny, provide_context};

use crate::browser::press;
use crate::contexts::{contexts, pages};
use crate::deferred::{Deferred, Functions, Pages, Program};
use crate::view::parts::deferred::deferred;
use crate::view::{
    card_keys, commands, deferred_dialogs, dialogs, first_picture, left_place, model_card,
    models_said, notice_list, shortcuts, status,
};
use crate::{
    away, leaving, model_order, offline, outage, prefetch, shapes, tab_title, tables, view,
};

/// How long the page waits for answers to what it has sent before it loads itself anew, in milliseconds: longer than
/// an answer may take.
const MAX_LEAVE_MS: u32 = 100_000;

#[cfg(feature = "split")]
pub use split::load;
#[cfg(feature = "split")]
use split::load_pages;

#[cfg(not(feature = "split"))]
pub fn load() -> Program {
    program()
}

#[cfg(not(feature = "split"))]
fn load_pages() -> Pages {
    all_pages()
}

fn program() -> Program {
    Program {
        begin,
        card: model_card::card,
        first_picture: first_picture::make,
        models_said: models_said::models_said,
        page: |route| deferred(pages(), move |pages| (pages.page)(route.clone())),
        status: || {
            let above = (commands::go_to(), status::status());
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
        page: view::pages::page,
    }
}

impl Functions for Pages {
    const STYLE: &str = "pages-style";

    fn begin(self) {
        shapes::follow(contexts());
    }

    fn may_leave() -> LocalBoxFuture<'static, bool> {
        let runner = contexts().runner;
        Box::pin(async move {
            let all_sent = pin!(runner.all_sent());
            let all_sent = future::select(all_sent, TimeoutFuture::new(MAX_LEAVE_MS)).await;
            matches!(all_sent, Either::Left(_))
        })
    }
}

fn begin() {
    let contexts = contexts();
    contexts.runner.begin();
    let pages = Deferred::default();
    pages.offer(load_pages);
    provide_context(pages);
    prefetch::follow(pages);
    tables::note_what_was_left(contexts.runner);
    model_order::follow(contexts);
    outage::follow(contexts);
    leaving::follow(contexts);
    away::follow(contexts.catalog);
    press::listen();
    card_keys::listen();
    left_place::listen();
    shortcuts::listen(contexts.navigation);
    tab_title::follow(contexts);
    offline::begin();
}

#[cfg(feature = "split")]
mod split {
    use futures::future::LocalBoxFuture;
    use leptos::wasm_split::{SplitLoaderError, wasm_split};

    use crate::deferred::{Pages, Program};

    pub fn load() -> LocalBoxFuture<'static, Option<Program>> {
        Box::pin(async { deferred().await.ok() })
    }

    pub fn load_pages() -> LocalBoxFuture<'static, Option<Pages>> {
        Box::pin(async { pages().await.ok() })
    }

    /// The border between the first file and the second. `wasm-split-cli` moves all code that only this leads to.
    #[wasm_split(deferred, wasm_split_path = leptos::wasm_split, fallible)]
    fn deferred() -> Result<Program, SplitLoaderError> {
        Ok(super::program())
    }

    /// The border between the second file and the third. What both need is in the second: `.dev/finish.mjs`.
    #[wasm_split(pages, wasm_split_path = leptos::wasm_split, fallible)]
    fn pages() -> Result<Pages, SplitLoaderError> {
        Ok(super::all_pages())
    }
}
