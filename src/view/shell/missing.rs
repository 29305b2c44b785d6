use leptos::prelude::*;

/// The page shown for an unknown address.
#[component]
pub fn MissingPage() -> impl IntoView {
    view! {
        <div class="page">
            <h1>"Nothing here"</h1>
            <p class="muted">"There is no page at this address."</p>
            <p>
                <a class="button" href="/">"Models"</a>
            </p>
        </div>
    }
}
