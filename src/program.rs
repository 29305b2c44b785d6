//! All code of the deferred part, by the functions that lead into it. Only `app.rs` imports this file: it
//! imports every view, and views import what the page begins with.

use leptos::prelude::IntoAny;

use crate::browser::press;
use crate::contexts::contexts;
use crate::deferred::Program;
use crate::view::{
    card_keys, commands, dialogs, first_picture, model_card, models_said, notice_list, pages,
    shortcuts, status,
};
use crate::{away, model_order, offline, outage, shapes, tab_title, tables};

#[cfg(feature = "split")]
pub use split::load;

#[cfg(not(feature = "split"))]
pub fn load() -> Program {
    program()
}

fn program() -> Program {
    Program {
        begin,
        card: model_card::card,
        first_picture: first_picture::make,
        models_said: models_said::models_said,
        page: pages::page,
        status: || {
            let above = (commands::go_to(), status::status());
            (above, notice_list::notice_list(), dialogs::dialogs()).into_any()
        },
        task_count: status::task_count,
    }
}

fn begin() {
    let contexts = contexts();
    contexts.runner.begin();
    tables::note_what_was_left(contexts.runner);
    model_order::follow(contexts);
    outage::follow(contexts);
    away::follow(contexts.catalog);
    shapes::follow(contexts);
    press::listen();
    card_keys::listen();
    shortcuts::listen(contexts.navigation);
    tab_title::follow(contexts);
    offline::begin();
}

#[cfg(feature = "split")]
mod split {
    use futures::future::LocalBoxFuture;
    use leptos::wasm_split::{SplitLoaderError, wasm_split};

    use crate::deferred::Program;

    pub fn load() -> LocalBoxFuture<'static, Option<Program>> {
        Box::pin(async { deferred().await.ok() })
    }

    /// The border between the two files. `wasm-split-cli` moves all code that only this leads to.
    #[wasm_split(deferred, wasm_split_path = leptos::wasm_split, fallible)]
    fn deferred() -> Result<Program, SplitLoaderError> {
        Ok(super::program())
    }
}
