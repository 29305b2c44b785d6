use leptos::prelude::*;

/// Says at once why nothing was sent.
pub fn not_sent(why: AnyView) -> AnyView {
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
