//! Lays out the labelled grid of a sweep as one image. All lengths are in pixels.

use crate::batch::blocks::Blocks;
use crate::text::excerpt::excerpt;

/// The maximum length of an output's longer side.
const SIDE: f64 = 512.0;
/// The maximum width and height of an image in browsers.
const MOST: f64 = 8_192.0;
const GAP: f64 = 8.0;
/// The space above each block.
const SPACE: f64 = 2.0 * GAP;
/// The width of the column with the row names.
const HEAD: f64 = 240.0;
/// The height of a line of text.
pub const LINE: f64 = 24.0;
/// The approximate width of a letter.
const LETTER: f64 = 9.0;
const MAX_LINES: usize = 6;

/// The position of one output.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputPlace {
    /// Its index in the batch.
    pub item: usize,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A line of text; `y` is its vertical center.
#[derive(Debug, Clone, PartialEq)]
pub struct TextLine {
    pub text: String,
    /// Its left end, or its center if `is_centered`.
    pub x: f64,
    pub y: f64,
    pub is_heading: bool,
    pub is_centered: bool,
}

/// The layout of the image, in pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct GridPicture {
    pub width: f64,
    pub height: f64,
    pub outputs: Vec<OutputPlace>,
    pub texts: Vec<TextLine>,
}

impl GridPicture {
    /// Lays out the grid. `shape`: the aspect ratio of the outputs. `None` if the image would exceed the browsers' maximum.
    pub fn of(blocks: &Blocks, shape: f64) -> Option<Self> {
        let labels = &blocks.labels;
        let (rows, columns) = (labels.rows.values.len(), labels.columns.values.len().max(1));
        let count = blocks.headings.len().max(1);
        let names = lines(&labels.columns.values, SIDE.min(SIDE * shape));
        let head_lines = 1 + names + usize::from(!blocks.headings.is_empty());
        let above = head_lines as f64 * LINE + GAP;
        // Choose the size so that the image fits for any aspect ratio.
        let side = SIDE.min(SIDE / shape);
        let across = (MOST - HEAD - GAP) / columns as f64 - GAP;
        let down = (MOST / count as f64 - SPACE - above) / rows.max(1) as f64 - GAP;
        let height = side.min(across / shape).min(down);
        if height < LINE {
            return None;
        }
        let width = height * shape;
        let block_height = SPACE + above + rows as f64 * (height + GAP);
        let mut picture = Self {
            width: (HEAD + GAP + columns as f64 * (width + GAP))
                .min(MOST)
                .ceil(),
            height: (count as f64 * block_height).min(MOST).ceil(),
            outputs: Vec::new(),
            texts: Vec::new(),
        };
        let column_x = |column: usize| HEAD + GAP + column as f64 * (width + GAP);
        for block in 0..count {
            let top = SPACE + block as f64 * block_height;
            let mut y = top;
            if let Some(heading) = blocks.headings.get(block) {
                let text = format!("{}: {}", heading.parameter, heading.value);
                y = picture.write(&text, (GAP, y), picture.width, 1, true);
            }
            let axes = format!(
                "{} ↓  {} →",
                labels.rows.parameter, labels.columns.parameter
            );
            let y = picture.write(&axes, (GAP, y), picture.width, 1, false);
            for (column, name) in labels.columns.values.iter().enumerate() {
                let first = picture.texts.len();
                picture.write(name, (column_x(column), y), width, names, true);
                // The names are centered above narrow outputs.
                for line in &mut picture.texts[first..] {
                    (line.x, line.is_centered) = (line.x + width / 2.0, true);
                }
            }
            for (row, name) in labels.rows.values.iter().enumerate() {
                let y = top + above + row as f64 * (height + GAP);
                let lines = ((height / LINE) as usize).clamp(1, MAX_LINES);
                let first = picture.texts.len();
                let end = picture.write(name, (GAP, y), HEAD - GAP, lines, true);
                // Center the name vertically in the row.
                for line in &mut picture.texts[first..] {
                    line.y += (y + height - end).max(0.0) / 2.0;
                }
            }
        }
        for (item, cell) in labels.cells.iter().enumerate() {
            let (line, column) = (cell / columns, cell % columns);
            let (block, row) = (line / rows.max(1), line % rows.max(1));
            if block < count {
                picture.outputs.push(OutputPlace {
                    item,
                    x: column_x(column),
                    y: SPACE + block as f64 * block_height + above + row as f64 * (height + GAP),
                    width,
                    height,
                });
            }
        }
        Some(picture)
    }

    /// Adds a text at this position, in at most `most` lines. Returns the `y` below it.
    fn write(
        &mut self,
        text: &str,
        (x, y): (f64, f64),
        width: f64,
        most: usize,
        is_heading: bool,
    ) -> f64 {
        let lines = wrapped(text, (width / LETTER) as usize, most);
        let count = lines.len();
        for (at, text) in lines.into_iter().enumerate() {
            let y = y + (at as f64 + 0.5) * LINE;
            self.texts.push(TextLine {
                text,
                x,
                y,
                is_heading,
                is_centered: false,
            });
        }
        y + count as f64 * LINE
    }
}

