//! The grid of outputs in which the input of a model is chosen: its columns, the option that a key leads to, and the names of
//! the options.

use atelier_engine::Task;

/// The least width of an option and the gap between options, in `rem`, and the height of the text below a picture.
const LEAST_WIDTH: f64 = 8.0;
const GAP: f64 = 0.5;
const CAPTION: f64 = 1.75;

/// The measures of the grid, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PickerGrid {
    pub columns: usize,
    /// The width of an option.
    pub width: f64,
    /// The height of an option.
    pub height: f64,
    pub gap: f64,
}

impl PickerGrid {
    /// Returns the grid for this width. `rem`: one `rem` in CSS pixels.
    pub fn new(width: f64, rem: f64) -> Self {
        let rem = rem.max(1.0);
        let gap = GAP * rem;
        let fitting = ((width + gap) / (LEAST_WIDTH * rem + gap)).floor();
        let columns = (fitting as usize).max(2);
        let option = ((width - gap * (columns - 1) as f64) / columns as f64).max(0.0);
        Self {
            columns,
            width: option,
            height: option + CAPTION * rem,
            gap,
        }
    }

    /// Returns the height of a row with the gap below it.
    pub fn row(&self) -> f64 {
        self.height + self.gap
    }

    /// Returns left and top of an option.
    pub fn place(&self, at: usize) -> (f64, f64) {
        let (row, column) = (at / self.columns, at % self.columns);
        (
            column as f64 * (self.width + self.gap),
            row as f64 * self.row(),
        )
    }

    /// Returns the option that a key leads to from an option. `count`: the number of options. `rows`: the number of rows on
    /// a screen. `None` for other keys.
    pub fn after_key(&self, key: &str, at: usize, count: usize, rows: usize) -> Option<usize> {
        let last = count.checked_sub(1)?;
        let page = self.columns * rows.max(1);
        let down = |by: usize| match at + by <= last {
            true => at + by,
            // The last row may be shorter.
            false if at / self.columns < last / self.columns => last,
            false => at,
        };
        let up = |by: usize| match at.checked_sub(by) {
            Some(to) => to,
            None => at % self.columns,
        };
        Some(match key {
            "ArrowRight" => (at + 1).min(last),
            "ArrowLeft" => at.saturating_sub(1),
            "ArrowDown" => down(self.columns),
            "ArrowUp" => up(self.columns),
            "PageDown" => down(page),
            "PageUp" => up(page),
            "Home" => 0,
            "End" => last,
            _ => return None,
        })
    }
}

/// Returns the accessible name of an option, which tells outputs of the same input apart. `label`: the kind of the output and
/// its prompt. `position`: of the output in its task, from 0. `time`: when the task was created.
pub fn option_name(task: &Task, label: &str, position: usize, time: &str) -> String {
    let mut parts = vec![label.to_owned(), task.model_name.clone()];
    let count = task.outputs().len();
    if count > 1 {
        parts.push(format!("{} of {count}", position + 1));
    }
    if let Some(place) = &task.batch {
        parts.push(format!("item {}", place.index + 1));
    }
    parts.push(time.to_owned());
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;
    use atelier_engine::{BatchKey, BatchPlace, TaskState};
    use serde_json::json;

    /// Guards against outputs that a screen reader can't tell apart, because they were made from the same prompt.
    #[test]
    fn options_of_the_same_prompt_have_different_names() {
        let mut task = task("a fox", 1);
        let name =
            |task: &_, position| option_name(task, "Image: a fox", position, "Today 09:05:07");
        assert_eq!(name(&task, 0), "Image: a fox, A, Today 09:05:07");
        let state = json!({"state": "ready", "id": "t", "outputs": ["/1.png", "/2.png"]});
        task.state = serde_json::from_value::<TaskState>(state).unwrap();
        assert_eq!(name(&task, 1), "Image: a fox, A, 2 of 2, Today 09:05:07");
        task.batch = Some(BatchPlace {
            batch: BatchKey("b".into()),
            index: 3,
        });
        assert_eq!(
            name(&task, 0),
            "Image: a fox, A, 1 of 2, item 4, Today 09:05:07"
        );
    }

    #[test]
    fn columns_fit_the_width() {
        for (width, columns) in [(0.0, 2), (250.0, 2), (288.0, 2), (420.0, 3), (1000.0, 7)] {
            let grid = PickerGrid::new(width, 16.0);
            assert_eq!(grid.columns, columns, "{width}");
            let (left, _) = grid.place(columns - 1);
            assert!(left + grid.width <= width.max(8.0) + 0.01, "{width}");
        }
        assert_eq!(PickerGrid::new(1000.0, 32.0).columns, 3);
        let grid = PickerGrid::new(420.0, 16.0);
        assert_eq!(grid.place(3), (0.0, grid.row()));
    }

    #[test]
    fn keys_move_within_the_options() {
        // Three columns: 0 1 2 / 3 4 5 / 6 7.
        let grid = PickerGrid::new(420.0, 16.0);
        for (key, at, to) in [
            ("ArrowRight", 7, 7),
            ("ArrowRight", 2, 3),
            ("ArrowLeft", 0, 0),
            ("ArrowDown", 1, 4),
            ("ArrowDown", 5, 7),
            ("ArrowDown", 7, 7),
            ("ArrowUp", 4, 1),
            ("ArrowUp", 1, 1),
            ("PageDown", 1, 7),
            ("PageUp", 7, 1),
            ("Home", 5, 0),
            ("End", 1, 7),
        ] {
            assert_eq!(grid.after_key(key, at, 8, 2), Some(to), "{key} at {at}");
        }
        assert_eq!(grid.after_key("a", 1, 8, 2), None);
        assert_eq!(grid.after_key("End", 0, 0, 2), None);
    }
}
