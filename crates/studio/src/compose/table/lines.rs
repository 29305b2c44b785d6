//! Shows one parameter of the rows that came from lines as the lines of a text. Sent rows have no line, because editing
//! it would send and charge the row again. Rows from other sources have no line either, because a prompt that replaces
//! theirs would be sent with their other settings.

use std::collections::{HashMap, HashSet, VecDeque};

use atelier_contract::{Draft, Entry, Schema};

use super::{Row, SentBefore, Source, Table, problems};
use crate::compose::prompts::{line, prompts};

/// The maximum number of old lines that are searched for the origin of a changed line.
const NEAR: usize = 3;

/// The lines at the time when the user started to type, each with its row. A line that disappears and reappears while
/// the user types gets its row back.
#[derive(Debug, Clone, Default)]
pub struct LinesSnapshot(Vec<(String, Row)>);

/// The origin of the row for a line.
#[derive(Debug, Clone)]
enum Origin {
    /// The row at this index.
    Row(usize),
    /// A row from when the user started to type.
    Before(Box<Row>),
    New,
}

impl Table {
    /// Returns a snapshot of the lines, for [`Table::set_lines`].
    pub fn lines_snapshot(&self, parameter: &str) -> LinesSnapshot {
        let lined = self.lined(parameter);
        LinesSnapshot(
            lined
                .map(|(at, line)| (line, self.rows[at].clone()))
                .collect(),
        )
    }

    /// Returns one parameter of the waiting rows that came from lines. Rows without a value have no line.
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

    /// Replaces [`Table::lines`] with those of `text`. A row moves with its line. If the line is edited, the row keeps
    /// its other parameters. A line of `before` restores its row. A new line gets the parameters of `base`, even if it
    /// replaces another line. Sent rows are unchanged.
    ///
    /// # Errors
    ///
    /// A message if there are too many rows; the table is unchanged.
    pub fn set_lines(
        &mut self,
        parameter: &str,
        text: &str,
        base: &Draft,
        schema: &Schema,
        before: &LinesSnapshot,
    ) -> Result<(), String> {
        let new: Vec<&str> = prompts(text).collect();
        let lines = self.lined(parameter).count();
        self.make_space(new.len().saturating_sub(lines))?;
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
        // The rows are no longer those of a sweep.
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
            row.problems = problems(&row.draft, schema, &self.files);
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

    /// Replaces the value `from` of a parameter with `to` in the rows that came from lines. Values are compared as texts.
    pub fn replace_in_lines(
        &mut self,
        name: &str,
        from: Option<&Entry>,
        to: Option<&Entry>,
        schema: &Schema,
    ) {
        let text = |entry: Option<&Entry>| entry.map(Entry::to_text);
        let ids = self
            .line_rows()
            .filter(|row| text(row.draft.get(name)) == text(from));
        let ids: Vec<u64> = ids.map(|row| row.id).collect();
        for id in ids {
            self.set_entry(id, name, to.cloned(), schema);
        }
    }

    /// Whether all rows that came from lines have this text for the parameter.
    pub fn all_lines_have(&self, name: &str, text: &str) -> bool {
        self.line_rows().all(|row| {
            let entry = row.draft.get(name);
            entry.is_some_and(|entry| entry.to_text() == text)
        })
    }

    fn line_rows(&self) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter();
        rows.filter(|row| row.is_waiting() && row.source == Source::Line)
    }

    /// Returns the sent items whose parameter equals one of these lines. Filtering is faster than including all rows of
    /// a long table.
    fn sent_before_with(&self, parameter: &str, lines: &[&str]) -> SentBefore {
        let lines: HashSet<&str> = lines.iter().copied().collect();
        let has_one = |row: &&Row| {
            let known = row.sent_as().and_then(|(_, draft)| draft.get(parameter));
            known.is_some_and(|entry| lines.contains(line(&entry.to_text()).as_str()))
        };
        SentBefore::of(self.rows.iter().filter(has_one))
    }

    /// Returns the origin of each new line: the row with the same line; else the row that had this line in `before`;
    /// else, in order, a row whose line has disappeared and is similar.
    fn origins(
        &self,
        old: &[(usize, String)],
        new: &[&str],
        before: &LinesSnapshot,
    ) -> Vec<Origin> {
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
        let existing_ids: HashSet<u64> = self.rows.iter().map(|row| row.id).collect();
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
                if !existing_ids.contains(&row.id) && !nonces.contains(&row.nonce) {
                    break Some(Origin::Before(Box::new(row.clone())));
                }
            };
        }
        let old_lines: HashMap<usize, &str> =
            old.iter().map(|(at, line)| (*at, line.as_str())).collect();
        // Compare with the line at the start of typing, too: after a replacement letter by letter, the row must not be
        // reused.
        let lines_before = before.0.iter().map(|(line, row)| (row.id, line.as_str()));
        let lines_before: HashMap<u64, &str> = lines_before.collect();
        let mut left = VecDeque::from(left);
        let origins = origins.into_iter().zip(new);
        let new = |(origin, line): (Option<Origin>, &&str)| {
            origin.unwrap_or_else(|| {
                let is_continued = |at: &usize| {
                    let was = lines_before.get(&self.rows[*at].id);
                    is_changed_line(old_lines[at], line)
                        && was.is_none_or(|was| is_changed_line(was, line))
                };
                let found = left.iter().take(NEAR).position(is_continued);
                // Lines keep their order.
                let row = found.and_then(|found| left.drain(..=found).next_back());
                row.map_or(Origin::New, Origin::Row)
            })
        };
        origins.map(new).collect()
    }
}

/// Whether the user edited one line into the other: the common prefix and suffix make up at least two thirds of the
/// shorter line. Otherwise, the new line replaces the old one.
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
