//! What a model reports about a running task: the completed fraction, and a message.

/// The start of a line with a fraction, in the output of a program.
const MARK: &str = "progress";

/// A report about a running task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The completed fraction of the task, 0 to 1, if it is known.
    pub fraction: Option<f64>,
    /// Empty if there is none.
    pub message: String,
}

impl Report {
    pub fn message(message: impl Into<String>) -> Self {
        Self {
            fraction: None,
            message: message.into(),
        }
    }

    pub fn fraction(fraction: f64) -> Self {
        Self {
            fraction: Some(fraction),
            message: String::new(),
        }
    }

    /// Parses a line such as `progress 0.4 sampling`; `None` if it does not begin with `progress` and a number from 0 to 1.
    pub fn parse(line: &str) -> Option<Self> {
        let rest = line.trim().strip_prefix(MARK)?;
        let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
        let (number, message) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let fraction: f64 = number.parse().ok()?;
        (0.0..=1.0).contains(&fraction).then(|| Self {
            fraction: Some(fraction),
            message: message.trim().to_owned(),
        })
    }

    /// Replaces the parts that `newer` has.
    pub fn update(&mut self, newer: Self) {
        self.fraction = newer.fraction.or(self.fraction);
        if !newer.message.is_empty() {
            self.message = newer.message;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(fraction: f64, message: &str) -> Report {
        Report {
            fraction: Some(fraction),
            message: message.into(),
        }
    }

    #[test]
    fn a_line_with_a_fraction_is_parsed() {
        let parse = Report::parse;
        assert_eq!(
            parse("progress 0.4 step 8 of 20"),
            Some(report(0.4, "step 8 of 20"))
        );
        assert_eq!(parse("  progress\t1 "), Some(report(1.0, "")));
        for other in [
            "progress",
            "progress 2",
            "progress -1",
            "progress NaN",
            "progress 40%",
            "progressing 0.4",
            "progress: 0.4",
            "in progress 0.4",
            "",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_report_replaces_only_the_parts_that_it_has() {
        let mut current = Report::message("loading");
        current.update(Report::fraction(0.1));
        assert_eq!(current, report(0.1, "loading"));
        current.update(Report::message("sampling"));
        assert_eq!(current, report(0.1, "sampling"));
    }
}
