//! A parameter of the rows that came from lines, as the lines of one text. What was sent has no line: who writes
//! there would change it, and send and pay for it once more. Neither has a row that came from elsewhere: a prompt that
//! is written over it would be sent with the other settings of that row.

use std::collections::{HashMap, HashSet, VecDeque};

use atelier_contract::{Draft, Entry, Schema};

use super::{Row, SentBefore, Source, Table, problems};
use crate::compose::prompts::{line, prompts};

/// How many lines further down a changed line is looked for.
const NEAR: usize = 3;

/// The lines as they were when a person began to write there, each with its row: a line that is there again is that
/// row's, whatever stood there between two keys.
#[derive(Debug, Clone, Default)]
pub struct LinesBefore(Vec<(String, Row)>);

/// A row that a new line may go on with.
#[derive(Debug, Clone)]
enum Origin {
    /// The row that stands there.
    Row(usize),
    /// A row that was there before.
    Before(Box<Row>),
    New,
}

impl Table {
    /// Gives the lines as they are now, to be kept while a person writes in [`Table::lines`].
    pub fn lines_before(&self, parameter: &str) -> LinesBefore {
        let lined = self.lined(parameter);
        LinesBefore(
            lined
                .map(|(at, line)| (line, self.rows[at].clone()))
                .collect(),
        )
    }

    /// A parameter of the rows that came from lines and are to be sent, as lines of a text; rows that have nothing there
    /// have no line.
    pub fn lines(&self, parameter: &str) -> Vec<String> {
        self.lined(parameter).map(|(_, line)| line).collect()
    }

    fn lined(&self, parameter: &str) -> impl Iterator<Item = (usize, String)> {
        let rows = self.rows.iter().enumerate();
        let lined = rows.filter(|(_, row)| row.is_waiting() && row.source == Source::Line);
        lined.filter_map(move |(at, row)| {
            let line = line(&row.draft.get(parameter)?.to_text());
            (!line.is_empty()).then_some((at, line))
        })
    }

    /// Makes [`Table::lines`] those of `text`. A row goes where its line goes, and is left alone, as is what was sent; one
    /// whose line changes keeps its other parameters; a line of `before` brings back its row; a new one has the parameters
    /// of `base`, also where it takes the place of another (see [`is_changed_line`]). Refused, with a sentence, if they
    /// are too many.
    ///
    /// # Errors
    ///
    /// The sentence; the table stays as it was.
    pub fn set_lines(
        &mut self,
        parameter: &str,
        text: &str,
        base: &Draft,
        schema: &Schema,
        before: &LinesBefore,
    ) -> Result<(), String> {
        let new: Vec<&str> = prompts(text).collect();
        let lines = self.lined(parameter).count();
        self.make_room(new.len().saturating_sub(lines))?;
        let old: Vec<(usize, String)> = self.lined(parameter).collect();
        let same = |(old, new): &(&(usize, String), &&str)| old.1 == **new;
        let above = old.iter().zip(&new).take_while(same).count();
        let rest = (old.iter().skip(above).rev()).zip(new.iter().skip(above).rev());
        let below = rest.take_while(same).count();
        let old_part = &old[above..old.len() - below];
        let new_part = &new[above..new.len() - below];
        if old_part.is_empty() && new_part.is_empty() {
            return Ok(());
        }
        // Lines are no sweep.
        self.grid = None;
        let origins = self.origins(old_part, new_part, before);
        let before = self.sent_before_with(parameter, new_part);
        let mut rows = Vec::new();
        for (line, of) in new_part.iter().zip(origins) {
            let entry = Entry::Text((*line).to_owned());
            let mut row = match of {
                Origin::Row(at) => self.rows[at].clone(),
                Origin::Before(row) => *row,
                Origin::New => self.new_row(base.clone(), schema, &before),
            };
            row.source = Source::Line;
            row.draft.set(parameter, entry);
            row.problems = problems(&row.draft, schema);
            if row.earlier().is_none() {
                row.earlier = before.find(&row.draft).or(row.earlier);
            }
            rows.push(row);
        }
        let shared = old_part.len().min(new_part.len());
        let more = rows.split_off(shared);
        for ((at, _), row) in old_part.iter().zip(rows) {
            self.rows[*at] = row;
        }
        for (at, _) in old_part[shared..].iter().rev() {
            self.rows.remove(*at);
        }
        let last = old[..above + shared].last().map(|(at, _)| at + 1);
        let place = last
            .or(old.first().map(|(at, _)| *at))
            .unwrap_or(self.rows.len());
        self.rows.splice(place..place, more);
        Ok(())
    }

