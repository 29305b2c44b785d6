use atelier_contract::ModelId;
use atelier_engine::BatchKey;
use atelier_engine::NO_CREDENTIALS;
use atelier_engine::plural::{agreeing, counted};
use icondata_lu::LuSparkles;
use leptos::prelude::*;
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

use super::composer::Composer;
use crate::batches::Batches;
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::browser::frame::after_frame;
use crate::browser::random;
use crate::catalog::Load;
use crate::contexts::contexts;
use crate::tables::Sending;
use crate::view::parts::away::away_note;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::question::Question;
use crate::view::parts::status_note::StatusNote;

/// Problems that are listed; the others are in the table.
const MAX_PROBLEMS: usize = 5;

/// What will be sent, and the button that sends it.
pub fn send(composer: Composer, model: ModelId) -> AnyView {
    let all = contexts();
    let away = away_note(model.clone());
    let plan = memo(move || composer.table.read().plan(&composer.schema()));
    let good = move || plan.read().items;
    let bad = memo(move || composer.table.read().bad().count());
    let refused = RwSignal::new(None::<&'static str>);
    let answer = StatusNote::default();
    let question = Question::default();
    let send = move || {
        let name = untrack(|| all.catalog.model(&model)).map_or_else(
            || model.subcategory.clone(),
            |model| model.display_name().to_owned(),
        );
        let send_defaults = all.session.settings_untracked().send_defaults;
        let schema = composer.schema();
        let key = BatchKey(random::key());
        let sent = plan.get_untracked();
        let sending = Sending::begin(composer.keeping(), key.clone());
        let (inputs, grid) =
            composer.edit(|table| table.send_good(&key, &schema, send_defaults, &mut random::bits));
        sending.secure();
        let is_sent = Batches::new(all).submit(key, &name, inputs, grid);
        sending.end(all.runner);
        composer.looked_at.set(None);
        if is_sent {
            answer.say(format!("Sent: {}.", sent.user_message()));
            // The newest is shown.
            all.navigation.set_query("batch", None);
            bring_into_view();
        }
    };
    let ask = {
        let send = send.clone();
        move |_| {
            refused.set(None);
            if untrack(|| all.session.credentials()).is_none() {
                let is_asking = untrack(|| matches!(all.catalog.models(), Load::Loading));
                refused.set(Some(if is_asking {
                    "It is not known yet whether this service needs an account; press the button \
                     again in a moment."
                } else {
                    NO_CREDENTIALS
                }));
            } else if plan.get_untracked().asks_once_more() {
                question.ask();
            } else {
                send();
            }
        }
    };
    let label = text(move || match good() {
        0 => "Generate".to_owned(),
        n => format!("Generate {n}"),
    });
    let asked = text(move || {
        format!(
            "Send {}? Each of them may cost money.",
            plan.get().user_message()
        )
    });
    let send_all = Callback::new(move |()| send());
    view! {
        {dynamic(move || problems(composer, bad.get()))}
        {dynamic(move || refused.get().map(refusal).into_any())}
        <div class="form-foot">
            <button
                class="button primary"
                type="button"
                prop:disabled=when(move || good() == 0)
                on:click=handler(ask)
            >
                <Glyph icon=LuSparkles />
                {label}
            </button>
            <p class="muted" role="status">
                {text(move || match (good(), composer.table.read().is_empty()) {
                    (0, true) => "Nothing in the table yet.".to_owned(),
                    (0, false) if bad.get() == 0 => "Every row has been sent.".to_owned(),
                    (0, false) => String::new(),
                    _ => plan.get().user_message(),
                })}
            </p>
            <p class="muted" hidden=when(move || bad.get() == 0 || good() == 0)>
                {text(move || format!("{} {}.", counted(bad.get(), "row"), agreeing(bad.get(), "stays", "stay")))}
            </p>
            {away}
            {answer.view()}
        </div>
        {question.view("Generate many", asked, "Not yet", "Send them", "primary", send_all)}
    }
    .into_any()
}

/// Why nothing was sent.
fn refusal(sentence: &'static str) -> AnyView {
    view! {
        <div class="summary" role="alert">
            <p>
                <strong>"Not sent yet. "</strong>
                {sentence}
                " They are set in "
                <a href="/settings">"Settings"</a>
                "; the table stays."
            </p>
        </div>
    }
    .into_any()
}

/// How the batch stands comes into view, once the table has made way.
fn bring_into_view() {
    after_frame(|| {
        if let Ok(Some(run)) = document().query_selector(".batch .run") {
            let how = ScrollIntoViewOptions::new();
            how.set_block(ScrollLogicalPosition::Nearest);
            run.scroll_into_view_with_scroll_into_view_options(&how);
        }
    });
}

/// The rows that will not be sent, and why.
fn problems(composer: Composer, count: usize) -> AnyView {
    if count == 0 {
        return ().into_any();
    }
    let lines = text(move || {
        let table = composer.table.read();
        let lines: Vec<String> = table
            .bad()
            .take(MAX_PROBLEMS)
            .map(|(at, row)| {
                let messages = row.problems.iter().map(|problem| problem.message.as_str());
                format!(
                    "Row {}: {}",
                    at + 1,
                    messages.collect::<Vec<_>>().join("; ")
                )
            })
            .collect();
        lines.join("\n")
    });
    let rest = count.saturating_sub(MAX_PROBLEMS);
    view! {
        <div class="summary" role="status">
            <p>
                <strong>
                    {format!(
                        "{} can't be sent and {} in the table.",
                        counted(count, "row"),
                        agreeing(count, "stays", "stay"),
                    )}
                </strong>
            </p>
            <p class="lines">{lines}</p>
            {(rest > 0).then(|| view! { <p>{format!("and {rest} more.")}</p> }.into_any())}
        </div>
    }
    .into_any()
}
