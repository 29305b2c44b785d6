//! A parameter of the rows that are to be sent as the lines of one text. What was sent has no line: who writes
//! there would change it, and send and pay for it once more.

use atelier_contract::{Draft, Entry, Schema};

use super::{Row, Table, problems};
use crate::compose::prompts::{line, prompts};

impl Table {
    /// A parameter of the rows that are to be sent as lines of a text; rows that have nothing there have no line.
    pub fn lines(&self, parameter: &str) -> Vec<String> {
        self.lined(parameter).map(|(_, line)| line).collect()
    }

    fn lined(&self, parameter: &str) -> impl Iterator<Item = (usize, String)> {
        let rows = self.rows.iter().enumerate();
        let unsent = rows.filter(|(_, row)| row.sent.is_none());
        unsent.filter_map(move |(at, row)| {
            let line = line(&row.draft.get(parameter)?.to_text());
            (!line.is_empty()).then_some((at, line))
        })
    }

    /// Makes [`Table::lines`] those of `text`. Rows whose line stays are left alone, and so is what was sent; one
    /// whose line changes keeps its other parameters; a new one has those of `base`. Refused, with a
    /// sentence, if they are too many.
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
    ) -> Result<(), String> {
        let new: Vec<&str> = prompts(text).collect();
        let lines = self.lined(parameter).count();
        self.make_room(new.len().saturating_sub(lines))?;
        let old: Vec<(usize, String)> = self.lined(parameter).collect();
        let same = |(old, new): &(&(usize, String), &&str)| old.1 == **new;
        let before = old.iter().zip(&new).take_while(same).count();
        let rest = (old.iter().skip(before).rev()).zip(new.iter().skip(before).rev());
        let after = rest.take_while(same).count();
        let old_part = &old[before..old.len() - after];
        let new_part = &new[before..new.len() - after];
        if old_part.is_empty() && new_part.is_empty() {
            return Ok(());
        }
        self.unless_swept(parameter);
        for ((at, _), line) in old_part.iter().zip(new_part) {
            let row = &mut self.rows[*at];
            row.draft.set(parameter, Entry::Text((*line).to_owned()));
            row.problems = problems(&row.draft, schema);
        }
        let shared = old_part.len().min(new_part.len());
        if old_part.len() != new_part.len() {
            self.grid = None;
        }
        for (at, _) in old_part[shared..].iter().rev() {
            self.rows.remove(*at);
        }
        let last = old[..before + shared].last().map(|(at, _)| at + 1);
        let place = last
            .or(old.first().map(|(at, _)| *at))
            .unwrap_or(self.rows.len());
        let rows: Vec<Row> = new_part[shared..]
            .iter()
            .map(|line| {
                let mut draft = base.clone();
                draft.set(parameter, Entry::Text((*line).to_owned()));
                self.new_row(draft, schema)
            })
            .collect();
        self.rows.splice(place..place, rows);
        Ok(())
    }
}
