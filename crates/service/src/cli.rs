//! Parses the command line.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::config::{Command, Config};

/// A local generation service with procedural models (no AI), and with those of --models.
#[derive(Debug, Clone, Parser)]
#[command(name = "atelier-service", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub config: Config,
}

impl Cli {
    /// Parses a command line, which begins with the program's name.
    ///
    /// # Errors
    ///
    /// The command line is invalid or asks for help, or options precede a command: they would have no effect.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut program = Self::command();
        let matches = program.try_get_matches_from_mut(line)?;
        if let Some(command) = matches.subcommand_name() {
            let is_stray = |option: &&clap::Arg| {
                let source = matches.value_source(option.get_id().as_str());
                !option.is_global_set() && source == Some(ValueSource::CommandLine)
            };
            let stray = program.get_arguments().find(is_stray);
            if let Some(option) = stray.and_then(clap::Arg::get_long) {
                let message = format!(
                    "--{option} has no effect before `{command}`: options of a command come after it"
                );
                return Err(program.error(ErrorKind::ArgumentConflict, message));
            }
        }
        Self::from_arg_matches(&matches)
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;

    fn read(line: &str) -> Result<Cli, String> {
        let words = ["atelier-service"].into_iter().chain(line.split(' '));
        Cli::read(words.map(Into::into)).map_err(|error| error.to_string())
    }

    /// Guards against a `doctor` that ignores the options before it, and checks the default options instead.
    #[test]
    fn options_before_a_command_are_refused() {
        for line in [
            "--listen 127.0.0.1:0 doctor",
            "--site dist serve --database postgres://db",
            "--models m.toml --data d doctor",
        ] {
            let error = read(line).expect_err(line);
            assert!(error.contains("has no effect before"), "{error}");
        }
        for line in [
            "doctor --listen 127.0.0.1:0",
            "--data d doctor --models m.toml",
            "--data d account list",
            "account add ada --data d",
            "--listen 127.0.0.1:0 --site dist",
        ] {
            assert!(read(line).is_ok(), "{line}");
        }
    }
}
