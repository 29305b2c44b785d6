use leptos::prelude::*;

/// Returns an alert with the reason why nothing was submitted.
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
