//! A slideshow of the outputs in the lightbox, until the user does anything else. `studio::gallery::slideshow` decides
//! when to show the next output.

use atelier_contract::output::OutputKind;
use atelier_studio::gallery::slideshow::{self, MAX_WAIT_MS, SHOWN_MS, SlideshowState, Step};
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use gloo_timers::callback::Timeout;
use icondata_lu::{LuPlay, LuSquare};
use leptos::html::Div;
use leptos::prelude::*;

use super::player;
use super::sequence::Sequence;
use super::shown::{self, shown_output};
use super::sweep::layers::ready_in;
use super::zooming::Zooming;
use crate::reactive::boxed::{after, dynamic, effect, handler, memo, text};
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;
use crate::view::shell::shortcuts;
use crate::view::task::output_view::OutputView;

/// The state of the slideshow.
#[derive(Clone, Copy)]
pub struct Slideshow {
    sequence: Sequence,
    zooming: Zooming,
    pub is_on: RwSignal<bool>,
    /// The name of the next output.
    next: Memo<Option<String>>,
    /// The name of the output that the slideshow started with or moved to last.
    moved_to: StoredValue<Option<String>>,
    /// The name of the last output that was shown long enough.
    due: RwSignal<Option<String>>,
    /// The name of the last output whose video or sound has ended.
    ended: RwSignal<Option<String>>,
    /// The name of the next output once it has loaded.
    ready: RwSignal<Option<String>>,
}

impl Slideshow {
    /// Creates a slideshow that is not running. `container`: the element that contains the shown output.
    pub fn new(sequence: Sequence, zooming: Zooming, container: NodeRef<Div>) -> Self {
        let slideshow = Self {
            sequence,
            zooming,
            is_on: RwSignal::new(false),
            next: memo(move || sequence.neighbor(1)),
            moved_to: StoredValue::new(None),
            due: RwSignal::new(None),
            ended: RwSignal::new(None),
            ready: RwSignal::new(None),
        };
        slideshow.follow_time();
        slideshow.follow_player(container);
        slideshow.follow_progress();
        slideshow
    }

    /// Starts the slideshow at the shown output. Does nothing if that is the last one.
    fn start(self) {
        if self.next.read_untracked().is_none() {
            return;
        }
        self.due.set(None);
        self.ended.set(None);
        self.zooming.reset();
        self.moved_to.set_value(self.sequence.shown.get_untracked());
        self.is_on.set(true);
        self.play();
    }

    /// Stops the slideshow and lets videos loop again.
    pub fn stop(self) {
        if self.is_on.get_untracked() {
            self.is_on.set(false);
            player::restore_loop();
        }
    }

    /// Starts the timers of each output, and stops the slideshow if the user has done anything else.
    fn follow_time(self) {
        let navigation = contexts().navigation;
        let is_covered = memo(move || {
            shown::is_covered(navigation) || navigation.query(shortcuts::OPEN).is_some()
        });
        let timers = StoredValue::new_local(Vec::<Timeout>::new());
        effect(move || {
            let (is_on, shown) = (self.is_on.get(), self.sequence.shown.get());
            let (is_covered, is_zoomed_in) = (is_covered.get(), self.zooming.is_zoomed_in());
            timers.update_value(Vec::clear);
            if !is_on {
                return;
            }
            let moved_to = self.moved_to.get_value();
            if !slideshow::continues(
                moved_to.as_deref(),
                shown.as_deref(),
                is_covered,
                is_zoomed_in,
            ) {
                return self.stop();
            }
            let stalled = shown.clone();
            timers.set_value(vec![
                after(SHOWN_MS, move || drop(self.due.try_set(shown))),
                after(MAX_WAIT_MS, move || {
                    if !player::has_metadata() {
                        self.ended.try_set(stalled);
                    }
                    self.ready.try_set(self.next.try_get_untracked().flatten());
                }),
            ]);
        });
    }

    /// Listens to the player. Videos loop outside a slideshow, but play only once in it.
    fn follow_player(self, container: NodeRef<Div>) {
        let listeners = StoredValue::new_local(Vec::new());
        effect(move || {
            let Some(container) = container.get() else {
                return;
            };
            // Media events do not bubble.
            let captured = EventListenerOptions {
                phase: EventListenerPhase::Capture,
                passive: true,
            };
            let listen = |name: &'static str, act: fn(Self)| {
                EventListener::new_with_options(&container, name, captured, move |event| {
                    if player::is_target_of(event) && self.is_on.get_untracked() {
                        act(self);
                    }
                })
            };
            listeners.set_value(vec![
                listen("loadedmetadata", Self::play),
                listen("ended", Self::end),
                listen("error", Self::end),
            ]);
        });
    }

    fn play(self) {
        let shown = self.sequence.shown.get_untracked();
        player::play_once(move || drop(self.ended.try_set(shown)));
    }

    fn end(self) {
        self.ended.set(self.sequence.shown.get_untracked());
    }

    /// Shows the next output once the current one was shown long enough and the next one has loaded.
    fn follow_progress(self) {
        let is_player = memo(move || {
            let shown = self.sequence.shown.get();
            let shown = shown.and_then(|name| shown_output(&name));
            shown.is_some_and(|it| matches!(it.kind, OutputKind::Video | OutputKind::Audio))
        });
        effect(move || {
            if !self.is_on.get() {
                return;
            }
            let (shown, next) = (self.sequence.shown.get(), self.next.get());
            let facts = SlideshowState {
                was_shown: self.due.get() == shown,
                is_playing: is_player.get() && self.ended.get() != shown,
                has_next: next.is_some(),
                is_next_ready: self.ready.get() == next,
            };
            match (facts.step(), next) {
                (Step::Next, Some(next)) => {
                    self.moved_to.set_value(Some(next.clone()));
                    self.sequence.show(&next);
                }
                (Step::Stay, _) => {}
                _ => self.stop(),
            }
        });
    }

    /// Returns a hidden element that loads the next output in advance if it is a picture. Videos and sounds load when they
    /// are shown.
    pub fn next_output(self) -> AnyView {
        dynamic(move || {
            let Some(name) = self.next.get().filter(|_| self.is_on.get()) else {
                return ().into_any();
            };
            let shown = shown_output(&name).filter(|it| it.kind == OutputKind::Image);
            let Some(shown) = shown else {
                self.ready.set(Some(name));
                return ().into_any();
            };
            let element = NodeRef::<Div>::new();
            let is_ready = ready_in(element);
            effect(move || {
                if is_ready.get() {
                    self.ready.set(Some(name.clone()));
                }
            });
            view! {
                <div hidden node_ref=element>
                    <OutputView shown label=String::new() />
                </div>
            }
            .into_any()
        })
    }

    /// Returns the button that starts and stops the slideshow.
    pub fn button(self) -> AnyView {
        let label = text(move || {
            match self.is_on.get() {
                true => "Stop slideshow",
                false => "Slideshow",
            }
            .to_owned()
        });
        let toggle = move |_| match self.is_on.get_untracked() {
            true => self.stop(),
            false => self.start(),
        };
        view! {
            <button
                class="icon-button"
                type="button"
                aria-label=label
                title=label
                aria-disabled=text(move || (!self.is_on.get() && self.next.read().is_none()).to_string())
                on:click=handler(toggle)
            >
                {dynamic(move || match self.is_on.get() {
                    true => view! { <Glyph icon=LuSquare /> }.into_any(),
                    false => view! { <Glyph icon=LuPlay /> }.into_any(),
                })}
            </button>
        }
        .into_any()
    }
}
