use std::ops::Range;

use atelier_contract::ModelId;
use atelier_contract::output::OutputKind;
use atelier_engine::Millis;
use atelier_studio::gallery::{GalleryFilter, Scope};
use atelier_studio::navigation::search::Query;
use atelier_studio::navigation::search::days::NamedDays;

use crate::browser::clock;
use crate::state::navigation::Navigation;
use crate::view::parts::date_filter;
use crate::view::parts::favorites_chip::FAVORITES;

/// The filters of the gallery that are in the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlFilters {
    pub text: String,
    kind: Option<OutputKind>,
    model: Option<ModelId>,
    favorites: bool,
    created: Option<Range<Millis>>,
}

impl UrlFilters {
    /// Reads the filters; tracked.
    pub fn of(navigation: Navigation) -> Self {
        let word = navigation.query("kind");
        let model = navigation.query("model");
        let model = model.as_deref().and_then(|model| model.split_once('/'));
        Self {
            text: navigation.query("q").unwrap_or_default(),
            kind: OutputKind::ALL
                .into_iter()
                .find(|kind| Some(kind.word()) == word.as_deref()),
            model: model.map(|(category, subcategory)| ModelId::new(category, subcategory)),
            favorites: navigation.query(FAVORITES).is_some(),
            created: date_filter::created(navigation),
        }
    }

    /// Returns the number of active filters, not counting the text filter.
    pub fn set(&self) -> usize {
        usize::from(self.kind.is_some())
            + usize::from(self.model.is_some())
            + usize::from(self.favorites)
            + usize::from(self.created.is_some())
    }

    /// Returns the filter for the outputs. `typed`: the text of the search field. The URL contains it only after a delay.
    pub fn filter(&self, typed: &str) -> GalleryFilter {
        let today = clock::local(clock::now()).day;
        let named_days = NamedDays::read(typed, today).map(|NamedDays { days, rest }| {
            let (from, to) = (clock::start_of(*days.start()), days.end().next());
            (from..clock::start_of(to), Query::new(&rest))
        });
        GalleryFilter {
            created: self.created.clone(),
            named_days,
            scope: Scope::All,
            query: Query::new(typed),
            kind: self.kind,
            model: self.model.clone(),
            favorites: self.favorites,
        }
    }
}
