//! One press, and there is a first picture.

use atelier_contract::{Draft, Entry, Model};
use atelier_engine::route::Route;
use atelier_engine::seed;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::boxed::spawn;
use crate::browser::random;
use crate::catalog::Load;
use crate::contexts::Contexts;

const PROMPT: &str = "An alpine lake at dawn, teal and rose";

/// How often it is looked whether the model's schema is there, and for how long in all.
const LOOK_MS: u32 = 50;
const LOOKS: u32 = 100;

/// Opens the model's page, and sends a prompt of ours there, if the model takes nothing else.
pub fn make(contexts: Contexts, model: Model) {
    let Contexts {
        catalog,
        navigation,
        runner,
        ..
    } = contexts;
    navigation.go(&Route::Model(model.id.clone()).path());
    spawn(async move {
        for _ in 0..LOOKS {
            match untrack(|| catalog.schema(&model.id)) {
                Load::Loading => TimeoutFuture::new(LOOK_MS).await,
                Load::Failed(_) => return,
                Load::Loaded(schema) => {
                    let mut draft = Draft::default();
                    draft.set("prompt", Entry::Text(PROMPT.into()));
                    let draft = seed::settled(&draft, &schema, random::bits());
                    // What else it asks for is the person's to fill in.
                    if let Ok(input) = schema.validate(&draft, false) {
                        runner.submit_all(vec![input], model.display_name());
                    }
                    return;
                }
            }
        }
    });
}
