//! The progress that a service reports for a running task: as a number, or in a status line. The format of the line depends
//! on the program that generates the output, so that a number in it may mean something else.

use atelier_engine::{Phase, Task};

/// Whether the progress of the task is up to date.
pub fn is_current(task: &Task) -> bool {
    task.state.phase() == Phase::Running && task.watching
}

/// Returns the completed fraction of a running task, from 0 to 1, if the service reports it as a number.
pub fn reported(task: &Task) -> Option<f64> {
    let fraction = task.fraction.filter(|_| is_current(task))?;
    Some(fraction.clamp(0.0, 1.0))
}

/// Returns the progress from 0 to 1, if the line contains it: the first percentage (`37%`, `12.5 %`), or else the first
/// step count (`6/20`, `step 6 of 20`).
pub fn fraction(line: &str) -> Option<f64> {
    percentage(line).or_else(|| step(line))
}

fn percentage(line: &str) -> Option<f64> {
    line.match_indices('%').find_map(|(at, _)| {
        let percent: f64 = last_number(line[..at].trim_end())?.parse().ok()?;
        (0.0..=100.0).contains(&percent).then(|| percent / 100.0)
    })
}

fn step(line: &str) -> Option<f64> {
    ["/", " of "].into_iter().find_map(|between| {
        line.match_indices(between).find_map(|(at, _)| {
            let done: f64 = last_number(line[..at].trim_end())?.parse().ok()?;
            let all = line[at + between.len()..].trim_start();
            let end = all.find(|c: char| !c.is_ascii_digit()).unwrap_or(all.len());
            let (all, rest) = all.split_at(end);
            // The numbers are part of a date or a path.
            if rest.starts_with('/') {
                return None;
            }
            let all: f64 = all.parse().ok()?;
            (all > 0.0 && (0.0..=all).contains(&done)).then(|| done / all)
        })
    })
}

/// Returns the decimal number at the end of a text.
fn last_number(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let start = text.trim_end_matches(is_part).len();
    let number = &text[start..];
    // `-5 %` is not progress.
    let is_whole = !text[..start].ends_with(['-', ',', '/']);
    (is_whole && !number.is_empty()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_the_progress_in_a_line() {
        for (line, expected) in [
            ("37%", Some(0.37)),
            ("12.5 % done", Some(0.125)),
            (" 30%|###       | 6/20 [00:03<00:07,  2.0it/s]", Some(0.3)),
            ("step 6 of 20", Some(0.3)),
            ("6/20", Some(0.3)),
            ("Sampling 20 / 20", Some(1.0)),
            ("loading the model", None),
            ("120%", None),
            ("-5 %", None),
            ("21/20", None),
            ("0/0", None),
            ("and/or", None),
            ("2026/11/23 06:44 loading", None),
            ("%", None),
            ("", None),
        ] {
            assert_eq!(fraction(line), expected, "{line}");
        }
    }

    /// Guards against a number in a status line that is shown as the progress, and against the progress of a task that is
    /// not polled.
    #[test]
    fn only_a_number_of_a_polled_task_is_reported() {
        let mut task: Task = serde_json::from_value(serde_json::json!({
            "key": "a", "account": {"address": "", "uid": "me"},
            "model": {"category": "image", "subcategory": "a"}, "model_name": "A",
            "input": {"model": {"category": "image", "subcategory": "a"}, "values": {}},
            "created": 1, "progress": "step 6 of 20",
            "state": {"state": "running", "id": "t", "word": "processing"}
        }))
        .unwrap();
        assert_eq!(reported(&task), None);
        for (fraction, expected) in [(0.5, 0.5), (1.5, 1.0), (-1.0, 0.0)] {
            task.fraction = Some(fraction);
            assert_eq!(reported(&task), Some(expected));
        }
        task.watching = false;
        assert_eq!(reported(&task), None);
    }

    proptest! {
        /// Lines with any characters and numbers must be handled.
        #[test]
        fn any_line_gives_a_valid_progress_or_none(line in "\\PC{0,40}", a in 0u32..300, b in 0u32..300) {
            for line in [line.clone(), format!("{line}{a}/{b}{line}"), format!("{line}{a}%")] {
                let part = fraction(&line);
                prop_assert!(part.is_none_or(|part| (0.0..=1.0).contains(&part)), "{line}: {part:?}");
            }
        }
    }
}
