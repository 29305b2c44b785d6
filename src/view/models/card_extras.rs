//! The picture and the heart of a model's card. They are added once the deferred part has loaded.

use atelier_contract::Model;
use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_engine::Task;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, memo};
use crate::state::contexts::{Contexts, contexts};
use crate::state::model_order;
use crate::view::parts::cached_output::stored_file;
use crate::view::parts::heart::heart;
use crate::view::parts::picture;

/// Returns the picture, the heart and, if the model is unavailable, a note.
///
/// The picture is the user's latest picture or video of the model. If there is none or it can't be loaded, the service's
/// poster is shown, and then its preview.
pub fn card(model: Model) -> AnyView {
    let Contexts {
        runner, session, ..
    } = contexts();
    let id = model.id.clone();
    let label = format!("Favorite: {}", model.display_name());
    let unavailable_reason = model.unavailable_reason.clone();
    let pictures = memo(move || {
        runner.track_phases();
        let latest = runner.with_tasks(|tasks| {
            let of_model = tasks.iter().filter(|task| task.model == model.id);
            let shown = of_model.filter_map(|task| Some((task.created, first_output(task)?)));
            shown.max_by_key(|(created, ..)| *created)
        });
        let is_picture = |url: &&String| OutputKind::of(url, "") == OutputKind::Image;
        let service_pictures = [&model.poster, &model.preview];
        let service_pictures = service_pictures.into_iter().filter(is_picture);
        let service_pictures =
            service_pictures.map(|url| (String::new(), url.clone(), OutputKind::Image));
        let latest = latest.map(|(_, picture)| picture);
        latest
            .into_iter()
            .chain(service_pictures)
            .collect::<Vec<_>>()
    });
    let failed = RwSignal::new(0);
    let picture = move || {
        let next = pictures.read().get(failed.get()).cloned();
        let Some((name, url, kind)) = next else {
            return ().into_any();
        };
        let found = stored_file(&name, &url, move || failed.update(|failed| *failed += 1));
        dynamic(move || {
            let address = session.settings_untracked().address;
            let Some(source) = SafeUrl::media(&found.read(), address.as_str()) else {
                return ().into_any();
            };
            let on_error = Box::new(move |_| failed.update(|failed| *failed += 1));
            match kind {
                OutputKind::Video => picture::still(source.as_str(), on_error),
                _ => picture::image(source.as_str(), "", true, Box::new(|_| ()), on_error),
            }
        })
    };
    let is_favorite = {
        let id = id.clone();
        move || model_order::is_favorite(&id)
    };
    let toggle = move || model_order::toggle(&id);
    let note = (!unavailable_reason.is_empty()).then(|| {
        view! {
            <p class="away" title=unavailable_reason>
                "Unavailable"
            </p>
        }
        .into_any()
    });
    view! {
        <div class="model-card-picture" aria-hidden="true">
            {dynamic(picture)}
        </div>
        {note}
        {heart(label, "Favorites come first", is_favorite, toggle)}
    }
    .into_any()
}

/// Returns the name, URL and kind of a task's first output if a card can show it: a picture or a video.
fn first_output(task: &Task) -> Option<(String, String, OutputKind)> {
    let outputs = task.outputs();
    let url = outputs.first().filter(|_| task.removed.is_none())?;
    let kind = task.output_kind(url);
    matches!(kind, OutputKind::Image | OutputKind::Video)
        .then(|| (task.key.output(0), url.clone(), kind))
}
