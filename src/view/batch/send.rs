use atelier_contract::ModelId;
use atelier_engine::plural::{agreeing, counted};
use atelier_engine::recovery::SUPERSEDED_REFUSAL;
use icondata_lu::LuSparkles;
use leptos::prelude::*;

use super::composer::Composer;
use super::place;
use crate::batches::Batches;
use crate::boxed::{after, dynamic, handler, memo, text, when};
use crate::browser::random;
use crate::contexts::contexts;
use crate::tables::Sending;
use crate::view::parts::away::away_note;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::no_account::no_account;
use crate::view::parts::question::Question;

/// Problems that are listed; the others are in the table.
const MAX_PROBLEMS: usize = 5;

/// What will be sent, and the button that sends it.
pub fn send(composer: Composer, model: ModelId, is_below: Memo<bool>) -> AnyView {
    let all = contexts();
    let away = away_note(model.clone());
    let plan = memo(move || composer.table.read().plan(&composer.schema()));
    let good = move || plan.read().items;
    let bad = memo(move || composer.table.read().bad().count());
    let rest = memo(move || composer.table.read().said_of_rest());
    let offered = move || composer.offered.get().map_or(0, |offer| offer.items);
    let is_refused = RwSignal::new(false);
    let question = Question::default();
    let send = move || {
        let name = untrack(|| all.catalog.model(&model)).map_or_else(
            || model.subcategory.clone(),
            |model| model.display_name().to_owned(),
        );
        let send_defaults = all.session.settings_untracked().send_defaults;
        let schema = composer.schema();
        let key = composer.keeping().batch_key(plan.get_untracked().items);
        let sent = plan.get_untracked();
        composer.just_sent.counts("Generate");
        let sending = Sending::begin(composer.keeping(), key.clone());
        let (items, grid) =
            composer.edit(|table| table.send_good(&key, &schema, send_defaults, &mut random::bits));
        sending.secure();
        composer.unseen.set(Some(key.clone()));
        composer.looked_at.set(None);
        // The newest is shown.
        all.navigation.set_query("batch", None);
        // A thousand rows are drawn as sent before they become tasks: neither holds the page up for both. Who leaves
        // in between finds them in the table.
        let submit = move || {
            let is_sent = Batches::new(all).submit(key, &name, items, grid);
            sending.end(all.runner);
            if is_sent {
                composer
                    .answer
                    .say(format!("Sent: {}.", sent.user_message()));
                place::make_way(composer);
            }
        };
        after(0, submit).forget();
    };
    let ask = {
        let send = send.clone();
        move |_| {
            is_refused.set(untrack(|| {
                all.runner.is_superseded() || all.session.credentials().is_none()
            }));
            if is_refused.get_untracked() {
                // It is said why.
                return;
            }
            if let Some(offer) = composer.offered.get_untracked() {
                offer.add.run(());
                if untrack(|| bad.get() > 0 || good() == 0) {
                    return; // It is said what is wrong with them.
                }
            }
            if plan.get_untracked().asks_once_more() {
                question.ask();
            } else {
                send();
            }
        }
    };
    let label = text(move || match good() + offered() {
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
        {dynamic(move || is_refused.get().then(refusal).into_any())}
        <div class="form-foot">
            <button
                class="button primary"
                type="button"
                prop:disabled=when(move || good() + offered() == 0)
                on:click=handler(ask)
            >
                <Glyph icon=LuSparkles />
                {label}
            </button>
            <p class="muted" role="status">
                {text(move || composer.table.read().said(&composer.schema(), offered(), composer.way.get()))}
            </p>
            <p class="muted" hidden=when(move || rest.read().is_empty())>
                {rest}
            </p>
            {away}
            <div hidden=is_below>{composer.answer.view()}</div>
        </div>
        {question.view("Generate many", asked, "Not yet", "Send them", "primary", send_all)}
    }
    .into_any()
}

/// Why nothing was sent.
fn refusal() -> AnyView {
    let why = match untrack(|| contexts().runner.is_superseded()) {
        true => view! { {SUPERSEDED_REFUSAL} " The table stays." }.into_any(),
        false => no_account("The table stays."),
    };
    view! {
        <div class="summary" role="alert">
            <p>
                <strong>"Not sent. "</strong>
                {why}
            </p>
        </div>
    }
    .into_any()
}

/// The rows that will not be sent as they were filled in, and why.
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