/// Returns the number of lines of the longest text at this width in pixels.
fn lines(texts: &[String], width: f64) -> usize {
    let lines = |text: &String| wrapped(text, (width / LETTER) as usize, MAX_LINES).len();
    texts.iter().map(lines).max().unwrap_or_default().max(1)
}

/// Wraps a text at `letters` per line. Text that does not fit in the last of `most` lines is truncated.
fn wrapped(text: &str, letters: usize, most: usize) -> Vec<String> {
    let letters = letters.max(4);
    let mut lines: Vec<String> = vec![String::new()];
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let count = lines.len();
        let line = &mut lines[count - 1];
        let gap = usize::from(!line.is_empty());
        if line.chars().count() + gap + word.chars().count() <= letters {
            line.extend((gap > 0).then_some(' '));
            line.push_str(word);
        } else if line.is_empty() {
            *line = excerpt(word, letters);
        } else if count < most.max(1) {
            lines.push(excerpt(word, letters));
        } else {
            let rest = std::iter::once(word)
                .chain(words)
                .collect::<Vec<_>>()
                .join(" ");
            *line = excerpt(&format!("{line} {rest}"), letters);
            break;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::blocks::Heading;
    use crate::compose::sweep::{GridLabels, Labels};

    fn labels(values: &[&str]) -> Labels {
        Labels {
            parameter: "axis".into(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        }
    }

    fn blocks(rows: &[&str], columns: &[&str], headings: usize) -> Blocks {
        let count = rows.len() * columns.len() * headings.max(1);
        let heading = |at: usize| Heading {
            parameter: "mist".into(),
            value: at.to_string(),
            excerpt: at.to_string(),
        };
        Blocks {
            headings: (0..headings).map(heading).collect(),
            labels: GridLabels {
                rows: labels(rows),
                columns: labels(columns),
                cells: (0..count).collect(),
            },
        }
    }

    /// Outputs must overlap neither each other nor texts, and must be within the image.
    #[test]
    fn outputs_do_not_overlap() {
        let long = "a lighthouse on a cliff in heavy rain, seen from the sea at night";
        let many: Vec<&str> = vec!["x"; 60];
        for (blocks, shape) in [
            (blocks(&["dawn", long], &["1", "2", "3"], 0), 1.5),
            (blocks(&["dawn", "dusk"], &[long, "2"], 3), 0.56),
            (blocks(&many, &many, 0), 1.0),
            (blocks(&["one"], &["one"], 0), 8.0),
        ] {
            let picture = GridPicture::of(&blocks, shape).unwrap();
            assert!(
                picture.width <= MOST && picture.height <= MOST,
                "{picture:?}"
            );
            assert_eq!(picture.outputs.len(), blocks.labels.cells.len());
            for (at, output) in picture.outputs.iter().enumerate() {
                assert_eq!(output.item, at);
                assert!(output.x >= HEAD && output.x + output.width <= picture.width);
                assert!(output.y + output.height <= picture.height + 1.0);
                let touches = |other: &OutputPlace| {
                    output.x < other.x + other.width
                        && other.x < output.x + output.width
                        && output.y < other.y + other.height
                        && other.y < output.y + output.height
                };
                assert_eq!(
                    picture
                        .outputs
                        .iter()
                        .filter(|other| touches(other))
                        .count(),
                    1
                );
                let covers = |text: &TextLine| {
                    text.x >= output.x
                        && text.x < output.x + output.width
                        && text.y > output.y
                        && text.y < output.y + output.height
                };
                assert!(!picture.texts.iter().any(covers), "{output:?}");
            }
        }
    }

    /// An image that exceeds the browsers' maximum is refused, because browsers would draw it without its last rows.
    #[test]
    fn a_grid_that_is_too_large_is_rejected() {
        let many: Vec<&str> = vec!["x"; 1_000];
        assert_eq!(GridPicture::of(&blocks(&many, &["1", "2"], 0), 1.0), None);
    }

    #[test]
    fn texts_are_wrapped_and_cut_at_the_end() {
        assert_eq!(wrapped("a lake at dawn", 20, 3), ["a lake at dawn"]);
        assert_eq!(wrapped("a lake at dawn", 7, 3), ["a lake", "at dawn"]);
        let cut = wrapped("a lake at dawn in the mist", 8, 2);
        assert_eq!(cut.len(), 2);
        assert!(
            cut[1].ends_with('…') && cut[1].chars().count() <= 9,
            "{cut:?}"
        );
        assert_eq!(wrapped("", 8, 2), [""]);
    }
}