    /// Changes a parameter of the lines that have `from` there, as a text.
    pub fn exchange(
        &mut self,
        name: &str,
        from: Option<&Entry>,
        to: Option<&Entry>,
        schema: &Schema,
    ) {
        let text = |entry: Option<&Entry>| entry.map(Entry::to_text);
        let meant = self
            .line_rows()
            .filter(|row| text(row.draft.get(name)) == text(from));
        let meant: Vec<u64> = meant.map(|row| row.id).collect();
        for id in meant {
            self.put(id, name, to.cloned(), schema);
        }
    }

    /// Whether all lines have this there, as a text.
    pub fn all_have(&self, name: &str, text: &str) -> bool {
        self.line_rows().all(|row| {
            let entry = row.draft.get(name);
            entry.is_some_and(|entry| entry.to_text() == text)
        })
    }

    fn line_rows(&self) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter();
        rows.filter(|row| row.is_waiting() && row.source == Source::Line)
    }

    /// What was sent with one of these lines: they are few, and the table may be long.
    fn sent_before_with(&self, parameter: &str, lines: &[&str]) -> SentBefore {
        let lines: HashSet<&str> = lines.iter().copied().collect();
        let has_one = |row: &&Row| {
            let known = row.sent_as().and_then(|(_, draft)| draft.get(parameter));
            known.is_some_and(|entry| lines.contains(line(&entry.to_text()).as_str()))
        };
        SentBefore::of(self.rows.iter().filter(has_one))
    }

    /// Gives the row that each new line goes on with: the row whose line it is; or the one whose line it was before;
    /// or, in their order, one whose line is not there any more.
    fn origins(&self, old: &[(usize, String)], new: &[&str], before: &LinesBefore) -> Vec<Origin> {
        let mut by_line: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for (at, line) in old {
            by_line.entry(line.as_str()).or_default().push_back(*at);
        }
        let rows = new.iter().map(|line| by_line.get_mut(*line)?.pop_front());
        let mut origins: Vec<Option<Origin>> = rows.map(|at| at.map(Origin::Row)).collect();
        let taken = origins.iter().flatten().filter_map(Origin::place);
        let taken: HashSet<usize> = taken.collect();
        let mut left: Vec<usize> = old.iter().map(|(at, _)| *at).collect();
        left.retain(|at| !taken.contains(at));

        let mut by_line: HashMap<&str, VecDeque<&Row>> = HashMap::new();
        for (line, row) in &before.0 {
            by_line.entry(line.as_str()).or_default().push_back(row);
        }
        let there: HashSet<u64> = self.rows.iter().map(|row| row.id).collect();
        let nonces: HashSet<u64> = self.rows.iter().map(|row| row.nonce).collect();
        for (origin, line) in origins.iter_mut().zip(new) {
            let Some(rows) = by_line.get_mut(*line).filter(|_| origin.is_none()) else {
                continue;
            };
            *origin = loop {
                let Some(row) = rows.pop_front() else {
                    break None;
                };
                if let Some(found) = left.iter().position(|at| self.rows[*at].id == row.id) {
                    break Some(Origin::Row(left.remove(found)));
                }
                if !there.contains(&row.id) && !nonces.contains(&row.nonce) {
                    break Some(Origin::Before(Box::new(row.clone())));
                }
            };
        }
        let old_lines: HashMap<usize, &str> =
            old.iter().map(|(at, line)| (*at, line.as_str())).collect();
        // Nor does one go on that was written anew letter by letter.
        let lines_before = before.0.iter().map(|(line, row)| (row.id, line.as_str()));
        let lines_before: HashMap<u64, &str> = lines_before.collect();
        let mut left = VecDeque::from(left);
        let origins = origins.into_iter().zip(new);
        let new = |(origin, line): (Option<Origin>, &&str)| {
            origin.unwrap_or_else(|| {
                let goes_on = |at: &usize| {
                    let was = lines_before.get(&self.rows[*at].id);
                    is_changed_line(old_lines[at], line)
                        && was.is_none_or(|was| is_changed_line(was, line))
                };
                let found = left.iter().take(NEAR).position(goes_on);
                // Lines stay in their order.
                let row = found.and_then(|found| left.drain(..=found).next_back());
                row.map_or(Origin::New, Origin::Row)
            })
        };
        origins.map(new).collect()
    }
}

/// Whether one line became the other as a person wrote in it: at least two thirds of the shorter one is what both begin or end
/// with. A line that was written in the place of another is a new one.
pub(super) fn is_changed_line(old: &str, new: &str) -> bool {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let shorter = old.len().min(new.len());
    let shared = |pairs: &mut dyn Iterator<Item = (&char, &char)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let begin = shared(&mut old.iter().zip(&new));
    let end = shared(&mut old.iter().rev().zip(new.iter().rev()));
    3 * (begin + end).min(shorter) >= 2 * shorter
}

impl Origin {
    fn place(&self) -> Option<usize> {
        match self {
            Self::Row(at) => Some(*at),
            Self::Before(_) | Self::New => None,
        }
    }
}
