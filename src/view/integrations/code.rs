use atelier_studio::share::highlight::{self, Grammar, Kind, Span};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, Node};

use crate::reactive::boxed::{self, effect, handler, memo, when};
use crate::view::parts::into_view::into_view;

/// Longer code is folded at first.
const MAX_LINES: usize = 18;

/// The number of lines in a block. Its spans take only a small part of a frame.
const BLOCK_LINES: usize = 40;

/// Longer texts (in bytes) are not highlighted: creating an element for each word would take too long.
const MAX_HIGHLIGHTED: usize = 200_000;

/// A scrollable box of highlighted code with line numbers.
#[component]
pub fn Code(
    /// The accessible name.
    #[prop(into)]
    label: Signal<String>,
    #[prop(into)] code: Signal<String>,
    grammar: Box<dyn Fn() -> Grammar>,
) -> AnyView {
    let element = NodeRef::<html::Code>::new();
    let is_whole = RwSignal::new(false);
    let lines = memo(move || code.read().lines().count());
    effect(move || {
        if let Some(element) = element.get() {
            fill(&element, grammar(), &code.read());
        }
    });
    let numbers = move || (1..=lines.get()).map(|n| format!("{n}\n")).collect();
    let toggle = move |event: web_sys::MouseEvent| {
        is_whole.update(|is_whole| *is_whole = !*is_whole);
        // Folding long code from its end would otherwise scroll the button out of view.
        let button = event
            .current_target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        request_animation_frame(move || {
            if let Some(button) = button {
                into_view(&button);
            }
        });
    };
    let label_text = move || match is_whole.get() {
        true => "Show less".into(),
        false => format!("Show all {} lines", lines.get()),
    };
    view! {
        <div class="code" class:whole=when(move || is_whole.get())>
            <div class="code-box" role="region" tabindex="0" aria-label=label>
                <div class="code-sheet">
                    <pre class="code-lines" aria-hidden="true" translate="no"><span prop:textContent=boxed::text(numbers)></span></pre>
                    <pre translate="no"><code node_ref=element></code></pre>
                </div>
            </div>
            <button
                class="button quiet small"
                type="button"
                aria-expanded=boxed::text(move || is_whole.get().to_string())
                hidden=when(move || lines.get() <= MAX_LINES)
                on:click=handler(toggle)
            >
                <span prop:textContent=boxed::text(label_text)></span>
            </button>
        </div>
    }
    .into_any()
}

/// A block of code and its pieces. It is plain text until it is highlighted.
type Block = (HtmlElement, Vec<(Kind, String)>);

/// Sets the code as plain text, then highlights one block per frame, because highlighting hundreds of lines in one frame
/// would block the page.
fn fill(element: &HtmlElement, grammar: Grammar, code: &str) {
    element.set_text_content(None);
    let grammar = match code.len() > MAX_HIGHLIGHTED {
        true => Grammar::Plain,
        false => grammar,
    };
    let spans = highlight::spans(grammar, code);
    let mut waiting: Vec<Block> = Vec::new();
    for pieces in highlight::blocks(&spans, BLOCK_LINES) {
        let Some(block) = new_span("code-block", &pieces) else {
            return element.set_text_content(Some(code));
        };
        // Reserves the height of blocks that the browser does not lay out yet (`content-visibility`).
        let lines = block.text_content().map_or(0, |text| text.lines().count());
        let size = format!("auto {lines}lh");
        let _ = block
            .style()
            .set_property("contain-intrinsic-block-size", &size);
        let _ = element.append_child(&block);
        let pieces = pieces.iter().map(|span| (span.kind, span.text.to_owned()));
        waiting.push((block, pieces.collect()));
    }
    waiting.reverse();
    highlight_blocks(waiting);
}

/// Highlights the last of the blocks, and the others in the following frames.
fn highlight_blocks(mut waiting: Vec<Block>) {
    let Some((block, pieces)) = waiting.pop() else {
        return;
    };
    block.set_text_content(None);
    for (kind, text) in pieces {
        let piece: Option<Node> = match kind {
            Kind::Plain => Some(document().create_text_node(&text).into()),
            kind => new_span(kind.class(), &[Span { kind, text: &text }]).map(Into::into),
        };
        if let Some(piece) = piece {
            let _ = block.append_child(&piece);
        }
    }
    request_animation_frame(move || {
        // The block may have been replaced by other code.
        if block.is_connected() {
            highlight_blocks(waiting);
        }
    });
}

fn new_span(class: &str, text: &[Span]) -> Option<HtmlElement> {
    let span = document().create_element("span").ok()?;
    span.set_class_name(class);
    let text: String = text.iter().map(|span| span.text).collect();
    span.set_text_content(Some(&text));
    span.dyn_into().ok()
}
